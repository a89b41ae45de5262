package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// run carries out one command line.
func run(t *testing.T, stdin string, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code = cli.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// refusing answers everything with a refusal.
func refusing(t *testing.T, status int, code, message string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"statusCode":%d,"message":%q,"error":%q,"timestamp":"2026-11-20T14:22:10.123Z","path":"/"}`, status, message, code) // the program has its own eyes
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Every failure is explained once, with what to do next; there is no result on
// standard output; and the exit code says whether a repeat may help.
func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	foreign := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(foreign.Close)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // the test is over
	port := taken.Addr().(*net.TCPAddr).Port

	list := []string{"instances", "list", "--api-key", "rcd_x", "--url"}
	for name, test := range cases.Sorted(map[string]struct {
		args []string
		code int
		want []string
	}{
		"wrong key":      {append(list, refusing(t, 401, "UNAUTHORIZED", "the API key is not valid")), 1, []string{"recado: the API key is not valid (401 UNAUTHORIZED)", "recado keys create"}},
		"no partner":     {append(list, refusing(t, 403, "FORBIDDEN", "this needs a partner key; make one")), 1, []string{"recado: this needs a partner key; make one (403 FORBIDDEN)\n"}},
		"not connected":  {append(list, refusing(t, 409, "INSTANCE_NOT_CONNECTED", "it is stopped")), 75, []string{"it is stopped", "recado status INSTANCE"}},
		"busy":           {append(list, refusing(t, 503, "UNAVAILABLE", "stopping")), 75, []string{"stopping (503 UNAVAILABLE)"}},
		"slow platform":  {append(list, refusing(t, 504, "PLATFORM_TIMEOUT", "no code came")), 75, []string{"may be unable to reach the platform"}},
		"no platform":    {append(list, refusing(t, 504, "PLATFORM_TIMEOUT", "the platform can't be reached: no route")), 75, []string{"no route (504 PLATFORM_TIMEOUT)\n"}},
		"no port":        {[]string{"sandbox", "--listen", "1.2.3.4", "--data", t.TempDir()}, 1, []string{`recado: --listen "1.2.3.4" needs a port, for example 1.2.3.4:8080`}},
		"a port alone":   {[]string{"serve", "--listen", "8080", "--data", t.TempDir()}, 1, []string{"recado: --listen needs an address with a port, for example 127.0.0.1:8080 or :8080\n"}},
		"no gateway":     {append(list, foreign.URL), 1, []string{"404 Not Found", "but not from a gateway"}},
		"nobody there":   {append(list, "http://127.0.0.1:1"), 75, []string{"no gateway answers at http://127.0.0.1:1; start one with `recado serve`, or choose another with --url or RECADO_URL"}},
		"no such host":   {append(list, "http://nobody.invalid"), 75, []string{"no gateway answers at http://nobody.invalid: there is no host nobody.invalid"}},
		"no answer":      {append(list, silent.URL, "--timeout", "50ms"), 75, []string{"did not answer in time", "--timeout"}},
		"no TLS":         {append(list, strings.Replace(foreign.URL, "http:", "https:", 1)), 75, []string{"does not speak TLS: write http:// instead"}},
		"no scheme":      {append(list, "127.0.0.1:8080"), 2, []string{"needs http:// or https://"}},
		"no key":         {[]string{"instances", "list"}, 2, []string{"RECADO_API_KEY", "recado keys create"}},
		"no instance":    {[]string{"qr"}, 2, []string{"<instance> is missing", "recado help qr"}},
		"wrong flag":     {[]string{"serve", "--listne", "x"}, 2, []string{`did you mean "--listen"?`, "recado help serve"}},
		"a path":         {[]string{"serve", "--public-url", "https://example.org/wa", "--listen", taken.Addr().String(), "--data", t.TempDir()}, 2, []string{`--public-url "https://example.org/wa" has a path`, "https://messages.example.org"}},
		"no address":     {[]string{"serve", "--public-url", "foo", "--listen", taken.Addr().String(), "--data", t.TempDir()}, 2, []string{`--public-url "foo" needs http:// or https:// and a host`}},
		"half a command": {[]string{"instances"}, 2, []string{"recado: a command is missing: create, list, show, set, limits, restart, stop, logout or delete; see `recado help instances`\n"}},
		"no such folder": {[]string{"serve", "--listen", "127.0.0.1:0", "--data", "/dev/null/x"}, 1, []string{"recado: the folder /dev/null can't be created: not a directory; choose another with --data\n"}},
		"log level":      {[]string{"--log-level", "x", "version"}, 2, []string{`"debug","info","warn","error"`}},
		"taken port": {
			[]string{"dev", "--listen", taken.Addr().String(), "--data", t.TempDir()},
			1,
			[]string{fmt.Sprintf("recado: port %d is in use; try --listen 127.0.0.1:%d\n", port, port+1)},
		},
		"taken admin port": {
			[]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", taken.Addr().String(), "--data", t.TempDir()},
			1,
			[]string{fmt.Sprintf("recado: port %d is in use; try --admin-listen 127.0.0.1:%d\n", port, port+1)},
		},
		"collector": {
			[]string{"serve", "--otlp-endpoint", "collector:4318", "--data", t.TempDir()},
			2,
			[]string{`--otlp-endpoint "collector:4318" needs http:// or https:// and a host`},
		},
		"taken port of a sandbox": {
			[]string{"sandbox", "--listen", taken.Addr().String(), "--data", t.TempDir()},
			1,
			[]string{fmt.Sprintf("recado: port %d is in use; try --listen 127.0.0.1:%d\n", port, port+1)},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, said := run(t, "", test.args...)
			if code != test.code || out != "" || strings.Count(said, "recado: ") != 1 || strings.Count(said, "\n") != 1 {
				t.Errorf("exit code %d, printed %q, said %q; want %d and one line", code, out, said, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("said %q, want %q", said, want)
				}
			}
		})
	}
}

// A start that fails because of its flags leaves nothing behind.
func TestAFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // the test is over
	for _, args := range [][]string{
		{"dev", "--listen", taken.Addr().String()},
		{"serve", "--listen", taken.Addr().String()},
		{"serve", "--listen", "127.0.0.1:0", "--admin-listen", taken.Addr().String()},
		{"sandbox", "--listen", taken.Addr().String()},
		{"dev", "--listen", "127.0.0.1:0", "--api-key", "minhachave"},
	} {
		folder := filepath.Join(t.TempDir(), "data")
		if code, _, said := run(t, "", append(args, "--data", folder)...); code == 0 {
			t.Errorf("%v: it went on: %s", args, said)
		}
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v has made its folder (%v)", args, err)
		}
	}
}

// dev does not use, or print, the key of a production gateway that the environment
// may have.
func TestDevTakesNoKeyOfAnotherGateway(t *testing.T) {
	t.Setenv("RECADO_API_KEY", "short")
	t.Setenv("RECADO_DEV_API_KEY", "")
	folder := filepath.Join(t.TempDir(), "data")
	if _, _, said := run(t, "", "dev", "--listen", "1.2.3.4", "--data", folder); !strings.Contains(said, "--listen") {
		t.Errorf("RECADO_API_KEY: said %q", said)
	}
	t.Setenv("RECADO_DEV_API_KEY", "short")
	if code, _, said := run(t, "", "dev", "--listen", "1.2.3.4", "--data", folder); code != 2 || !strings.Contains(said, "--api-key must have") {
		t.Errorf("RECADO_DEV_API_KEY: exit code %d, said %q", code, said)
	}
}

// An address works with the endings that people add to it.
func TestURLLosesItsEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/gateway/api/instances" {
			t.Errorf("asked %s", r.URL)
		}
		_, _ = io.WriteString(w, `{"data":[],"isLastPage":true}`) // as above
	}))
	t.Cleanup(server.Close)
	for _, end := range []string{"", "/", "/api", "/api/"} {
		if code, out, said := run(t, "", "--json", "instances", "list", "--api-key", "rcd_x", "--url", server.URL+"/gateway"+end); code != 0 || out != "[]\n" {
			t.Errorf("%q: exit code %d, printed %q, said %q", end, code, out, said)
		}
	}
}

// heard is the output of a command while it runs.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the output.
func (h *heard) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(text)
}

func (h *heard) contains(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(h.text.String(), text)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// A person who waits sees what for, and can stop it.
func TestWaitingIsSaidAndCanBeEnded(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var said heard
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, []string{"qr", "shop", "--api-key", "rcd_x", "--url", silent.URL},
			strings.NewReader(""), io.Discard, &said)
	}()
	testkit.Await(t, "a word about the wait", func() bool {
		return said.contains("waiting for " + strings.TrimPrefix(silent.URL, "http://"))
	})
	interrupt()
	select {
	case code := <-ended:
		if code != 130 || said.contains("recado: ") {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(time.Minute):
		t.Error("the command goes on")
	}
}
