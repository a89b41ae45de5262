package transport

import (
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
)

// A websocket is begun directly and through a proxy, and the platform's clock is told.
func TestHandshake(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != websocketPath || r.Header.Get("Upgrade") != "websocket" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + websocketGUID))
		for name, value := range cases.Sorted(map[string]string{
			"Date": clock.Format(http.TimeFormat), "Connection": "Upgrade", "Upgrade": "websocket",
			"Sec-WebSocket-Accept": base64.StdEncoding.EncodeToString(sum[:]),
		}) {
			w.Header().Set(name, value)
		}
		w.WriteHeader(http.StatusSwitchingProtocols)
	}))
	t.Cleanup(server.Close)
	address := "ws://" + server.Listener.Addr().String()
	direct, err := NewClient(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := proxyserver.SOCKS(t, proxyserver.Options{})
	for name, client := range cases.Sorted(map[string]*http.Client{"direct": direct, "proxy": newProxied(t, address, proxy.URL(), nil)}) {
		if told, err := Handshake(t.Context(), client); err != nil || !told.Equal(clock) {
			t.Errorf("%s: %v, %v", name, told, err)
		}
	}
	if len(proxy.Asked()) != 1 {
		t.Errorf("the proxy was asked for %v", proxy.Asked())
	}
}

// Something else than the platform, and a proxy that does not answer, are told apart.
func TestHandshakeFails(t *testing.T) {
	t.Parallel()
	page := newPlatform(t, false)
	client, err := NewClient(page.address())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Handshake(t.Context(), client); err == nil || !strings.Contains(err.Error(), "it answers 200") {
		t.Errorf("a page: %v", err)
	}
	gone := proxyserver.SOCKS(t, proxyserver.Options{})
	gone.Close()
	if _, err := Handshake(t.Context(), newProxied(t, page.address(), gone.URL(), nil)); err == nil {
		t.Error("there is no proxy, and no error")
	} else if failed, ok := errors.AsType[*gateway.ProxyError](err); !ok || failed.Reason != gateway.ReasonProxyUnreachable {
		t.Errorf("without the proxy: %v", err)
	}
}
