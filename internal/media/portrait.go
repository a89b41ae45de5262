// Pictures of people and groups, made small.

package media

import (
	"context"
	"errors"
	"os"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
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
	var out []byte
	err = file.content.read(func(content *os.File) error {
		about, err := probe.ReadPicture(content)
		if err != nil {
			return refused(hints.Field, "must hold an image that can be read")
		}
		out, err = s.decoders.patient().decode(ctx, content, about, asPortrait)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, refused(hints.Field, "must hold an image that can be decoded, of a usual size")
	}
	return out, nil
}
