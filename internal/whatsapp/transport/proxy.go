// Connections through the proxy of an instance.

package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"golang.org/x/net/proxy"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// proxyTimeout bounds the way through a proxy: its name, TCP, TLS, and its own
	// connection to the platform.
	proxyTimeout = 15 * time.Second
	// maxProxyAnswer bounds the answer of an HTTP proxy.
	maxProxyAnswer = 64 << 10
)

// Guard allows a program to connect to an address, or refuses it (net.Dialer, Control).
type Guard func(network, address string, conn syscall.RawConn) error

// NewProxyClient makes the client of a session that has a proxy of its own. Each of its
// connections goes through the proxy or fails, with a *gateway.ProxyError: the proxies of
// the environment do not matter. guard allows the proxy's address; nil allows all.
func NewProxyClient(platformURL string, through gateway.Proxy, guard Guard) (*http.Client, error) {
	t := newTunnel(through, guard)
	if t.proxy == nil {
		return nil, errors.New("transport: the proxy is not a URL")
	}
	return newClient(platformURL, t.dial)
}

// tunnel dials through a proxy.
type tunnel struct {
	proxy   *url.URL
	timeout time.Duration
	dialer  net.Dialer  // to the proxy
	tls     *tls.Config // to a proxy that is reached by https; nil: the system's
}

func newTunnel(through gateway.Proxy, guard Guard) *tunnel {
	t := &tunnel{proxy: through.URL(), timeout: proxyTimeout, dialer: net.Dialer{Timeout: dialTimeout}}
	if guard != nil {
		t.dialer.Control = func(network, address string, conn syscall.RawConn) error {
			if err := guard(network, address, conn); err != nil {
				return fmt.Errorf("%w: %w", gateway.ErrProxyForbidden, err)
			}
			return nil
		}
	}
	return t
}

// dial connects to an address through the proxy.
func (t *tunnel) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	switch t.proxy.Scheme {
	case gateway.ProxySOCKS, gateway.ProxySOCKSNames:
		return t.dialSOCKS(ctx, network, address)
	default:
		return t.dialHTTP(ctx, address)
	}
}

func unreachable(err error) error {
	return &gateway.ProxyError{Reason: gateway.ReasonProxyUnreachable, Err: err}
}

func refused(err error) error {
	return &gateway.ProxyError{Reason: gateway.ReasonProxyAuth, Err: err}
}

func noPlatform(err error) error {
	return &gateway.ProxyError{Reason: gateway.ReasonProxyPlatform, Err: err}
}

// dialSOCKS connects through a SOCKS proxy.
func (t *tunnel) dialSOCKS(ctx context.Context, network, address string) (net.Conn, error) {
	if t.proxy.Scheme == gateway.ProxySOCKS {
		var err error
		if address, err = lookUp(ctx, address); err != nil {
			return nil, noPlatform(err)
		}
	}
	var auth *proxy.Auth
	if user := t.proxy.User; user != nil {
		password, _ := user.Password()
		auth = &proxy.Auth{User: user.Username(), Password: password}
	}
	first := &witnessed{dialer: &t.dialer}
	socks, err := proxy.SOCKS5(network, t.proxy.Host, auth, first)
	if err != nil {
		return nil, unreachable(err)
	}
	dialer, ok := socks.(proxy.ContextDialer)
	if !ok {
		return nil, errors.New("transport: the SOCKS dialer takes no context")
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, first.explain(err)
	}
	return conn, nil
}

// lookUp replaces the host of an address by its own address.
func lookUp(ctx context.Context, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return address, nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", err
	}
	chosen := found[0]
	for _, one := range found { // proxies without IPv6 are more common than those without IPv4
		if one.Unmap().Is4() {
			chosen = one
			break
		}
	}
	return net.JoinHostPort(chosen.Unmap().String(), port), nil
}

// witnessed dials a SOCKS proxy, and sees the beginning of what it answers: the library
// says only in words at which step it failed.
type witnessed struct {
	dialer *net.Dialer
	conn   *witnessedConn // nil: the proxy was not reached
}

// Dial is never called, because there is a context.
func (w *witnessed) Dial(network, address string) (net.Conn, error) {
	return w.DialContext(context.Background(), network, address)
}

// DialContext dials the proxy.
func (w *witnessed) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.conn = &witnessedConn{Conn: conn}
	return w.conn, nil
}

// The bytes of SOCKS (RFC 1928 and 1929) that say what the proxy makes of credentials.
const (
	socksVersion  = 5
	socksPassword = 2    // the method that asks for them
	socksNoMethod = 0xff // it takes none of those that were offered
)

// explain says at which step the library's error came.
func (w *witnessed) explain(err error) error {
	if w.conn == nil {
		return unreachable(err)
	}
	answer := w.conn.seen[:w.conn.count]
	switch {
	case len(answer) < 2 || answer[0] != socksVersion:
		return unreachable(fmt.Errorf("it does not answer as a SOCKS proxy: %w", err))
	case answer[1] == socksNoMethod, answer[1] == socksPassword && (len(answer) < 4 || answer[3] != 0):
		return refused(err)
	default:
		return noPlatform(err)
	}
}

// witnessedConn keeps the first bytes that it reads.
type witnessedConn struct {
	net.Conn

	seen  [4]byte
	count int
}

// Read reads the next bytes. Only one goroutine reads at a time.
func (c *witnessedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.count < len(c.seen) {
		c.count += copy(c.seen[c.count:], p[:n])
	}
	return n, err
}

// dialHTTP connects through an HTTP proxy. net/http can do that as well, but it names the
// host of the request to the proxy, where the platform may be elsewhere, and it says only in
// words at which step it failed.
func (t *tunnel) dialHTTP(ctx context.Context, address string) (_ net.Conn, err error) {
	conn, err := t.dialer.DialContext(ctx, "tcp", t.proxy.Host)
	if err != nil {
		return nil, unreachable(err)
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	if t.proxy.Scheme == gateway.ProxyHTTPS {
		secure := t.tls.Clone()
		if secure == nil {
			secure = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		secure.ServerName = t.proxy.Hostname()
		client := tls.Client(conn, secure)
		if err := client.HandshakeContext(ctx); err != nil {
			return nil, unreachable(err)
		}
		conn = client
	}
	// The end of ctx ends the exchange, however the proxy dawdles.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	rest, err := t.connect(conn, address)
	if !stop() && err == nil {
		err = noPlatform(ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return rest, nil
}

// connect asks an HTTP proxy for a connection, and returns it.
func (t *tunnel) connect(conn net.Conn, address string) (net.Conn, error) {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	request.Header.Set("User-Agent", "") // none: what this program is does not concern the proxy
	if user := t.proxy.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return nil, unreachable(err)
	}
	read := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	answer, err := http.ReadResponse(read, request) //nolint:bodyclose // what follows is the connection, or is closed with it
	if err != nil {
		return nil, unreachable(fmt.Errorf("it does not answer as an HTTP proxy: %w", err))
	}
	switch {
	case answer.StatusCode == http.StatusProxyAuthRequired, answer.StatusCode == http.StatusUnauthorized:
		return nil, refused(fmt.Errorf("it answered %d", answer.StatusCode))
	case answer.StatusCode != http.StatusOK:
		return nil, noPlatform(fmt.Errorf("it answered %d", answer.StatusCode))
	case read.Buffered() > 0:
		// The platform says nothing before it is asked.
		return nil, noPlatform(errors.New("it sent more than an answer"))
	}
	return conn, nil
}
