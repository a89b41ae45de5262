package transport

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// A media host that stops in the middle is noticed, and one that is only slow is
// not.
func TestSilenceGuard(t *testing.T) {
	t.Parallel()
	const limit = time.Minute
	for path, c := range cases.Sorted(map[string]struct {
		says string
		ends bool
		text string
		err  error
	}{
		"slow":    {says: "xxxxxxxx", ends: true, text: "xxxxxxxx"}, // longer than the limit in sum
		"stalled": {says: "xx", text: "xx", err: ErrSilent},
		"silent":  {err: ErrSilent},
	}) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				host := roundTrip(func(request *http.Request) (*http.Response, error) {
					if c.says == "" {
						<-request.Context().Done()
						return nil, request.Context().Err()
					}
					body, writer := io.Pipe()
					go func() {
						for _, letter := range c.says {
							time.Sleep(limit / 4)
							_, _ = io.WriteString(writer, string(letter))
						}
						if !c.ends {
							<-request.Context().Done()
						}
						_ = writer.CloseWithError(request.Context().Err())
					}()
					return &http.Response{StatusCode: http.StatusOK, Body: body, Request: request}, nil
				})
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://media.invalid/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				var text []byte
				response, err := (&http.Client{Transport: silenceGuard{next: host, limit: limit}}).Do(request)
				if err == nil {
					text, err = io.ReadAll(response.Body)
					_ = response.Body.Close()
				}
				if string(text) != c.text || !errors.Is(err, c.err) {
					t.Errorf("got %q, %v; want %q, %v", text, err, c.text, c.err)
				}
			})
		})
	}
}

// roundTrip is a host.
type roundTrip func(request *http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
