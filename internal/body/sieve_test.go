package body

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// sift passes a body through a sieve in pieces of that size.
func sift(tb testing.TB, given string, size int) (*Body, error) {
	tb.Helper()
	b := &Body{hold: NewReader(Config{MaxBytes: 1 << 30}).Pools()[0].Begin(tb.Context())}
	b.sieve = newSieve("image", &b.json, tb.TempDir())
	for piece := []byte(given); len(piece) > 0; {
		n := min(size, len(piece))
		if err := b.take(piece[:n]); err != nil {
			return b, err
		}
		piece = piece[n:]
	}
	return b, nil
}

// bytes reads the media that a sieve took out.
func (m *inlineMedia) bytes(tb testing.TB) []byte {
	tb.Helper()
	content, err := io.ReadAll(io.NewSectionReader(m.file, 0, m.size))
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func TestSieveTakesOutTheMediaAlone(t *testing.T) {
	t.Parallel()
	const picture = "a picture\x00\xff"
	data := base64.StdEncoding.EncodeToString([]byte(picture))
	raw := strings.TrimRight(data, "=")
	sum := sha256.Sum256([]byte(picture))
	hash := hex.EncodeToString(sum[:])
	for name, test := range cases.Sorted(map[string]struct {
		given, left string
		taken       bool
	}{
		"plain":             {`{"to":"1","image":"data:image/png;base64,` + data + `","caption":"c"}`, `{"to":"1","image":"data:image/png;base64,` + hash + `","caption":"c"}`, true},
		"without padding":   {`{"image":"data:;base64,` + raw + `"}`, `{"image":"data:;base64,` + hash + `"}`, true},
		"any case":          {`{"image":"DATA:;BASE64,` + raw + `"}`, `{"image":"DATA:;BASE64,` + hash + `"}`, true},
		"escaped":           {`{"im\u0061ge":"d\u0061ta:\/;base64\u002c` + strings.ReplaceAll(raw, "Y", `\u0059`) + `"}`, `{"im\u0061ge":"d\u0061ta:\/;base64\u002c` + hash + `"}`, true},
		"line breaks":       {`{"image":"data:;base64,` + data[:5] + `\r\n` + data[5:] + `\n"}`, `{"image":"data:;base64,` + hash + `"}`, true},
		"blanks":            {"{ \"image\"\n:\t\"data:;base64," + data + "\" }", "{ \"image\"\n:\t\"data:;base64," + hash + "\" }", true},
		"the last counts":   {`{"image":"data:;base64,AAAA","image":"data:;base64,` + data + `"}`, `{"image":"data:;base64,` + hashOf("\x00\x00\x00") + `","image":"data:;base64,` + hash + `"}`, true},
		"then a URL":        {`{"image":"data:;base64,AAAA","image":"http://a"}`, `{"image":"data:;base64,` + hashOf("\x00\x00\x00") + `","image":"http://a"}`, false},
		"another field":     {`{"caption":"data:;base64,` + data + `"}`, `{"caption":"data:;base64,` + data + `"}`, false},
		"deeper":            {`{"a":{"image":"data:;base64,AAAA"},"b":["image","data:;base64,AAAA"]}`, `{"a":{"image":"data:;base64,AAAA"},"b":["image","data:;base64,AAAA"]}`, false},
		"a list":            {`["image","data:;base64,AAAA"]`, `["image","data:;base64,AAAA"]`, false},
		"a name as a value": {`{"a":"image","b":"data:;base64,AAAA"}`, `{"a":"image","b":"data:;base64,AAAA"}`, false},
		"no base64":         {`{"image":"data:text/plain,a"}`, `{"image":"data:text/plain,a"}`, false},
		"a URL":             {`{"image":"https://a/b,c"}`, `{"image":"https://a/b,c"}`, false},
		"a long name":       {`{"` + strings.Repeat("image", 20) + `":"data:;base64,AAAA"}`, `{"` + strings.Repeat("image", 20) + `":"data:;base64,AAAA"}`, false},
	}) {
		for _, size := range []int{1, 7, 1 << 20} {
			b, err := sift(t, test.given, size)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if left := b.json.String(); left != test.left {
				t.Errorf("%s, in pieces of %d: left\n%s, want\n%s", name, size, left, test.left)
			}
			if (b.sieve.media != nil) != test.taken {
				t.Errorf("%s: taken out: %v", name, b.sieve.media != nil)
			} else if test.taken && (string(b.sieve.media.bytes(t)) != picture || b.sieve.media.problem() != "") {
				t.Errorf("%s: it holds %q (%s)", name, b.sieve.media.bytes(t), b.sieve.media.problem())
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// The rest of a body has a bound of its own, because it is held in memory.
func TestSieveBoundsWhatItLeaves(t *testing.T) {
	t.Parallel()
	const frame = len(`{"image":"data:;base64,","a":""}`)
	media := strings.Repeat("AAAA", 1<<19) // twice the bound
	for more, refused := range cases.Sorted(map[int]bool{0: false, 1<<20 - frame: false, 1<<20 - frame + 1: true}) {
		b, err := sift(t, `{"image":"data:;base64,`+media+`","a":"`+strings.Repeat("a", more)+`"}`, 4096)
		if (gateway.KindOf(err) == gateway.TooLarge) != refused {
			t.Errorf("%d bytes beside the media: %v", more+frame, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestSieveNamesTheByteThatIsWrong(t *testing.T) {
	t.Parallel()
	for given, want := range cases.Sorted(map[string]string{
		`{"image":"data:;base64,` + strings.Repeat("AAAA", 100) + `",}`: "is not valid JSON (byte 426)",
		`{"image":"data:;base64,AAAA`:                                   "is not valid JSON (byte 27)",
		"{\"image\":\"data:;base64,AA\nAA\"}":                           "is not valid JSON (byte 26)",
		`{"image":"data:;base64,AA\xAA"}`:                               "is not valid JSON (byte 27)",
		`{"image":"data:;base64,AA\u00gAA"}`:                            "is not valid JSON (byte 30)",
	}) {
		b, err := sift(t, given, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.problem(); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The media and the rest are what a parser finds in the whole body.
func FuzzSieve(f *testing.F) {
	for _, seed := range []string{
		`{"image":"data:;base64,AAAA"}`, `{"image":"data:a\/b;base64,A\u0041=="}`, `{"a":[{"image":"data:;base64,A"}],"image":null}`,
		`{"image":"data:;base64,AA","image":"data:;base64,"}`, `{"image":"data:;base64,A\"}`, `[{"image":"data:;base64,`, `{"image":"x,y\\"}`,
	} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, given string, size int) {
		b, err := sift(t, given, max(size, 1))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}()
		var whole, left map[string]json.RawMessage
		wholeErr := json.Unmarshal([]byte(given), &whole)
		leftErr := json.Unmarshal(b.json.Bytes(), &left)
		if (wholeErr != nil) != (leftErr != nil || b.sieve.wrong > 0) {
			t.Fatalf("%q is answered %v, what is left of it (%s) %v", given, wholeErr, b.json.String(), leftErr)
		}
		if wholeErr != nil {
			return
		}
		var image string
		_ = json.Unmarshal(whole["image"], &image)
		delete(whole, "image")
		delete(left, "image")
		if len(whole) != len(left) {
			t.Fatalf("%q: left is %s", given, b.json.String())
		}
		head, data, _ := strings.Cut(image, ",")
		if _, inline := parseDataHead(head); !inline || b.sieve.media == nil || b.sieve.media.problem() != "" {
			return
		}
		want, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.NewReplacer("\r", "", "\n", "").Replace(data), "="))
		if err != nil || !bytes.Equal(want, b.sieve.media.bytes(t)) {
			t.Fatalf("%q: took out %q, want %q (%v)", given, b.sieve.media.bytes(t), want, err)
		}
	})
}
