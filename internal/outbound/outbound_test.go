package outbound_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	denied, err := outbound.ParsePrefixes([]string{"8.8.4.0/24", "2001:4860:4860::8844", "9.9.9.9"})
	if err != nil {
		t.Fatal(err)
	}
	guard := outbound.NewGuard(denied)
	for address, want := range cases.Sorted(map[string]bool{
		"1.1.1.1": true, "2606:4700:4700::1111": true, "8.8.8.8": true, "2001:4860:4860::8888": true, "9.9.9.10": true,

		// Services of clouds for their own machines.
		"169.254.169.254": false, // most of them
		"169.254.170.2":   false, // AWS, for containers
		"fd00:ec2::254":   false, // AWS
		"fd20:ce::254":    false, // Google
		"168.63.129.16":   false, // Azure
		"100.100.100.200": false, // Alibaba
		"192.0.0.192":     false, // Oracle
		"161.26.0.10":     false, // IBM
		"166.9.12.1":      false, // IBM

		// Private addresses, in several notations.
		"127.0.0.1": false, "127.1.2.3": false, "0.0.0.0": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"100.64.0.1": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fc00::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:168.63.129.16": false, "64:ff9b::a9fe:a9fe": false, "2002:7f00:1::": false, "2001::1": false,

		// Denied by the operator.
		"8.8.4.4": false, "2001:4860:4860::8844": false, "9.9.9.9": false,
	}) {
		if got := guard.Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: allowed %t, want %t", address, got, want)
		}
		err := guard.Control("tcp4", net.JoinHostPort(address, "80"), nil)
		if strings.Contains(address, ":") {
			err = guard.Control("tcp6", net.JoinHostPort(address, "80"), nil)
		}
		if (err == nil) != want || (err != nil && !errors.Is(err, outbound.ErrForbidden)) {
			t.Errorf("%s: dialling says %v, want allowed %t", address, err, want)
		}
	}
	if !(*outbound.Guard)(nil).Allows(netip.MustParseAddr("127.0.0.1")) {
		t.Error("no guard forbids something")
	}
}

func TestParsePrefixes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "1.2.3", "1.2.3.4/33", "1.2.3.4/", "example.com"} {
		if got, err := outbound.ParsePrefixes([]string{text}); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	noise, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = noise.Close() })
	go func() {
		for conn, err := noise.Accept(); err == nil; conn, err = noise.Accept() {
			_, _ = conn.Write([]byte("220 mail.example ESMTP\r\n"))
			_ = conn.Close()
		}
	}()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	dial := func(cause error) error { return &net.OpError{Op: "dial", Err: cause} }
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	get := func(url string) error {
		response, err := client.Get(url)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{get(closed.URL), "its host refused the connection (is it listening on that port?)"},
		{get(strings.Replace(plain.URL, "http:", "https:", 1)), "its host does not speak TLS on that port"},
		{get("https://" + noise.Addr().String()), "its host does not speak TLS on that port"},
		{&net.DNSError{IsNotFound: true}, "its host does not exist"},
		{&net.DNSError{IsTimeout: true}, "its host can't be looked up"},
		{dial(os.ErrDeadlineExceeded), "its host did not take the connection in time"},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "there is no route to its host"},
		{dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), "there is no route to its host"},
		{dial(errors.New("something")), "its host can't be reached"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ""},
	} {
		if c.err == nil {
			t.Fatalf("no error, want one that is explained as %q", c.want)
		}
		if got := outbound.Explain(c.err); got != c.want {
			t.Errorf("%v is explained as %q, want %q", c.err, got, c.want)
		}
	}
}
