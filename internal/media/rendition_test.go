package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cache"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestImage(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	for _, test := range []struct {
		name          string
		content       []byte
		mimeType      string
		width, height int
		thumbnail     image.Point
	}{
		{"JPEG", mediatest.JPEG(t, 400, 200, 0, nil), "image/jpeg", 400, 200, image.Pt(100, 50)},
		{"small JPEG", mediatest.JPEG(t, 40, 20, 0, nil), "image/jpeg", 40, 20, image.Pt(40, 20)},
		{"thin JPEG", mediatest.JPEG(t, 2000, 2, 0, nil), "image/jpeg", 2000, 2, image.Pt(100, 1)},
		{"PNG", mediatest.PNG(t, 300, 600), "image/png", 300, 600, image.Pt(50, 100)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := opened(t, service, gateway.TypeImage, dataURI("text/plain", test.content), Hints{Field: "image"})
			if file.MimeType != test.mimeType || file.Width != test.width || file.Height != test.height {
				t.Errorf("it is %s of %d×%d, want %s of %d×%d", file.MimeType, file.Width, file.Height, test.mimeType, test.width, test.height)
			}
			if file.FileName != "" {
				t.Errorf("it is called %q, want no name", file.FileName)
			}
			if contentOf(t, file) != string(test.content) {
				t.Error("the content was changed")
			}
			wantThumbnail(t, file.Thumbnail, test.thumbnail)
		})
	}
}

// wantThumbnail checks a thumbnail's size; none is wanted where that is zero.
func wantThumbnail(t *testing.T, encoded []byte, size image.Point) {
	t.Helper()
	if size == (image.Point{}) {
		if encoded != nil {
			t.Error("there is a thumbnail")
		}
		return
	}
	if len(encoded) > 5<<10 {
		t.Errorf("the thumbnail has %d bytes, want at most 5 KiB", len(encoded))
	}
	config, err := jpeg.DecodeConfig(bytes.NewReader(encoded))
	if err != nil {
		t.Fatalf("the thumbnail is no JPEG: %v", err)
	}
	if got := image.Pt(config.Width, config.Height); got != size {
		t.Errorf("the thumbnail is %v, want %v", got, size)
	}
}

// A camera stores what it sees, and says how it was held.
func TestTurnedImage(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	// Where the red quarter, stored in the upper left, is to be seen.
	for turned, red := range cases.Sorted(map[int]image.Point{
		1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1},
	}) {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			content := mediatest.JPEG(t, 400, 200, turned, order)
			file := opened(t, service, gateway.TypeImage, dataURI("", content), Hints{})
			want := image.Pt(400, 200)
			if turned >= 5 {
				want = image.Pt(200, 400)
			}
			if got := image.Pt(file.Width, file.Height); got != want {
				t.Errorf("orientation %d: shown as %v, want %v", turned, got, want)
			}
			wantThumbnail(t, file.Thumbnail, want.Div(4))
			small, err := jpeg.Decode(bytes.NewReader(file.Thumbnail))
			if err != nil {
				t.Fatal(err)
			}
			for y := range 2 {
				for x := range 2 {
					r, _, b, _ := small.At(want.X/16+x*want.X/8, want.Y/16+y*want.Y/8).RGBA()
					if isRed := r > b; isRed != (image.Pt(x, y) == red) {
						t.Errorf("orientation %d: the quarter %d,%d is red: %v", turned, x, y, isRed)
					}
				}
			}
		}
	}
}

// A few bytes that claim to be a picture of 3.6 gigapixels are not decoded.
func TestPixelBomb(t *testing.T) {
	t.Parallel()
	bomb := mediatest.PNG(t, 4, 4)
	binary.BigEndian.PutUint32(bomb[16:], 60_000)
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeImage, dataURI("", bomb), Hints{})
	if file.Width != 60_000 || file.Height != 60_000 || file.Thumbnail != nil {
		t.Errorf("%d×%d with a thumbnail of %d bytes, want the size alone", file.Width, file.Height, len(file.Thumbnail))
	}
}

func TestSticker(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	for name, animated := range cases.Sorted(map[string]bool{"sticker.webp": false, "animated.webp": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := opened(t, service, gateway.TypeSticker, dataURI("", sample(t, name)), Hints{})
			if file.Animated != animated || file.Width != 64 || file.Height != 64 || file.MimeType != "image/webp" {
				t.Errorf("%s of %d×%d, animated %v", file.MimeType, file.Width, file.Height, file.Animated)
			}
		})
	}
}

// What was found out about a file is remembered for the next recipient, for its account alone. What was missing because others
// had all the room is looked for again.
func TestFilesAreInspectedOnce(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	picture, other := mediatest.JPEG(t, 400, 200, 6, binary.BigEndian), mediatest.JPEG(t, 200, 400, 0, nil)
	open := func(account string, content []byte) *File {
		t.Helper()
		ctx := gateway.WithRequester(t.Context(), gateway.Requester{AccountID: account})
		file, err := service.Open(ctx, gateway.TypeImage, dataURI("image/png", content), Hints{FileName: account + ".jpg"})
		if err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, file); got != string(content) {
			t.Error("the content is another one")
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		return file
	}
	complete := service.decoders.complete
	service.decoders.complete = -1 // nothing is decoded
	if file := open("ours", other); file.Thumbnail != nil {
		t.Fatal("it was decoded")
	}
	service.decoders.complete = complete
	first := open("ours", picture)
	if file := open("ours", other); file.Thumbnail == nil {
		t.Error("that there was no thumbnail is remembered")
	}
	service.decoders.complete = -1
	again := open("ours", picture)
	first.content, again.content = content{}, content{}
	if !reflect.DeepEqual(first, again) || again.Thumbnail == nil {
		t.Errorf("it was %+v, and is %+v", first, again)
	}
	if file := open("theirs", picture); file.Thumbnail != nil {
		t.Error("another account is told what was found")
	}
}

// What is remembered is bounded: so many files, each with little.
func TestLittleIsRememberedOfFiles(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	service.findings = cache.New[findingKey, File](cache.Config{Most: 2})
	remembered := func(pictures ...int) (count int) {
		complete := service.decoders.complete
		defer func() { service.decoders.complete = complete }()
		service.decoders.complete = -1
		for _, width := range pictures {
			if opened(t, service, gateway.TypeImage, dataURI("", mediatest.PNG(t, width, 100)), Hints{}).Thumbnail != nil {
				count++
			}
		}
		return count
	}
	for _, width := range []int{110, 120, 130, 140} {
		opened(t, service, gateway.TypeImage, dataURI("", mediatest.PNG(t, width, 100)), Hints{})
	}
	if count := remembered(110, 120, 130, 140); count != 2 {
		t.Errorf("%d files are remembered", count)
	}
	long := dataURI("image/png;"+strings.Repeat("x", maxDeclared), mediatest.PNG(t, 140, 100))
	opened(t, service, gateway.TypeImage, long, Hints{})
	service.decoders.complete = -1
	if opened(t, service, gateway.TypeImage, long, Hints{}).Thumbnail != nil {
		t.Error("a long type is remembered")
	}
	for _, file := range []File{
		{Kind: gateway.TypeImage, Thumbnail: make([]byte, maxFindingBytes+1)},
		{Kind: gateway.TypeVideo},
		{Kind: gateway.TypeVoice, Waveform: flatWaveform()},
		{Kind: gateway.TypeAudio},
		{Kind: gateway.TypeDocument},
		{Kind: gateway.TypeSticker},
	} {
		if file.isWorthRemembering() {
			t.Errorf("%+v is remembered", file.Kind)
		}
	}
}

func BenchmarkThumbnail(b *testing.B) {
	photograph := mediatest.Quarters(4000, 3000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := asThumbnail.of(photograph, 6); err != nil {
			b.Fatal(err)
		}
	}
}
