// Files that callers attach: data URIs, URLs and samples.

package control

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/sandbox/samples"
)

const (
	// maxMedia bounds a file in bytes, fetched or in the body.
	maxMedia = 64 << 20

	fetchTimeout = 20 * time.Second
)

// newFetcher returns the client that fetches files which callers name by URL, from
// addresses that guard allows.
func newFetcher(guard *outbound.Guard) *http.Client {
	return &http.Client{
		Timeout: fetchTimeout,
		Transport: &http.Transport{
			// A proxy would connect in our place and bypass the guard.
			Proxy:       nil,
			DialContext: (&net.Dialer{Timeout: fetchTimeout, Control: guard.Control}).DialContext,
			// Two files rarely come from the same host.
			DisableKeepAlives: true,
		},
	}
}

// media is a file with its type.
type media struct {
	content  []byte
	mimeType string
}

// readMedia reads a file from a data URI or from a URL.
func (a *api) readMedia(r *http.Request, field, input string) (media, error) {
	var file media
	var err error
	switch {
	case strings.HasPrefix(input, "data:"):
		file, err = parseDataURI(input)
	case strings.HasPrefix(input, "http://"), strings.HasPrefix(input, "https://"):
		var own bool
		if file, own = sample(r, input); !own {
			file, err = a.fetch(r.Context(), input)
		}
	default:
		err = fmt.Errorf("must be a data URI or an http(s) URL")
	}
	if err == nil && len(file.content) == 0 {
		err = fmt.Errorf("has no content")
	}
	if err != nil {
		return file, validation(detail{field, err.Error()})
	}
	if file.mimeType == "" {
		file.mimeType = http.DetectContentType(file.content)
	}
	return file, nil
}

// parseDataURI reads a base64 data URI.
func parseDataURI(input string) (media, error) {
	head, data, found := strings.Cut(strings.TrimPrefix(input, "data:"), ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !found || !encoded {
		return media{}, fmt.Errorf("must be a base64 data URI")
	}
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return media{}, fmt.Errorf("is not base64")
	}
	return media{content: content, mimeType: strings.TrimSpace(kind)}, nil
}

// sample returns one of the sandbox's own files if the URL names one at the host
// that the caller used. The guard would not allow to fetch it.
func sample(r *http.Request, input string) (media, bool) {
	address, err := url.Parse(input)
	if err != nil || !strings.EqualFold(address.Host, r.Host) {
		return media{}, false
	}
	content, mimeType, found := samples.Read(address.Path)
	return media{content: content, mimeType: mimeType}, found
}

// fetch fetches a file by its URL.
func (a *api) fetch(ctx context.Context, address string) (media, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return media{}, fmt.Errorf("is not a URL: %w", err)
	}
	response, err := a.web.Do(request)
	if errors.Is(err, outbound.ErrForbidden) {
		return media{}, errors.New("points where fetching is not allowed; send a data URI")
	}
	if err != nil {
		return media{}, fmt.Errorf("could not be fetched: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return media{}, fmt.Errorf("could not be fetched: the answer was %s", response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxMedia+1))
	if err != nil {
		return media{}, fmt.Errorf("could not be fetched: %w", err)
	}
	if len(content) > maxMedia {
		return media{}, fmt.Errorf("is larger than %d bytes", maxMedia)
	}
	file := media{content: content}
	if kind := response.Header.Get("Content-Type"); kind != "" {
		if base, _, err := mime.ParseMediaType(kind); err == nil && base != "application/octet-stream" && base != "text/plain" {
			file.mimeType = kind
		}
	}
	return file, nil
}
