package gateway_test

import (
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[string]string{
		"https://example.org/a":                     "https://example.org/a",
		" \t\u200bhttps://example.org/a\n":          "https://example.org/a",
		"http://example.org/get?file=foto 1.jpg":    "http://example.org/get?file=foto%201.jpg",
		"http://example.org/hook?loja=São Paulo":    "http://example.org/hook?loja=S%C3%A3o%20Paulo",
		"http://example.org/a b?c=%20d":             "http://example.org/a%20b?c=%20d",
		"https://example.org/?sig=a%2Fb+c/d=&x={1}": "https://example.org/?sig=a%2Fb+c/d=&x=%7B1%7D",
		"HTTPS://Example.org":                       "https://Example.org",
		"ftp://example.org/a":                       "",
		"//example.org/a":                           "",
		"/a":                                        "",
		"":                                          "",
		"https://":                                  "",
		"https://exa mple.org/":                     "",
		"javascript:alert(1)":                       "",
		"https://example.org/%zz":                   "https://example.org/%25zz",
		"https://example.org/100%.jpg?at=5%&a=%2":   "https://example.org/100%25.jpg?at=5%25&a=%252",
		"https://example.org/%%41":                  "https://example.org/%25%41",
		"https://exam%ple.org/":                     "",
		"data:text/plain;base64,aGk=":               "",
	}) {
		got := ""
		if address, ok := gateway.ParseURL(text); ok {
			got = address.String()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add(" https://example.org/a b?c=d e\x00#f ")
	f.Fuzz(func(t *testing.T, text string) {
		address, ok := gateway.ParseURL(text)
		if !ok {
			return
		}
		again, ok := gateway.ParseURL(address.String())
		if !ok || again.RawQuery != address.RawQuery || again.Host != address.Host {
			t.Errorf("%q is %q, and that is %q (%v)", text, address, again, ok)
		}
	})
}
