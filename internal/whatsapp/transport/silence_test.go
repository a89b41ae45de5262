package transport

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// A media host that stops in the middle is noticed, and one that is only slow is
// not.
func TestSilenceGuard(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	gone := make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say := func(text string) {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		switch r.URL.Path {
		case "/slow":
			for range 8 { // longer than the limit in sum
				say("x")
				pause(limit / 4)
			}
		case "/stalled":
			say("xx")
			<-gone
		case "/silent":
			<-gone
		}
	}))
	t.Cleanup(host.Close)
	t.Cleanup(func() { close(gone) })
	client := &http.Client{Transport: silenceGuard{next: http.DefaultTransport, limit: limit}}
	for path, want := range cases.Sorted(map[string]struct {
		text string
		err  error
	}{
		"/slow":    {"xxxxxxxx", nil},
		"/stalled": {"xx", ErrSilent},
		"/silent":  {"", ErrSilent},
	}) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, host.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		response, err := client.Do(request)
		if err == nil {
			text, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if string(text) != want.text || !errors.Is(err, want.err) {
			t.Errorf("%s: got %q, %v; want %q, %v", path, text, err, want.text, want.err)
		}
	}
}

// pause lets time pass where the passing of time is what is tested.
func pause(d time.Duration) { <-time.After(d) }
