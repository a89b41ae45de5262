// Stickers from pictures and videos that are none.

package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/media/probe"
)

const (
	// stickerBytes is the largest sticker that all phones take, and stickerSeconds how much
	// of a video or GIF becomes one.
	stickerBytes   = 500_000
	stickerSeconds = 6
	webP           = "image/webp"
)

// stickerTry is a way to write a sticker. The next one makes it smaller.
type stickerTry struct{ quality, framesPerSecond int }

func stickerTries() []stickerTry { return []stickerTry{{75, 15}, {50, 12}, {25, 8}} }

// becomesSticker reports whether a sticker can be made of content of a media type.
func becomesSticker(mimeType string) bool {
	switch mimeType {
	case "image/png", "image/jpeg", "image/gif", "video/mp4", "video/webm":
		return true
	default:
		return false
	}
}

// makeSticker makes a WebP of a picture, and an animated one of a GIF or of the beginning of
// a video: a square of 512 pixels, with nothing around what is not square. It leaves the file
// as it is if it is a WebP already, or nothing that a sticker can be made of.
func (s *Service) makeSticker(ctx context.Context, file *File, about examined) error {
	if !becomesSticker(file.MimeType) {
		return nil
	}
	if !s.tool.found(ctx) {
		return about.refuse("must hold a WebP picture: this gateway has no ffmpeg, so it can't convert others")
	}
	from, format := file.content, "gif"
	switch file.MimeType {
	case "image/png", "image/jpeg":
		// Decoded here, within the bounds of every picture, and upright.
		still, err := s.squareStill(ctx, &file.content, about)
		if err != nil {
			return err
		}
		defer func() { _ = still.remove() }() // openTemp removes what could not be
		from, format = still, "png_pipe"
	case "video/mp4":
		format = "mp4"
	case "video/webm":
		format = "webm"
	}
	made, err := s.encodeSticker(ctx, from, format, about)
	if err != nil {
		return err
	}
	original := file.content
	file.take(made)
	file.MimeType = webP
	return original.remove()
}

// squareStill writes a picture as a PNG of a sticker's size.
func (s *Service) squareStill(ctx context.Context, from *content, about examined) (content, error) {
	var small []byte
	err := from.read(func(file io.ReadSeeker) error {
		picture, err := probe.ReadPicture(file)
		if err != nil {
			return about.refuse("must hold an image that can be read")
		}
		small, err = s.decoders.patient().decode(ctx, file, picture, asSticker)
		return err
	})
	if err == nil && len(small) == 0 {
		err = about.refuse("must hold an image that can be decoded, of a usual size")
	}
	if err != nil {
		return content{}, err
	}
	return s.spool(ctx, &source{body: bytes.NewReader(small), field: about.field, explain: func(err error) error { return err }, close: func() {}})
}

// encodeSticker has ffmpeg write a sticker that is small enough.
func (s *Service) encodeSticker(ctx context.Context, from content, format string, about examined) (content, error) {
	run, err := s.stickerNeed(ctx, from, format)
	if err != nil {
		return content{}, err
	}
	if !s.pools.fits(run) {
		return content{}, about.refuse("has too many pixels for a sticker: make it smaller")
	}
	for _, try := range stickerTries() {
		made, err := s.tryStickerEncoding(ctx, from, format, try, run)
		switch {
		case errors.Is(err, errUnreadable):
			s.tool.unmeasured(ctx, err)
			return content{}, about.refuse("must hold a picture or a video that can be read")
		case errors.Is(err, errToolTimeout):
			s.tool.unmeasured(ctx, err)
			return content{}, about.refuse("takes too long to convert; make it shorter or smaller")
		case errors.Is(err, errTooHeavy):
			s.tool.unmeasured(ctx, err)
			return content{}, about.refuse("takes too much memory to convert; make it smaller")
		case err != nil:
			return content{}, err
		case made.size <= stickerBytes:
			return made, nil
		}
		if err := made.remove(); err != nil {
			return content{}, err
		}
	}
	return content{}, about.refuse(fmt.Sprintf("has too much in it for a sticker of %d bytes; make it shorter or simpler", stickerBytes))
}

// stickerNeed is what it takes to make a sticker of a picture, or of the beginning of a GIF or a video.
func (s *Service) stickerNeed(ctx context.Context, from content, format string) (need, error) {
	found := probe.Tracks{VideoCodec: format, Width: stickerSide, Height: stickerSide, BytesPerPixel: 4}
	switch format {
	case "gif":
		err := from.read(func(file io.ReadSeeker) error {
			picture, err := probe.ReadPicture(file)
			found.Width, found.Height = picture.Width, picture.Height
			if err != nil {
				return nil //nolint:nilerr // the conversion says what is wrong with it
			}
			return nil
		})
		if err != nil {
			return need{}, err
		}
	case "mp4", "webm":
		var err error
		if found, err = s.tool.probe(ctx, from.path()); err != nil {
			return need{}, err
		}
	}
	found.Duration = min(found.Duration, stickerSeconds*time.Second)
	return s.tool.videoOf(found, image.Pt(stickerSide, 2*stickerSide)), nil // the encoder compares two pictures
}

func (s *Service) tryStickerEncoding(ctx context.Context, from content, format string, try stickerTry, run need) (content, error) {
	target, name, err := s.createTemp()
	if err != nil {
		return content{}, err
	}
	made := content{root: s.temp, name: name}
	if err = target.Close(); err == nil {
		side := strconv.Itoa(stickerSide)
		shown := "fps=" + strconv.Itoa(try.framesPerSecond) +
			",scale=" + side + ":" + side + ":force_original_aspect_ratio=decrease,format=bgra" +
			",pad=" + side + ":" + side + ":(ow-iw)/2:(oh-ih)/2:color=#00000000"
		encoder := []string{"-c:v", "libwebp_anim", "-loop", "0"}
		if format == "png_pipe" { // of the right size already
			shown, encoder = "format=bgra", []string{"-c:v", "libwebp", "-frames:v", "1"}
		}
		err = s.tool.runFFmpeg(ctx, nil, from.path(),
			[]string{"-f", format, "-max_pixels", strconv.Itoa(maxFramePixels), "-t", strconv.Itoa(stickerSeconds)},
			slices.Concat([]string{"-an", "-sn", "-dn", "-map_metadata", "-1", "-vf", shown}, encoder, []string{
				"-quality", strconv.Itoa(try.quality), "-compression_level", "3",
				"-fs", strconv.FormatInt(s.maxBytes, 10), "-f", "webp", "file:" + made.path(),
			}), run)
	}
	if err == nil {
		err = made.measure()
	}
	if err == nil && made.size == 0 {
		err = fmt.Errorf("%w: it wrote nothing", errUnreadable)
	}
	if err != nil {
		return content{}, errors.Join(err, made.remove())
	}
	return made, nil
}
