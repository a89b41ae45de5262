// Pages and pictures of the web, for previews of links.

package media

import (
	"context"
	"io"
	"net/url"
	"os"

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
	err = content.read(func(file *os.File) error {
		picture, err := probe.ReadPicture(file)
		if err != nil {
			return nil //nolint:nilerr // the page's mistake
		}
		small, err = s.decoders.decode(ctx, file, picture, asThumbnail)
		return err
	})
	return small, err
}
