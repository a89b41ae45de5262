package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/image/webp"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Pictures and videos become stickers, if that is asked for: square, small, and moving if
// they move.
func TestStickersAreMade(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	for name, test := range cases.Sorted(map[string]struct {
		content  []byte
		animated bool
	}{
		"PNG":         {mediatest.PNG(t, 40, 20), false},
		"JPEG":        {mediatest.JPEG(t, 400, 200, 6, binary.LittleEndian), false},
		"GIF":         {noisyGIF(t, 64, 4), true},
		"still GIF":   {mediatest.GIF(t, 64, 64), false},
		"MP4":         {sample(t, "clip.mp4"), true},
		"WebM":        {sample(t, "clip.webm"), true},
		"WebP":        {sample(t, "sticker.webp"), false},
		"moving WebP": {sample(t, "animated.webp"), true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := opened(t, service, gateway.TypeSticker, dataURI("", test.content), Hints{Convert: true})
			side := stickerSide
			if strings.HasSuffix(name, "WebP") { // sent as they are
				side = 64
			}
			if file.MimeType != "image/webp" || file.Width != side || file.Height != side || file.Animated != test.animated {
				t.Errorf("%s of %d×%d, animated %v", file.MimeType, file.Width, file.Height, file.Animated)
			}
			if file.Size == 0 || file.Size > stickerBytes {
				t.Errorf("it has %d bytes", file.Size)
			}
		})
	}
}

// A picture is upright, in the middle, and there is nothing around it.
func TestStickerKeepsItsShape(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeSticker, dataURI("", mediatest.JPEG(t, 400, 200, 6, binary.LittleEndian)), Hints{Convert: true})
	err := file.content.read(func(content io.ReadSeeker) error {
		shown, err := webp.Decode(content)
		if err != nil {
			return err
		}
		for _, at := range []struct {
			x, y int
			want string
		}{{10, 256, "nothing"}, {500, 256, "nothing"}, {360, 20, "red"}, {150, 500, "blue"}} {
			r, _, b, a := shown.At(at.x, at.y).RGBA()
			got := "blue"
			switch {
			case a == 0:
				got = "nothing"
			case r > b:
				got = "red"
			}
			if got != at.want {
				t.Errorf("at %d, %d it shows %s, want %s", at.x, at.y, got, at.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStickersThatAreRefused(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	bomb := mediatest.PNG(t, 4, 4)
	binary.BigEndian.PutUint32(bomb[16:], 60_000)
	binary.BigEndian.PutUint32(bomb[20:], 60_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	hugeGIF := mediatest.GIF(t, 4, 4)
	binary.LittleEndian.PutUint16(hugeGIF[6:], 60_000)
	binary.LittleEndian.PutUint16(hugeGIF[8:], 60_000)
	with, without := start(t, Config{}), start(t, Config{FFmpeg: NoFFmpeg})
	for name, test := range cases.Sorted(map[string]struct {
		service *Service
		content []byte
		convert bool
		want    string
	}{
		"without being asked":     {with, mediatest.PNG(t, 4, 4), false, "must hold a WebP picture"},
		"without ffmpeg":          {without, mediatest.PNG(t, 4, 4), true, "no ffmpeg"},
		"a sound":                 {with, sample(t, "voice.ogg"), true, "must hold a picture or a video"},
		"a picture of gigapixels": {with, bomb, true, "can be decoded, of a usual size"},
		"a GIF of gigapixels":     {with, hugeGIF, true, "too many pixels"},
		"half a GIF":              {with, []byte("GIF89a\x04\x00\x04\x00"), true, "can be read"},
		"half an MP4":             {with, sample(t, "clip.mp4")[:64], true, "can be read"},
		"an MP4 without pictures": {with, sample(t, "sound.mp4"), true, "can be read"},
		"more than fits":          {with, noisyGIF(t, 512, 8), true, "shorter or simpler"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.service.Open(t.Context(), gateway.TypeSticker, dataURI("", test.content), Hints{Field: "sticker", Convert: test.convert})
			failure := wantCode(t, err, gateway.Invalid, gateway.CodeValidation)
			if len(failure.Fields) != 1 || failure.Fields[0].Field != "sticker" || !strings.Contains(failure.Fields[0].Message, test.want) {
				t.Errorf("%+v, want %q", failure.Fields, test.want)
			}
		})
	}
}

// noisyGIF makes a GIF of so many pictures, a tenth of a second each, that is hard to
// compress.
func noisyGIF(t *testing.T, side, pictures int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	palette := color.Palette{color.White, color.Black, color.RGBA{R: 255, A: 255}, color.RGBA{B: 255, A: 255}}
	moving := &gif.GIF{}
	for range pictures {
		picture := image.NewPaletted(image.Rect(0, 0, side, side), palette)
		for n := range picture.Pix {
			picture.Pix[n] = uint8(random.IntN(len(palette)))
		}
		moving.Image, moving.Delay = append(moving.Image, picture), append(moving.Delay, 10)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, moving); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
