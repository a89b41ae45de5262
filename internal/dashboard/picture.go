// The picture of an instance's account, fetched by the gateway: a browser that looks at
// the dashboard talks to nobody else.

package dashboard

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
)

const (
	maxPicture   = 512 << 10 // bytes
	pictureWait  = 5 * time.Second
	keptPictures = 256
	// pictureAge is how long browsers keep one, in seconds.
	pictureAge = "600"
)

// pictures fetches and keeps the pictures that were looked at last.
type pictures struct {
	client *http.Client
	kept   *lru.Cache[string, picture] // by URL
}

func newPictures(guard *outbound.Guard) *pictures {
	dialer := &net.Dialer{Timeout: pictureWait, Control: guard.Control}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 1, IdleConnTimeout: pictureWait}
	kept, _ := lru.New[string, picture](keptPictures) // only a size below 1 is an error
	return &pictures{client: &http.Client{Transport: transport, Timeout: pictureWait}, kept: kept}
}

// picture is a small file that a browser can show.
type picture struct {
	kind    string
	content []byte
}

// of returns the picture at a URL.
func (p *pictures) of(ctx context.Context, url string) (picture, error) {
	if found, ok := p.kept.Get(url); ok {
		return found, nil
	}
	fetched, err := p.fetch(ctx, url)
	if err == nil {
		p.kept.Add(url, fetched)
	}
	return fetched, err
}

func (p *pictures) fetch(ctx context.Context, url string) (_ picture, err error) {
	ctx, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return picture{}, fmt.Errorf("dashboard: fetch picture: %w", err)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return picture{}, fmt.Errorf("dashboard: fetch picture: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxPicture+1))
	if err != nil {
		return picture{}, fmt.Errorf("dashboard: fetch picture: %w", err)
	}
	// What it says of itself does not count: a page could follow.
	kind := http.DetectContentType(content)
	if response.StatusCode != http.StatusOK || len(content) > maxPicture || !strings.HasPrefix(kind, "image/") {
		return picture{}, fmt.Errorf("dashboard: fetch picture: answered %d with %s", response.StatusCode, kind)
	}
	return picture{kind: kind, content: content}, nil
}

// picturable reports whether the picture of an instance's account is shown. It lies with the
// platform, to which an instance with a proxy has no way past the proxy.
func picturable(i gateway.Instance) bool { return i.Profile.PictureURL != "" && i.Proxy == "" }

// showPicture answers the picture of an instance's account, or that there is none.
func (p *pages) showPicture(r *frame.Request, found gateway.Instance) error {
	missing := gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no picture")
	if !picturable(found) {
		return missing
	}
	shown, err := p.pictures.of(r.Context(), found.Profile.PictureURL)
	if err != nil {
		return missing
	}
	r.W.Header().Set("Content-Type", shown.kind)
	r.W.Header().Set("Cache-Control", "private, max-age="+pictureAge)
	_, _ = r.W.Write(shown.content)
	return nil
}
