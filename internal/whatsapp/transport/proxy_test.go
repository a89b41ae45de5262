package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
)

// detour is the proxy of the environment: what it gets went past an instance's own.
//
//nolint:gochecknoglobals // net/http reads the environment once for all tests
var detour atomic.Int64

func TestMain(m *testing.M) {
	environment := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		detour.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		_ = os.Setenv(name, environment.URL)
	}
	code := m.Run()
	environment.Close()
	os.Exit(code)
}

// platform is a server whose connections are counted.
type platform struct {
	*httptest.Server

	conns atomic.Int64
}

func newPlatform(t *testing.T, secure bool) *platform {
	t.Helper()
	p := &platform{}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "host "+r.Host)
	}))
	p.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			p.conns.Add(1)
		}
	}
	if secure {
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.Close)
	return p
}

// address is the platform's as --platform-url names it.
func (p *platform) address() string { return "ws://" + p.Listener.Addr().String() }

func newProxied(t *testing.T, platformURL, proxy string, guard Guard) *http.Client {
	t.Helper()
	parsed, err := gateway.ParseProxy(proxy)
	if err != nil {
		t.Fatal(err)
	}
	client, err := NewProxyClient(platformURL, parsed, guard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func get(t *testing.T, client *http.Client, url string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return string(content), err
}

// A platform elsewhere is what the proxy is asked for, whatever host the client names.
func TestProxyCarries(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "se:gr@do/ ã"} {
		options := proxyserver.Options{Password: password}
		if password != "" {
			options.User = "ana"
		}
		for name, proxy := range cases.Sorted(map[string]*proxyserver.Proxy{
			"SOCKS": proxyserver.SOCKS(t, options), "HTTP": proxyserver.HTTP(t, options),
		}) {
			server := newPlatform(t, false)
			client := newProxied(t, server.address(), proxy.URL(), nil)
			if got, err := get(t, client, "https://mmg.whatsapp.net/file"); err != nil || got != "host mmg.whatsapp.net" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			if err := Check(t.Context(), client); err != nil {
				t.Errorf("%s: checked: %v", name, err)
			}
			if asked := proxy.Asked(); len(asked) == 0 || asked[0] != server.Listener.Addr().String() || int64(len(asked)) != server.conns.Load() {
				t.Errorf("%s: asked for %v, and %d connections came", name, asked, server.conns.Load())
			}
		}
	}
}

// The names of the messenger's own hosts are looked up by the proxy, with socks5 here.
func TestProxyLooksUp(t *testing.T) {
	t.Parallel()
	server := newPlatform(t, true)
	own := server.Client().Transport.(*http.Transport).TLSClientConfig
	for scheme, want := range cases.Sorted(map[string]string{"socks5h": "example.com:443", "http": "example.com:443", "socks5": "127.0.0.1:443"}) {
		options := proxyserver.Options{Target: server.Listener.Addr().String()}
		proxy := proxyserver.SOCKS(t, options)
		if scheme == "http" {
			proxy = proxyserver.HTTP(t, options)
		}
		client := newProxied(t, "", proxy.URLAs(scheme, "", ""), nil)
		client.Transport.(*http.Transport).TLSClientConfig = own // which trusts the server as example.com
		host := "example.com"
		if scheme == "socks5" {
			host = "localhost" // its certificate is not for that, but the name is looked up before
		}
		got, err := get(t, client, "https://"+host+"/")
		if scheme != "socks5" && (err != nil || got != "host example.com") {
			t.Errorf("%s: %q, %v", scheme, got, err)
		}
		if asked := proxy.Asked(); !slices.Equal(asked, []string{want}) {
			t.Errorf("%s: the proxy was asked for %v, want %s", scheme, asked, want)
		}
	}
}

// A proxy that is reached by https has to prove its name.
func TestProxyByTLS(t *testing.T) {
	t.Parallel()
	server, certified := newPlatform(t, false), newPlatform(t, true)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", certified.TLS)
	if err != nil {
		t.Fatal(err)
	}
	proxy := proxyserver.HTTPOn(t, listener, proxyserver.Options{User: "ana", Password: "segredo"})
	err = Check(t.Context(), newProxied(t, server.address(), proxy.URL(), nil))
	wantReason(t, "not trusted", err, gateway.ReasonProxyUnreachable)
	parsed, err := gateway.ParseProxy(proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	trusting := newTunnel(parsed, nil)
	trusting.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if err := check(t, server.address(), trusting); err != nil {
		t.Error(err)
	}
}

func check(t *testing.T, platformURL string, through *tunnel) error {
	t.Helper()
	client, err := newClient(platformURL, through.dial)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	return Check(t.Context(), client)
}

func wantReason(t *testing.T, name string, err error, want gateway.Reason) {
	t.Helper()
	failure, ok := errors.AsType[*gateway.ProxyError](err)
	if !ok || failure.Reason != want {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
	if err != nil && strings.Contains(err.Error(), "segredo") {
		t.Errorf("%s: the error has the password: %v", name, err)
	}
}

// A connection that fails says at which step, and none goes past the proxy.
func TestProxyFailures(t *testing.T) {
	t.Parallel()
	server := newPlatform(t, false)
	gone, gonePlatform := newPlatform(t, false), newPlatform(t, false)
	gone.Close()
	gonePlatform.Close()
	locked := proxyserver.Options{User: "ana", Password: "segredo"}
	socks, web := proxyserver.SOCKS(t, locked), proxyserver.HTTP(t, locked)
	page, strange, silent := newPlatform(t, false), newPlatform(t, true), newSilent(t)
	for name, c := range cases.Sorted(map[string]struct {
		platform, proxy string
		want            gateway.Reason
	}{
		"SOCKS, nobody listens":           {server.address(), "socks5://ana:segredo@" + gone.Listener.Addr().String(), gateway.ReasonProxyUnreachable},
		"HTTP, nobody listens":            {server.address(), "http://ana:segredo@" + gone.Listener.Addr().String(), gateway.ReasonProxyUnreachable},
		"HTTPS, no TLS":                   {server.address(), web.URLAs("https", "ana", "segredo"), gateway.ReasonProxyUnreachable},
		"SOCKS, another password":         {server.address(), socks.URLAs("socks5h", "ana", "xsegredo"), gateway.ReasonProxyAuth},
		"HTTP, another password":          {server.address(), web.URLAs("http", "ana", "xsegredo"), gateway.ReasonProxyAuth},
		"SOCKS, no credentials":           {server.address(), socks.URLAs("socks5", "", ""), gateway.ReasonProxyAuth},
		"HTTP, no credentials":            {server.address(), web.URLAs("http", "", ""), gateway.ReasonProxyAuth},
		"SOCKS, no platform":              {gonePlatform.address(), socks.URL(), gateway.ReasonProxyPlatform},
		"HTTP, no platform":               {gonePlatform.address(), web.URL(), gateway.ReasonProxyPlatform},
		"SOCKS, a stranger's certificate": {"wss://" + strange.Listener.Addr().String(), socks.URL(), gateway.ReasonProxyPlatform},
		"HTTP, a stranger's certificate":  {"wss://" + strange.Listener.Addr().String(), web.URL(), gateway.ReasonProxyPlatform},
		"SOCKS, an HTTP server":           {server.address(), "socks5://" + page.Listener.Addr().String(), gateway.ReasonProxyUnreachable},
		"HTTP, a server without proxy":    {server.address(), "http://" + page.Listener.Addr().String(), gateway.ReasonProxyPlatform},
		"HTTP, the proxy is SOCKS":        {server.address(), socks.URLAs("http", "ana", "segredo"), gateway.ReasonProxyUnreachable},
		"SOCKS, no answer":                {server.address(), "socks5://" + silent, gateway.ReasonProxyUnreachable},
		"HTTP, no answer":                 {server.address(), "http://" + silent, gateway.ReasonProxyUnreachable},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := gateway.ParseProxy(c.proxy)
			if err != nil {
				t.Fatal(err)
			}
			impatient := newTunnel(parsed, nil)
			impatient.timeout = 2 * time.Second
			wantReason(t, name, check(t, c.platform, impatient), c.want)
		})
	}
	t.Cleanup(func() {
		if n := server.conns.Load(); n != 0 {
			t.Errorf("%d connections reached the platform", n)
		}
	})
}

// newSilent is an address that takes connections and says nothing.
func newSilent(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// A proxy at an address that the guard refuses gets no connection.
func TestProxyIsGuarded(t *testing.T) {
	t.Parallel()
	server := newPlatform(t, false)
	proxy := proxyserver.SOCKS(t, proxyserver.Options{})
	client := newProxied(t, server.address(), proxy.URL(), func(string, string, syscall.RawConn) error { return errors.New("private") })
	err := Check(t.Context(), client)
	wantReason(t, "guarded", err, gateway.ReasonProxyUnreachable)
	if !errors.Is(err, gateway.ErrProxyForbidden) || len(proxy.Asked()) != 0 {
		t.Errorf("%v, and the proxy was asked for %v", err, proxy.Asked())
	}
}

// A dead proxy is never gone around: not to the platform, and not through a proxy of the
// environment.
func TestDeadProxyIsNeverPassed(t *testing.T) {
	t.Parallel()
	const tries = 10_000
	server, gone := newPlatform(t, false), newPlatform(t, false)
	gone.Close()
	dead := gone.Listener.Addr().String()
	before := detour.Load()
	for _, scheme := range []string{"socks5", "socks5h", "http", "https"} {
		client := newProxied(t, server.address(), scheme+"://"+dead, nil)
		for range tries / 4 {
			if got, err := get(t, client, "https://web.whatsapp.com/ws/chat"); err == nil {
				t.Fatalf("%s: answered %q", scheme, got)
			}
		}
		if _, err := get(t, newProxied(t, "", scheme+"://"+dead, nil), "https://web.whatsapp.com/ws/chat"); err == nil {
			t.Errorf("%s: the messenger's own host answered", scheme)
		}
	}
	if direct, detours := server.conns.Load(), detour.Load()-before; direct != 0 || detours != 0 {
		t.Errorf("in %d tries, %d connections went straight to the platform and %d through the environment's proxy", tries, direct, detours)
	}
	// The counters count: without a proxy of its own the client goes straight there, and
	// to the messenger's own host through the environment's.
	client, err := NewClient(server.address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	if _, err := get(t, client, "https://web.whatsapp.com/ws/chat"); err != nil || server.conns.Load() != 1 {
		t.Errorf("%d connections were counted (%v)", server.conns.Load(), err)
	}
	if client, err = NewClient(""); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, client, "https://web.whatsapp.com/ws/chat"); err == nil || detour.Load() == before {
		t.Errorf("the environment's proxy was not asked (%v)", err)
	}
}
