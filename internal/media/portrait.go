// Pictures of people and groups, made small.

package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"

	"golang.org/x/image/draw"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
)

const (
	portraitSide    = 640 // pixels, of a picture in a list or of a group
	portraitQuality = 85
)

// Portrait reads an image, as Open does, and makes a JPEG of it as people's and groups'
// pictures are: the square in its middle, 640 pixels at most, upright, on white. Besides the errors of Open it is the
// validation error of hints.Field for an image that is too large to decode, or can't be.
func (s *Service) Portrait(ctx context.Context, input string, hints Hints) (_ []byte, err error) {
	file, err := s.Open(ctx, gateway.TypeImage, input, hints)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var out bytes.Buffer
	err = file.content.read(func(content *os.File) error {
		about, err := probe.ReadPicture(content)
		if err != nil {
			return refused(hints.Field, "must hold an image that can be read")
		}
		return s.decoders.patient().decode(ctx, content, about, func(full image.Image) error {
			middle := square(full.Bounds())
			small := image.NewRGBA(image.Rectangle{Max: fit(middle.Size(), portraitSide)})
			draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
			draw.ApproxBiLinear.Scale(small, small.Bounds(), full, middle, draw.Over, nil)
			if err := jpeg.Encode(&out, turnUpright(small, about.Orientation), &jpeg.Options{Quality: portraitQuality}); err != nil {
				return fmt.Errorf("media: encode portrait: %w", err)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if out.Len() == 0 {
		return nil, refused(hints.Field, "must hold an image that can be decoded, of a usual size")
	}
	return out.Bytes(), nil
}

// square is the largest square in the middle of a picture.
func square(of image.Rectangle) image.Rectangle {
	side := min(of.Dx(), of.Dy())
	corner := of.Min.Add(image.Pt((of.Dx()-side)/2, (of.Dy()-side)/2))
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}
}
