package noise

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

// source returns messages and then io.EOF.
func source(messages ...[]byte) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		if len(messages) == 0 {
			return nil, io.EOF
		}
		next := bytes.Clone(messages[0])
		messages = messages[1:]
		return next, nil
	}
}

func framed(t *testing.T, bodies ...string) []byte {
	t.Helper()
	var stream []byte
	for _, body := range bodies {
		whole, err := frame([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		stream = append(stream, whole...)
	}
	return stream
}

func TestFrameReader(t *testing.T) {
	t.Parallel()
	stream := append([]byte(intro), framed(t, "first", "", "third, longer than the others")...)
	for _, size := range []int{1, 2, 3, 4, 5, 7, 11, len(stream)} {
		var messages [][]byte
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			messages = append(messages, rest[:min(size, len(rest))])
		}
		r := &frameReader{next: source(messages...), limit: 100}
		if err := r.readIntro(t.Context()); err != nil {
			t.Fatalf("messages of %d bytes: intro: %v", size, err)
		}
		for _, want := range []string{"first", "", "third, longer than the others"} {
			got, err := r.read(t.Context())
			if err != nil || string(got) != want {
				t.Errorf("messages of %d bytes: frame %q, %v; want %q", size, got, err, want)
			}
		}
		if _, err := r.read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("messages of %d bytes: at the end: %v, want EOF", size, err)
		}
	}
}

func TestFrameReaderKeepsFramesApart(t *testing.T) {
	t.Parallel()
	r := &frameReader{next: source(framed(t, "aaaa", "bbbb")), limit: 100}
	first, err := r.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = append(first, "overwritten?"...)
	second, err := r.read(t.Context())
	if err != nil || string(second) != "bbbb" {
		t.Errorf("second frame is %q, %v", second, err)
	}
}

func TestFrameReaderRefuses(t *testing.T) {
	t.Parallel()
	r := &frameReader{next: source([]byte{0, 0, 101}), limit: 100}
	if _, err := r.read(t.Context()); !errors.Is(err, errTooLarge) {
		t.Errorf("a frame beyond the limit: %v, want errTooLarge", err)
	}
	r = &frameReader{next: source([]byte("GET / HTTP/1.1")), limit: 100}
	if err := r.readIntro(t.Context()); !errors.Is(err, errIntro) {
		t.Errorf("another protocol: %v, want errIntro", err)
	}
	if _, err := frame(make([]byte, maxFrame+1)); !errors.Is(err, errTooLarge) {
		t.Errorf("writing a frame too large: %v, want errTooLarge", err)
	}
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte(intro), []byte{0, 0, 2, 'h'}, []byte("i"))
	f.Add([]byte("W"), []byte("A\x06\x03\x00"), []byte{0, 0})
	f.Add([]byte("WA\x06\x03\xff\xff\xff"), []byte{}, []byte{1})
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		r := &frameReader{next: source(first, second, third), limit: 1000}
		total := len(first) + len(second) + len(third)
		if r.readIntro(t.Context()) != nil {
			return
		}
		consumed := len(intro)
		for {
			body, err := r.read(t.Context())
			if err != nil {
				break
			}
			if len(body) > r.limit {
				t.Fatalf("a frame of %d bytes beyond the limit", len(body))
			}
			consumed += headerSize + len(body)
		}
		if consumed > total {
			t.Fatalf("%d bytes read of %d", consumed, total)
		}
	})
}
