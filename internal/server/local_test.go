package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// The sandbox has no keys, and those of a demo are no secret: what a browser may
// be made to send is refused on the whole address.
func TestPagesOfTheWebAreKeptAwayFromADemo(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	for _, c := range []struct {
		method, path, host, origin string
		refused                    bool
	}{
		{http.MethodGet, "/sandbox/api/phones", "rebind.evil.example", "", true},
		{http.MethodGet, "/api/instances", "rebind.evil.example", "", true},
		{http.MethodGet, "/docs", "rebind.evil.example", "", true},
		{http.MethodPost, "/sandbox/api/faults/disconnect", "", "https://evil.example", true},
		{http.MethodPost, "/api/partner/instances", "", "https://evil.example", true},
		{http.MethodPost, "/sandbox/api/faults/disconnect", "", "", false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, g.BaseURL+c.path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			request.Host = c.host
		}
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || (response.StatusCode == http.StatusForbidden) != c.refused {
			t.Errorf("%s %s for %q from %q: %d %s", c.method, c.path, c.host, c.origin, response.StatusCode, body)
		}
	}
}
