// Thumbnails of pictures and videos.

package media

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"

	"golang.org/x/image/draw"

	"github.com/recado-project/recado/internal/media/probe"
)

const (
	thumbnailSide    = 100 // pixels, the longer side
	thumbnailQuality = 60
)

// thumbnail makes a small JPEG of an image. It returns nil for an image that is too
// much work to decode, or can't be decoded: the platform shows it without one.
func (s *Service) thumbnail(ctx context.Context, file *os.File, about probe.Picture) ([]byte, error) {
	var small []byte
	err := s.decoders.decode(ctx, file, about, func(full image.Image) (err error) {
		small, err = encodeThumbnail(full, about.Orientation)
		return err
	})
	return small, err
}

func encodeThumbnail(full image.Image, turned probe.Orientation) ([]byte, error) {
	small := shrink(full)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, turnUpright(small, turned), &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("media: encode thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// shrink makes a picture as small as a thumbnail, on white.
func shrink(full image.Image) *image.RGBA {
	size := full.Bounds().Size()
	// A careful filter over a whole photograph is slow, so a coarse one shrinks it to
	// four times the size first. The thumbnail looks the same.
	coarse := fit(size, 4*thumbnailSide)
	step := image.NewRGBA(image.Rectangle{Max: coarse})
	draw.Draw(step, step.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.NearestNeighbor.Scale(step, step.Bounds(), full, full.Bounds(), draw.Over, nil)
	small := image.NewRGBA(image.Rectangle{Max: fit(size, thumbnailSide)})
	draw.CatmullRom.Scale(small, small.Bounds(), step, step.Bounds(), draw.Src, nil)
	return small
}

// fit returns the largest size with the same shape whose sides are at most side. It
// never enlarges.
func fit(size image.Point, side int) image.Point {
	longer := max(size.X, size.Y)
	if longer <= side {
		return size
	}
	return image.Pt(max(1, size.X*side/longer), max(1, size.Y*side/longer))
}

// turnUpright turns a picture that is stored in an orientation.
func turnUpright(stored *image.RGBA, o probe.Orientation) *image.RGBA {
	if o < 2 || o > 8 {
		return stored
	}
	size := stored.Bounds().Size()
	shown := size
	if o.Sideways() {
		shown = image.Pt(size.Y, size.X)
	}
	upright := image.NewRGBA(image.Rectangle{Max: shown})
	for y := range shown.Y {
		for x := range shown.X {
			from := origin(o, x, y, size)
			upright.SetRGBA(x, y, stored.RGBAAt(from.X, from.Y))
		}
	}
	return upright
}

// origin returns which point of a stored picture of this size is shown at x, y.
func origin(o probe.Orientation, x, y int, size image.Point) image.Point {
	right, bottom := size.X-1, size.Y-1
	switch o {
	case 2:
		return image.Pt(right-x, y)
	case 3:
		return image.Pt(right-x, bottom-y)
	case 4:
		return image.Pt(x, bottom-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(y, bottom-x)
	case 7:
		return image.Pt(right-y, bottom-x)
	case 8:
		return image.Pt(right-y, x)
	default:
		return image.Pt(x, y)
	}
}
