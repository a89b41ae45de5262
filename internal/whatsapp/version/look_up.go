// Looking the newest version up on the messenger's own page, within bounds.

package version

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"go.mau.fi/whatsmeow"
)

// longest bounds the page, unpacked. The messenger's own has about a megabyte.
const longest = 4 << 20

// lookUp returns the version that the page of the web client names. The text of its error
// holds nothing that the page said, so anybody may read it; the cause is wrapped.
func lookUp(ctx context.Context, client *http.Client, patience time.Duration) (Version, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := whatsmeow.GetLatestVersion(ctx, &http.Client{Transport: bounded{client.Transport}})
	if err != nil {
		return Version{}, explain(err, patience)
	}
	return *found, nil
}

// failure is why nothing was found.
type failure struct {
	text  string
	cause error
}

// Error returns the text for everybody.
func (f *failure) Error() string { return f.text }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

// explain puts the cause of a failure into words.
func explain(cause error, patience time.Duration) *failure {
	text := "the page names no version"
	if said, ok := errors.AsType[*failure](cause); ok {
		text = said.text
	} else if errors.Is(cause, context.DeadlineExceeded) {
		text = fmt.Sprintf("the page did not come within %s", patience)
	} else if _, ok := errors.AsType[net.Error](cause); ok {
		text = "the page can't be reached"
	}
	return &failure{text: text, cause: cause}
}

// bounded asks for a page on a connection of its own, and ends an answer that is too long.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends the request.
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Close = true // the next look-up is a day away
	response, err := b.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		_ = response.Body.Close() // nobody reads it
		return nil, &failure{text: fmt.Sprintf("the page was answered with status %d", response.StatusCode)}
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: longest}
	return response, nil
}

// boundedBody fails where the page gets too long.
type boundedBody struct {
	io.ReadCloser

	left int64
}

// Read reads the next part of the page.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &failure{text: fmt.Sprintf("the page is longer than %d MiB", longest>>20)}
	}
	return n, err
}
