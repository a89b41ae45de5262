package imagetest_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The balancer says which address a browser has, whatever the browser says: tries to sign in count for
// that address. Where a proxy is in front of it, that one's word stays.
func TestBalancerSaysTheAddress(t *testing.T) {
	t.Parallel()
	requireHAProxy(t)
	for name, test := range cases.Sorted(map[string]struct{ proxies, want string }{
		"a browser":         {"192.0.2.1", "127.0.0.1"},
		"a proxy before it": {"127.0.0.0/8", "203.0.113.9"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte(strings.Join(r.Header.Values("X-Forwarded-For"), ","))) // the test reads it
			}))
			defer node.Close()
			free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := free.Addr().String()
			if err := free.Close(); err != nil {
				t.Fatal(err)
			}
			here := strings.TrimPrefix(node.URL, "http://")
			settings := strings.NewReplacer(
				"bind :8080", "bind "+address, "check port 9090", "check", "192.0.2.1", test.proxies,
				"node1:8080", here, "node2:8080", here, "node3:8080", here,
			).Replace(read(t, "deploy/cluster/haproxy.cfg"))
			file := filepath.Join(t.TempDir(), "haproxy.cfg")
			if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
				t.Fatal(err)
			}
			start(t, exec.CommandContext(t.Context(), "haproxy", "-db", "-f", file))
			var seen string
			testkit.Await(t, "the node behind the balancer", func() bool {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("X-Forwarded-For", "203.0.113.9")
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return false
				}
				defer func() { _ = response.Body.Close() }() // it was read
				content := make([]byte, 100)
				n, _ := response.Body.Read(content) // nothing: there is no header
				seen = string(content[:n])
				return response.StatusCode == http.StatusOK
			})
			if seen != test.want {
				t.Errorf("the node sees the address %q, want %q", seen, test.want)
			}
		})
	}
}
