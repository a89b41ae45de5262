// Pictures of people and groups, made small.

package media

import (
	"context"
	"errors"
	"os"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
)

// Picture is an image that a request holds, for an account, a group or a channel. The zero value
// takes the picture away.
type Picture struct {
	Input string // base64 data URI or http(s) URL
	Hints Hints
}

// Pictures makes the JPEG that a picture of an account, a group or a channel is.
type Pictures interface {
	Portrait(ctx context.Context, picture Picture) ([]byte, error)
}

// Portrait reads an image, as Open does, and makes a JPEG of it as people's and groups'
// pictures are: the square in its middle, 640 pixels at most, upright, on white. Of a picture that
// holds no image it is empty. Besides the errors of Open its error is the validation error of
// Hints.Field for an image that is too large to decode, or can't be.
func (s *Service) Portrait(ctx context.Context, picture Picture) (_ []byte, err error) {
	hints := picture.Hints
	if picture.Input == "" && hints.Decoded == nil {
		return []byte{}, nil
	}
	file, err := s.Open(ctx, gateway.TypeImage, picture.Input, hints)
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
