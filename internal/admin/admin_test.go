package admin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/admin"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves until the test ends, and returns the address.
func start(t *testing.T, listen string, ready error) (base string, stop func()) {
	t.Helper()
	l, err := admin.New(t.Context(), admin.Config{
		Listen: listen, Logger: slog.New(slog.DiscardHandler), Ready: func(context.Context) error { return ready },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics\n") }),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := errors.Join(<-ended, l.Close()); err != nil {
			t.Errorf("it ended with %v", err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
}

func ask(t *testing.T, url string, header http.Header) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	request.Host = header.Get("Host")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

func TestPages(t *testing.T) {
	t.Parallel()
	base, _ := start(t, "127.0.0.1:0", nil)
	sick, _ := start(t, "127.0.0.1:0", fmt.Errorf("ping: %w", errors.New("no route to 10.0.0.1")))
	ending, _ := start(t, "127.0.0.1:0", gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "stopping"))
	for _, c := range []struct {
		url    string
		status int
		says   string
	}{
		{base + "/metrics", 200, "metrics"},
		{base + "/healthz", 200, "alive"},
		{base + "/readyz", 200, "ready"},
		{base + "/debug/pprof/", 200, ""},
		{base + "/debug/pprof/goroutine?debug=1", 200, ""},
		{base + "/debug/pprof/cmdline", 404, ""}, // it may hold a password
		{base + "/elsewhere", 404, ""},
		{sick + "/healthz", 200, "alive"},
		{sick + "/readyz", 503, "the database does not answer, or takes no writes"},
		{ending + "/readyz", 503, "stopping"},
	} {
		status, said := ask(t, c.url, http.Header{})
		if status != c.status || c.says != "" && said != c.says {
			t.Errorf("%s answers %d %q", c.url, status, said)
		}
	}
}

// There is no password, so a page in the operator's browser must not read what is here.
func TestWebPagesAreKeptAway(t *testing.T) {
	t.Parallel()
	base, _ := start(t, "127.0.0.1:0", nil)
	for name, c := range cases.Sorted(map[string]struct {
		header http.Header
		status int
	}{
		"by address":         {http.Header{}, 200},
		"by name":            {http.Header{"Host": {"localhost:9090"}}, 200},
		"typed":              {http.Header{"Sec-Fetch-Site": {"none"}}, 200},
		"a link on it":       {http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
		"a foreign page":     {http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		"a neighbour's page": {http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		"a name turned here": {http.Header{"Host": {"rebound.example:9090"}}, 403},
	}) {
		if status, said := ask(t, base+"/debug/pprof/heap?debug=1", c.header); status != c.status {
			t.Errorf("%s: answered %d %.60s", name, status, said)
		}
	}
	// Where others may reach it, they have names for it.
	wide, _ := start(t, "0.0.0.0:0", nil)
	if status, _ := ask(t, strings.Replace(wide, "[::]", "127.0.0.1", 1)+"/metrics", http.Header{"Host": {"recado-1.internal:9090"}}); status != 200 {
		t.Errorf("beyond loopback a name of the network is answered %d", status)
	}
}

// A profile that runs does not keep the program from stopping.
func TestStopCutsProfiles(t *testing.T) {
	t.Parallel()
	base, stop := start(t, "127.0.0.1:0", nil)
	begun := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		close(begun)
		_, _ = ask(t, base+"/debug/pprof/trace?seconds=600", http.Header{})
	}()
	<-begun
	stop()
	<-ended
}

func TestAddressIsTaken(t *testing.T) {
	t.Parallel()
	base, _ := start(t, "127.0.0.1:0", nil)
	_, err := admin.New(t.Context(), admin.Config{
		Listen: strings.TrimPrefix(base, "http://"), Metrics: http.NotFoundHandler(),
		Ready: func(context.Context) error { return nil }, Logger: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		t.Error("it listens at an address that is taken")
	}
}
