// Pages and pictures of the web, for previews of links.

package media

import (
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
)

// maxPreviewPicture bounds the picture of a page.
const maxPreviewPicture = 5 << 20

// Page is a page of the web, while it comes in.
type Page struct {
	URL  *url.URL // after redirects
	Type string   // as its server says, with parameters
	Body io.Reader

	close func()
}

// Close ends the request.
func (p *Page) Close() { p.close() }

// Page requests a page, from where files are fetched too. The caller bounds how much of it is
// read, and closes it. Its errors are those of a file that can't be fetched.
func (s *Service) Page(ctx context.Context, address *url.URL) (*Page, error) {
	source, err := s.urlSource(ctx, address, "")
	if err != nil {
		return nil, err
	}
	return &Page{URL: source.from, Type: source.declared, Body: source.body, close: source.close}, nil
}

// PagePicture makes a small JPEG of the picture behind a URL. It is nil for one that is too
// large, or is no picture that can be decoded.
func (s *Service) PagePicture(ctx context.Context, address *url.URL) ([]byte, error) {
	source, err := s.urlSource(ctx, address, "")
	if err != nil {
		return nil, err
	}
	defer source.close()
	source.body = io.LimitReader(source.body, maxPreviewPicture)
	content, err := s.spool(ctx, source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = content.remove() }() // openTemp removes what could not be
	var small []byte
	err = content.read(func(file io.ReadSeeker) error {
		picture, err := probe.ReadPicture(file)
		if err != nil {
			return nil //nolint:nilerr // the page's mistake
		}
		small, err = s.decoders.decode(ctx, file, picture, asThumbnail)
		return err
	})
	return small, err
}

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
	err = file.content.read(func(content io.ReadSeeker) error {
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
