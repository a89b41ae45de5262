package sandbox_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestOnlyThisMachineIsServed(t *testing.T) {
	t.Parallel()
	server := newWorld(t).server
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	evil := map[string]string{"Origin": "https://evil.example"}
	upgrade := func(more map[string]string) map[string]string {
		headers := map[string]string{"Upgrade": "websocket", "Connection": "Upgrade"}
		maps.Copy(headers, more)
		return headers
	}
	for _, c := range []struct {
		listen, names, method, host string
		headers                     map[string]string
		served                      bool
	}{
		{"127.0.0.1:8080", "", "GET", "127.0.0.1:8080", nil, true},
		{"127.0.0.1:8080", "", "GET", "localhost:8080", nil, true},
		{"127.0.0.1:8080", "", "GET", "LocalHost", nil, true},
		{"127.0.0.1:8080", "", "GET", "recado.localhost:8080", nil, true},
		{"127.0.0.1:8080", "", "GET", "[::1]:8080", nil, true},
		{"127.0.0.1:8080", "", "GET", "127.0.0.2", nil, true},
		{"127.0.0.1:8080", "", "GET", "web.whatsapp.com", nil, true},
		{"127.0.0.1:8080", "", "GET", "rebind.evil.example", nil, false},
		{"127.0.0.1:8080", "", "GET", "rebind.evil.example:8080", nil, false},
		{"127.0.0.1:8080", "", "GET", "127.0.0.1.evil.example", nil, false},
		{"127.0.0.1:8080", "", "GET", "notwhatsapp.com", nil, false},
		{"127.0.0.1:8080", "", "GET", "", nil, false},
		{"127.0.0.1:8080", "", "GET", "192.168.1.5:8080", nil, false},
		{"192.168.1.5:8080", "", "GET", "192.168.1.5:8080", nil, true},
		{"0.0.0.0:8080", "", "GET", "192.168.1.5:8080", nil, true},
		{":8080", "", "GET", "[2001:db8::1]:8080", nil, true},
		{"[::]:8080", "", "GET", "evil.example", nil, false},
		{"sandbox:8080", "", "GET", "sandbox:8080", nil, true},
		{"0.0.0.0:8080", "Sandbox,other", "GET", "sandbox:8080", nil, true},
		{"0.0.0.0:8080", "Sandbox,other", "GET", "sandbox.evil.example", nil, false},

		{"127.0.0.1:8080", "", "GET", "127.0.0.1:8080", evil, true}, // its page can't read the answer
		{"127.0.0.1:8080", "", "POST", "127.0.0.1:8080", evil, false},
		{"127.0.0.1:8080", "", "PUT", "127.0.0.1:8080", evil, false},
		{"127.0.0.1:8080", "", "POST", "127.0.0.1:8080", map[string]string{"Sec-Fetch-Site": "cross-site"}, false},
		{"127.0.0.1:8080", "", "POST", "127.0.0.1:8080", map[string]string{"Origin": "null"}, false},
		{"127.0.0.1:8080", "", "POST", "127.0.0.1:8080", nil, true},
		{"127.0.0.1:8080", "", "POST", "127.0.0.1:8080", map[string]string{"Origin": "http://127.0.0.1:8080"}, true},
		{"127.0.0.1:8080", "", "POST", "127.0.0.1:8080", map[string]string{"Origin": "https://web.whatsapp.com"}, true},

		{"127.0.0.1:8080", "", "GET", "127.0.0.1:8080", upgrade(evil), false},
		{"127.0.0.1:8080", "", "GET", "127.0.0.1:8080", upgrade(nil), true},
		{"127.0.0.1:8080", "", "GET", "127.0.0.1:8080", upgrade(map[string]string{"Origin": "http://127.0.0.1:8080"}), true},
		{"127.0.0.1:8080", "", "GET", "web.whatsapp.com", upgrade(map[string]string{"Origin": "https://web.whatsapp.com"}), true},
	} {
		var names []string
		if c.names != "" {
			names = strings.Split(c.names, ",")
		}
		request := httptest.NewRequestWithContext(t.Context(), c.method, "/ws/chat", http.NoBody)
		request.Host = c.host
		for name, value := range c.headers {
			request.Header.Set(name, value)
		}
		answer := httptest.NewRecorder()
		server.Local(next, c.listen, names).ServeHTTP(answer, request)
		want := http.StatusForbidden
		if c.served {
			want = http.StatusNoContent
		}
		if answer.Code != want || !c.served && !strings.Contains(answer.Body.String(), `"error":"FORBIDDEN"`) {
			t.Errorf("listening at %s as %q: %s for %s with %v answers %d %s", c.listen, c.names, c.method, c.host, c.headers, answer.Code, answer.Body)
		}
	}
}

// The real platform's names are only for clients of the protocol. Somebody who can
// make such a name resolve to this machine must not reach the control API by it.
func TestPlatformNamesReachOnlyTheProtocol(t *testing.T) {
	t.Parallel()
	local := newWorld(t).server.Local(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "127.0.0.1:8080", nil)
	for path, want := range cases.Sorted(map[string]int{
		"/ws/chat": http.StatusOK, "/sandbox/api/phones": http.StatusForbidden, "/api/instances": http.StatusForbidden,
	}) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		request.Host = "x.whatsapp.net"
		answer := httptest.NewRecorder()
		local.ServeHTTP(answer, request)
		if answer.Code != want {
			t.Errorf("%s is answered %d, want %d", path, answer.Code, want)
		}
	}
}
