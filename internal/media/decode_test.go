package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// unbound lets the processes of decoders run as they like.
func unbound(context.Context, int, bounds) {}

// fileOf is an open file with that content.
func fileOf(t *testing.T, content []byte) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "picture"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if _, err := file.Write(content); err != nil {
		t.Fatal(err)
	}
	return file
}

// quickly fails the test unless an ordinary picture gets its thumbnail soon: within a
// second, or many where the machine is busy. Behind a hostile one it would wait for a minute.
func quickly(t *testing.T, service *Service) {
	t.Helper()
	begun := time.Now()
	file := opened(t, service, gateway.TypeImage, dataURI("", mediatest.JPEG(t, 1000, 800, 0, nil)), Hints{Field: "image"})
	if took := time.Since(begun); took > 40*time.Second || file.Thumbnail == nil {
		t.Errorf("an ordinary picture took %s, and has a thumbnail of %d bytes", took, len(file.Thumbnail))
	}
}

func TestPictureOfManyScansHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	hostile := dataURI("", mediatest.ProgressiveJPEG(6000, 4860, 900))
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
// reads, and the process of a large picture is ended.
func TestDecodingEndsInTime(t *testing.T) {
	t.Parallel()
	d := newDecoders(newPools(0), unbound)
	d.complete, d.apart = 50*time.Millisecond, 50*time.Millisecond
	large := probe.Picture{Width: 4000, Height: 3000, Progressive: true, BytesPerPixel: 1}
	file := fileOf(t, mediatest.ProgressiveJPEG(large.Width, large.Height, 2000))
	for name, about := range cases.Sorted(map[string]probe.Picture{
		"here": {Width: 1000, Height: 1000, BytesPerPixel: 1}, "apart": large,
	}) {
		begun := time.Now()
		out, err := d.decode(t.Context(), file, about, asThumbnail)
		if took := time.Since(begun); err != nil || out != nil || took > 20*time.Second {
			t.Errorf("%s it took %s, and became %d bytes, %v", name, took, len(out), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.decode(ctx, file, large, asThumbnail); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller whose context has ended gets %v", err)
	}
}

func TestLargePicturesDoNotHoldUpSmallOnes(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	service.decoders.wait = 50 * time.Millisecond
	all, err := service.pools.Memory.Take(t.Context(), service.pools.Memory.Largest())
	if err != nil {
		t.Fatal(err)
	}
	quickly(t, service)
	file := opened(t, service, gateway.TypeImage, dataURI("", mediatest.PNG(t, 4000, 3500)), Hints{Field: "image"})
	if file.Thumbnail != nil || file.Width != 4000 {
		t.Errorf("a large one that waits in vain is %d wide with a thumbnail of %d bytes", file.Width, len(file.Thumbnail))
	}
	all.Release()
}

func TestProgressivePicturesAreShown(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	for _, c := range []struct {
		width, height, scans int
		shown                bool
	}{{1000, 500, 10, true}, {4000, 3000, 10, true}, {5000, 4100, 10, true}, {64, 64, probe.MaxScans, true}, {64, 64, probe.MaxScans + 1, false}} {
		file := opened(t, service, gateway.TypeImage, dataURI("", mediatest.ProgressiveJPEG(c.width, c.height, c.scans)), Hints{Field: "image"})
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
	for name, c := range cases.Sorted(map[string]struct {
		content []byte
		weight  int64
	}{
		"16 bits":             {file.Bytes(), 300 * 200 * 8},
		"16 bits, interlaced": {interlaced, 300 * 200 * 16},
		"JPEG":                {mediatest.JPEG(t, 300, 200, 0, nil), 300 * 200 * 3},
		"progressive":         {mediatest.ProgressiveJPEG(304, 200, 3), 304 * 200 * 5},
		"palette":             {mediatest.GIF(t, 300, 200), 300 * 200},
		"too large":           {mediatest.ProgressiveJPEG(6000, 4860, 3), 0},
	}) {
		about, err := probe.ReadPicture(bytes.NewReader(c.content))
		if err != nil || weightOf(about) != c.weight {
			t.Errorf("%s: it weighs %d, %v; want %d", name, weightOf(about), err, c.weight)
		}
	}
}

// A large JPEG is not decoded as a whole for its thumbnail, which looks as if it was.
func TestThumbnailsComeFromAnEighth(t *testing.T) {
	t.Parallel()
	content := mediatest.JPEG(t, 1640, 820, 6, binary.LittleEndian)
	file := fileOf(t, content)
	about, err := probe.ReadPicture(file)
	if err != nil {
		t.Fatal(err)
	}
	d := unhurried(newDecoders(newPools(0), unbound))
	d.complete = time.Minute
	got, done, err := d.decodeEighth(t.Context(), file, about, weightOfEighth(about))
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if chosen, err := d.decode(t.Context(), file, about, asThumbnail); err != nil || !bytes.Equal(chosen, got) {
		t.Errorf("another way was chosen (%v)", err)
	}
	whole, err := jpeg.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	want, err := asThumbnail.of(whole, about.Orientation)
	if err != nil {
		t.Fatal(err)
	}
	small, err := jpeg.Decode(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	reference, err := jpeg.Decode(bytes.NewReader(want))
	if err != nil || small.Bounds() != reference.Bounds() {
		t.Fatalf("it is %v, want %v (%v)", small.Bounds(), reference.Bounds(), err)
	}
	different := 0
	for y := range small.Bounds().Dy() {
		for x := range small.Bounds().Dx() {
			r, _, b, _ := small.At(x, y).RGBA()
			wantR, _, wantB, _ := reference.At(x, y).RGBA()
			if (r > b) != (wantR > wantB) {
				different++
			}
		}
	}
	if most := small.Bounds().Dx() + small.Bounds().Dy(); different > most { // the border of the colours
		t.Errorf("%d pixels have the other colour", different)
	}
}

// An unusual JPEG has a thumbnail as well, a small one is decoded as a whole, and so is what becomes more than a thumbnail.
func TestWhatIsDecodedAsAWhole(t *testing.T) {
	t.Parallel()
	unusual := mediatest.JPEG(t, 1640, 820, 0, nil)
	// "Adobe" says that its components are red, green and blue.
	unusual = bytes.Join([][]byte{unusual[:2], {0xff, 0xee, 0, 14}, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00"), unusual[2:]}, nil)
	service := start(t, Config{FFmpeg: NoFFmpeg})
	if file := opened(t, service, gateway.TypeImage, dataURI("", unusual), Hints{}); file.Thumbnail == nil {
		t.Error("the unusual one has no thumbnail")
	}
	for name, c := range cases.Sorted(map[string]struct {
		about probe.Picture
		want  int64
	}{
		"a photograph":    {probe.Picture{Width: 4000, Height: 3000, Scans: 1}, 3 * 504 * 379},
		"as small":        {probe.Picture{Width: 600, Height: 800, Scans: 1}, 3 * 79 * 104},
		"smaller":         {probe.Picture{Width: 799, Height: 799, Scans: 1}, 0},
		"no JPEG":         {probe.Picture{Width: 4000, Height: 3000}, 0},
		"many scans":      {probe.Picture{Width: 4000, Height: 3000, Scans: probe.MaxScans + 1}, 0},
		"all that it can": {probe.Picture{Width: 65_535, Height: 65_535, Scans: 1}, 0},
	}) {
		if got := weightOfEighth(c.about); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// FuzzWeight: no picture that takes more than the memory for decoding is decoded.
func FuzzWeight(f *testing.F) {
	f.Add(mediatest.ProgressiveJPEG(64, 64, 3))
	f.Add(mediatest.JPEG(f, 40, 20, 0, nil))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xda, 0, 0, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, content []byte) {
		about, err := probe.ReadPicture(bytes.NewReader(content))
		if err == nil && weightOf(about) > maxPicture {
			t.Errorf("%+v is decoded", about)
		}
	})
}
