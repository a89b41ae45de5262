// Package proxyserver has small proxies, for tests of what goes through one: SOCKS5 and
// HTTP, with and without credentials. They count what they carry. Only tests import it.
package proxyserver

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// Options change what a proxy does. The zero value takes everybody.
type Options struct {
	User, Password string // asked for where there is a user
	// Target is what is connected to, whatever a client asks for; empty: what it asks for.
	Target string
}

// Proxy is a running proxy. It ends with its test.
type Proxy struct {
	options  Options
	scheme   string
	listener net.Listener
	serve    func(p *Proxy, client net.Conn) (target string, answer func(ok bool) error, err error)
	running  sync.WaitGroup

	mu      sync.Mutex
	asked   []string
	conns   map[net.Conn]struct{}
	carried int64
	closed  bool
}

// SOCKS starts a SOCKS5 proxy.
func SOCKS(tb testing.TB, options Options) *Proxy {
	tb.Helper()
	return start(tb, listen(tb), "socks5h", options, serveSOCKS)
}

// HTTP starts an HTTP proxy.
func HTTP(tb testing.TB, options Options) *Proxy {
	tb.Helper()
	return start(tb, listen(tb), "http", options, serveHTTP)
}

// HTTPOn starts an HTTP proxy on a listener, for example one for TLS.
func HTTPOn(tb testing.TB, listener net.Listener, options Options) *Proxy {
	tb.Helper()
	return start(tb, listener, "https", options, serveHTTP)
}

// Relay starts what stands at a server's place, and passes on whatever comes: it counts who
// comes straight there.
func Relay(tb testing.TB, target string) *Proxy {
	tb.Helper()
	return start(tb, listen(tb), "http", Options{}, func(*Proxy, net.Conn) (string, func(bool) error, error) {
		return target, func(bool) error { return nil }, nil
	})
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return listener
}

func start(tb testing.TB, listener net.Listener, scheme string, options Options,
	serve func(*Proxy, net.Conn) (string, func(bool) error, error),
) *Proxy {
	tb.Helper()
	p := &Proxy{options: options, scheme: scheme, listener: listener, serve: serve, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	tb.Cleanup(p.Close)
	return p
}

// URL is the proxy's URL with its credentials.
func (p *Proxy) URL() string { return p.URLAs(p.scheme, p.options.User, p.options.Password) }

// URLAs is the proxy's URL with another scheme, or other credentials.
func (p *Proxy) URLAs(scheme, user, password string) string {
	address := url.URL{Scheme: scheme, Host: p.listener.Addr().String()}
	if user != "" {
		address.User = url.UserPassword(user, password)
	}
	return address.String()
}

// Asked returns the addresses that clients have asked for, in order.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// Carried returns how many bytes have gone through, both ways.
func (p *Proxy) Carried() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.carried
}

// Close ends the proxy with all its connections. It may be called again.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	_ = p.listener.Close()
	for conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

// hold keeps a connection until Close, and reports whether the proxy still runs.
func (p *Proxy) hold(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return false
	}
	p.conns[conn] = struct{}{}
	return true
}

func (p *Proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	_ = conn.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.hold(client) {
			p.running.Go(func() { p.carry(client) })
		}
	}
}

// carry serves one client.
func (p *Proxy) carry(client net.Conn) {
	defer p.drop(client)
	target, answer, err := p.serve(p, client)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, target)
	p.mu.Unlock()
	if p.options.Target != "" {
		target = p.options.Target
	}
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", target)
	if answerErr := answer(err == nil); err != nil || answerErr != nil {
		if err == nil {
			_ = server.Close()
		}
		return
	}
	if !p.hold(server) {
		return
	}
	defer p.drop(server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client) })
	both.Go(func() { p.copy(client, server) })
	both.Wait()
}

// copy passes bytes on until one side has ended.
func (p *Proxy) copy(to, from net.Conn) {
	n, _ := io.Copy(to, from)
	p.mu.Lock()
	p.carried += n
	p.mu.Unlock()
	_, _ = to.Close(), from.Close()
}

var errRefused = errors.New("refused")

// serveSOCKS reads what a SOCKS5 client asks for (RFC 1928, RFC 1929).
func serveSOCKS(p *Proxy, client net.Conn) (target string, answer func(bool) error, err error) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(client, b)
		}
		return b
	}
	say := func(b ...byte) {
		if err == nil {
			_, err = client.Write(b)
		}
	}
	methods := read(int(read(2)[1]))
	switch {
	case p.options.User == "":
		say(5, 0)
	case slices.Contains(methods, 2):
		say(5, 2)
		user := read(int(read(2)[1]))
		password := read(int(read(1)[0]))
		if string(user) != p.options.User || string(password) != p.options.Password {
			say(1, 1)
			return "", nil, errRefused
		}
		say(1, 0)
	default:
		say(5, 0xff)
		return "", nil, errRefused
	}
	var host string
	switch kind := read(4)[3]; kind {
	case 1:
		host = net.IP(read(4)).String()
	case 4:
		host = net.IP(read(16)).String()
	default:
		host = string(read(int(read(1)[0])))
	}
	port := binary.BigEndian.Uint16(read(2))
	return net.JoinHostPort(host, strconv.Itoa(int(port))), func(ok bool) error {
		reply := []byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}
		if !ok {
			reply[1] = 5 // refused
		}
		say(reply...)
		return err
	}, err
}

// serveHTTP reads what a client of an HTTP proxy asks for.
func serveHTTP(p *Proxy, client net.Conn) (string, func(bool) error, error) {
	request, err := http.ReadRequest(bufio.NewReader(client))
	if err != nil {
		return "", nil, err
	}
	say := func(status string) error {
		_, err := io.WriteString(client, "HTTP/1.1 "+status+"\r\n\r\n")
		return err
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.options.User+":"+p.options.Password))
	switch {
	case p.options.User != "" && request.Header.Get("Proxy-Authorization") != want:
		return "", nil, errors.Join(errRefused, say("407 Proxy Authentication Required"))
	case request.Method != http.MethodConnect:
		return "", nil, errors.Join(errRefused, say("405 Method Not Allowed"))
	}
	return request.Host, func(ok bool) error {
		if ok {
			return say("200 Connection established")
		}
		return say("502 Bad Gateway")
	}, nil
}
