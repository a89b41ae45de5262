package gateway_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestParseProxy(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]struct{ url, masked string }{
		"\u200bsocks5://proxy.example.org\u200b":   {"socks5://proxy.example.org:1080", "socks5://proxy.example.org:1080"},
		"socks5://proxy.example.org":               {"socks5://proxy.example.org:1080", "socks5://proxy.example.org:1080"},
		"SOCKS5H://10.0.0.1:9050/":                 {"socks5h://10.0.0.1:9050", "socks5h://10.0.0.1:9050"},
		"http://[2001:db8::1]":                     {"http://[2001:db8::1]:80", "http://[2001:db8::1]:80"},
		"https://ana:segredo@proxy.example.org":    {"https://ana:segredo@proxy.example.org:443", "https://ana:***@proxy.example.org:443"},
		"socks5://ana@proxy.example.org:1":         {"socks5://ana@proxy.example.org:1", "socks5://ana@proxy.example.org:1"},
		"socks5://ana:@proxy.example.org:1":        {"socks5://ana:@proxy.example.org:1", "socks5://ana:@proxy.example.org:1"},
		"socks5h://a%3Ab:p%40ss%2Fw%C3%A3@h:65535": {"socks5h://a%3Ab:p%40ss%2Fw%C3%A3@h:65535", "socks5h://a%3Ab:***@h:65535"},
	}) {
		got, err := gateway.ParseProxy(text)
		if err != nil || string(got) != want.url || got.Masked() != want.masked {
			t.Errorf("%s: %q, masked %s (%v), want %+v", text, string(got), got, err, want)
		}
	}
	long := strings.Repeat("x", 256)
	for text, says := range cases.Sorted(map[string]string{
		"": "must begin", "proxy.example.org:1080": "must begin", "ftp://h": "must begin", "socks4://h": "must begin", "//h": "must begin",
		"socks5:h:1": "host", "socks5://": "host", "http://:3128": "host", "http://ana:segredo@": "host", "http://h h": "must be a URL", "http://ação": "host",
		"http://h:0": "port", "http://h:65536": "port", "http://h:x": "must be a URL", "http://h:-1": "must be a URL",
		"http://h/path": "nothing after", "http://h?q": "nothing after", "http://h?": "nothing after", "http://h#f": "nothing after", "http://h#": "nothing after",
		"http://:segredo@h": "user name", "socks5://ana:***@h": "itself", "http://a%3Ab:segredo@h": "colon",
		"socks5://" + long + ":segredo@h": "255", "socks5://ana:" + long + "@h": "255", "http://ana:segredo%0d%0aX@h": "control",
		"http://" + strings.Repeat("h", 3000): "too long", "http://ana:seg%zzredo@h": "must be a URL", "http://ana:segredo@[::1": "must be a URL",
		"http://[fe80::1%25eth0]:80": "host",
	}) {
		got, err := gateway.ParseProxy(text)
		if err == nil || !strings.Contains(err.Error(), says) || got != "" {
			t.Errorf("%s: %q, %v; want one that says %s", text, string(got), err, says)
		}
		if err != nil && strings.Contains(err.Error(), "segredo") {
			t.Errorf("%s: the error has the password: %v", text, err)
		}
	}
}

// No text that is made of a proxy, or of what holds one, has its password.
func TestProxyIsMasked(t *testing.T) {
	t.Parallel()
	proxy, err := gateway.ParseProxy("http://ana:segredo@proxy.example.org:3128")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("a line", slog.Any("proxy", proxy), slog.Any("instance", gateway.Instance{Proxy: proxy}))
	for _, text := range []string{log.String(), proxy.String(), fmt.Sprintf("%s %v %+v", proxy, proxy, gateway.Instance{Proxy: proxy})} {
		if strings.Contains(text, "segredo") || !strings.Contains(text, "ana:***@proxy.example.org:3128") {
			t.Error(text)
		}
	}
	if password, _ := proxy.URL().User.Password(); password != "segredo" {
		t.Errorf("the password is %q", password)
	}
	if none := gateway.Proxy(""); none.URL() != nil || none.Masked() != "" {
		t.Errorf("no proxy is %v, %q", none.URL(), none.Masked())
	}
}

func FuzzParseProxy(f *testing.F) {
	for _, seed := range []string{"socks5h://ana:segredo@proxy.example.org:1080", "http://[::1]:80/", "https://a%3A:@h", "socks5:opaque", "http://a:***@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		proxy, err := gateway.ParseProxy(text)
		if err != nil {
			if proxy != "" {
				t.Errorf("refused, and %q all the same", string(proxy))
			}
			return
		}
		again, err := gateway.ParseProxy(string(proxy))
		if err != nil || again != proxy {
			t.Errorf("%q is read as %q (%v)", string(proxy), string(again), err)
		}
		address := proxy.URL()
		if address == nil || address.Port() == "" || address.Hostname() == "" {
			t.Fatalf("%q has no address", string(proxy))
		}
		password, set := address.User.Password()
		if masked := proxy.Masked(); set && password != "" && !strings.Contains(masked, ":***@") || masked == "" {
			t.Errorf("%q is masked as %q", string(proxy), masked)
		}
		if _, err := gateway.ParseProxy(proxy.Masked()); set && password != "" && err == nil {
			t.Errorf("the masked form of %q is taken", string(proxy))
		}
	})
}
