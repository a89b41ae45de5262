package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// progressive makes a grey progressive JPEG of so many scans, each of which says
// of the whole picture in few bytes that nothing is added.
func progressive(width, height, scans int) []byte {
	out := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	out = append(out, bytes.Repeat([]byte{1}, 64)...) // quantisation
	out = append(out, 0xff, 0xc2, 0, 11, 8, byte(height>>8), byte(height), byte(width>>8), byte(width), 1, 1, 0x11, 0)
	for class, symbol := range []byte{0, 0xe0} { // a table with one code, "0": no difference; 2^14 blocks of nothing
		out = append(out, 0xff, 0xc4, 0, 20, byte(class<<4), 1)
		out = append(out, make([]byte, 15)...)
		out = append(out, symbol)
	}
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0)
	out = append(out, make([]byte, (blocks+7)/8)...)
	for range scans - 1 {
		out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0)
		out = append(out, make([]byte, ((blocks+1<<14-1)>>14*15+7)/8)...)
	}
	return append(out, 0xff, 0xd9)
}

// patiently is a service that gives pictures the time that they take on a busy machine.
func patiently(t *testing.T) *Service {
	t.Helper()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	service.decoders.complete = time.Minute
	return service
}

// quickly fails the test unless an ordinary picture gets its thumbnail soon: within a
// second, or a few where the machine is busy.
func quickly(t *testing.T, service *Service) {
	t.Helper()
	begun := time.Now()
	file := opened(t, service, gateway.TypeImage, dataURI("", encodeJPEG(t, 1000, 800, 0, nil)), Hints{Field: "image"})
	if took := time.Since(begun); took > 5*time.Second || file.Thumbnail == nil {
		t.Errorf("an ordinary picture took %s, and has a thumbnail of %d bytes", took, len(file.Thumbnail))
	}
}

func TestPictureOfManyScansHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	service := patiently(t)
	hostile := dataURI("", progressive(6000, 4860, 900))
	done := make(chan error, 1)
	go func() {
		file, err := service.Open(t.Context(), gateway.TypeImage, hostile, Hints{Field: "image"})
		if err == nil {
			if file.Thumbnail != nil || file.Width != 6000 {
				err = errors.New("it has a thumbnail, or no size")
			}
			err = errors.Join(err, file.Close())
		}
		done <- err
	}()
	quickly(t, service)
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the hostile picture itself is still worked on")
	}
}

// What the count does not catch, time does: the decoder is stopped between two
// reads.
func TestDecodingEndsInTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "picture.jpg")
	if err := os.WriteFile(path, progressive(4000, 3000, 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	d := newDecoders()
	d.complete = 50 * time.Millisecond
	begun := time.Now()
	err = d.decode(t.Context(), file, picture{width: 4000, height: 3000, progressive: true, bytesAPixel: 1}, func(image.Image) error {
		t.Error("it was decoded")
		return nil
	})
	if took := time.Since(begun); err != nil || took > 2*time.Second {
		t.Errorf("it took %s, %v", took, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.decode(ctx, file, picture{width: 4000, height: 3000}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone is told %v", err)
	}
}

func TestLargePicturesDoNotHoldUpSmallOnes(t *testing.T) {
	t.Parallel()
	service := patiently(t)
	service.decoders.wait = 50 * time.Millisecond
	if err := service.decoders.large.Acquire(t.Context(), largeRoom); err != nil {
		t.Fatal(err)
	}
	quickly(t, service)
	file := opened(t, service, gateway.TypeImage, dataURI("", encodeGIF(t, 4000, 3500)), Hints{Field: "image"})
	if file.Thumbnail != nil || file.Width != 4000 {
		t.Errorf("a large one that waits in vain is %d wide with a thumbnail of %d bytes", file.Width, len(file.Thumbnail))
	}
	service.decoders.large.Release(largeRoom)
}

func TestCountScans(t *testing.T) {
	t.Parallel()
	few := progressive(64, 64, 7)
	for name, c := range map[string]struct {
		content     []byte
		scans       int
		progressive bool
	}{
		"baseline":                 {encodeJPEG(t, 40, 20, 0, nil), 1, false},
		"progressive":              {few, 7, true},
		"too many":                 {progressive(64, 64, 5000), maxScans + 1, true},
		"broken off":               {few[:len(few)-30], 5, true},
		"filled up":                {bytes.ReplaceAll(few, []byte{0xff, 0xda}, []byte{0xff, 0xff, 0xff, 0xda}), 7, true},
		"a thumbnail in a segment": {append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, 6, 0xff, 0xda, 0xff, 0xda}, few[2:]...), 7, true},
		"a segment without a size": {[]byte{0xff, 0xd8, 0xff, 0xda, 0, 0, 0xff, 0xda}, 2, false},
		"nothing":                  {nil, 0, false},
	} {
		scans, isProgressive, err := countScans(bytes.NewReader(c.content))
		if scans != c.scans || isProgressive != c.progressive || err != nil {
			t.Errorf("%s: %d scans, progressive %t, %v", name, scans, isProgressive, err)
		}
	}
}

func TestProgressivePicturesAreShown(t *testing.T) {
	t.Parallel()
	service := patiently(t)
	for _, c := range []struct {
		width, height, scans int
		shown                bool
	}{{1000, 500, 10, true}, {4000, 3000, 10, true}, {5000, 4100, 10, false}, {64, 64, maxScans, true}, {64, 64, maxScans + 1, false}} {
		file := opened(t, service, gateway.TypeImage, dataURI("", progressive(c.width, c.height, c.scans)), Hints{Field: "image"})
		if (file.Thumbnail != nil) != c.shown || file.Width != c.width {
			t.Errorf("%+v: %d wide, a thumbnail of %d bytes", c, file.Width, len(file.Thumbnail))
		}
	}
}

// A picture counts with the memory that it takes: a PNG of 16 bits a channel takes twice
// as much as one of 8, and its passes as much again.
func TestWeightOfPictures(t *testing.T) {
	t.Parallel()
	deep := image.NewNRGBA64(image.Rect(0, 0, 300, 200))
	var file bytes.Buffer
	if err := png.Encode(&file, deep); err != nil {
		t.Fatal(err)
	}
	interlaced := bytes.Clone(file.Bytes())
	interlaced[28] = 1 // of the header, whose checksum is made anew
	binary.BigEndian.PutUint32(interlaced[29:], crc32.ChecksumIEEE(interlaced[12:29]))
	for name, c := range map[string]struct {
		content []byte
		weight  int64
	}{
		"16 bits":             {file.Bytes(), 300 * 200 * 8},
		"16 bits, interlaced": {interlaced, 300 * 200 * 16},
		"JPEG":                {encodeJPEG(t, 300, 200, 0, nil), 300 * 200 * 3},
		"progressive":         {progressive(304, 200, 3), 304 * 200 * 5},
		"palette":             {encodeGIF(t, 300, 200), 300 * 200},
		"too large":           {progressive(6000, 4860, 3), 0},
	} {
		about, err := measurePicture(bytes.NewReader(c.content))
		if err != nil || about.weight() != c.weight {
			t.Errorf("%s: it weighs %d, %v; want %d", name, about.weight(), err, c.weight)
		}
	}
}

// FuzzCountScans: a count is bounded by its limit and by the bytes that could be
// markers, and nothing larger than the room for decoding is decoded.
func FuzzCountScans(f *testing.F) {
	f.Add(progressive(64, 64, 3))
	f.Add(encodeJPEG(f, 40, 20, 0, nil))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xda, 0, 0, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, content []byte) {
		scans, _, err := countScans(bytes.NewReader(content))
		if err != nil || scans < 0 || scans > maxScans+1 || scans > bytes.Count(content, []byte{0xda}) {
			t.Errorf("%d scans, %v", scans, err)
		}
		about, err := measurePicture(bytes.NewReader(content))
		if err == nil && about.weight() > largeRoom {
			t.Errorf("%+v is decoded", about)
		}
	})
}
