// What may be between a program and its database: something that counts how often the program
// waits, something that looks like a pooler, and a network that forgets connections.

package postgres

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// proxy passes on what a client and a server say to each other.
type proxy struct {
	network, server string
	edit            func(said []byte) // changes what the server says; nil: nothing is changed
	trips           atomic.Int64
	running         sync.WaitGroup

	mu                 sync.Mutex
	closed             bool
	conns              map[net.Conn]bool // that are open, of both sides
	clients, forgotten map[net.Conn]bool // those of clients, and those of both sides that carry nothing any more
}

// RoundTrips returns the URL of a proxy before the database of Start or StartOwn, and a
// function that says how many round trips all connections through it have made so far. What
// a client writes until the server answers, and that answer, are one round trip, however
// many statements they hold. The proxy ends with the test.
func RoundTrips(tb testing.TB, database string) (through string, count func() int64) {
	tb.Helper()
	p := &proxy{conns: map[net.Conn]bool{}}
	return p.start(tb, database), p.trips.Load
}

// Pooler returns the URL of a proxy before the database of Start or StartOwn that a client can
// tell from the server by what a pooler of connections does as well: it says that it has
// another process identifier than the server says later. The proxy ends with the test.
func Pooler(tb testing.TB, database string) (through string) {
	tb.Helper()
	// BackendKeyData: its kind, its length, and then the process.
	begin := []byte{'K', 0, 0, 0, 12}
	p := &proxy{conns: map[net.Conn]bool{}, edit: func(said []byte) {
		if at := bytes.Index(said, begin); at >= 0 && at+len(begin) < len(said) {
			said[at+len(begin)] ^= 1
		}
	}}
	return p.start(tb, database)
}

// Forgetful returns the URL of a proxy before the database of Start or StartOwn, and two functions.
// After silence, all connections that there are carry nothing any more, and are never closed; after cut,
// they carry nothing, and only the client sees the end of them. New ones work. The proxy ends with the test.
func Forgetful(tb testing.TB, database string) (through string, silence, cut func()) {
	tb.Helper()
	p := &proxy{conns: map[net.Conn]bool{}, clients: map[net.Conn]bool{}, forgotten: map[net.Conn]bool{}}
	forget := func(end bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for conn := range p.conns {
			p.forgotten[conn] = true
			if end && p.clients[conn] {
				_ = conn.Close() // the client may have closed it
			}
		}
	}
	return p.start(tb, database), func() { forget(false) }, func() { forget(true) }
}

// start takes clients until the test ends, and returns the URL for them.
func (p *proxy) start(tb testing.TB, database string) (through string) {
	tb.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // short: the path of a socket is limited
	if err != nil {
		tb.Fatal(err)
	}
	p.network, p.server = pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "unix", filepath.Join(dir, filepath.Base(p.server)))
	if err != nil {
		tb.Fatal(errors.Join(err, os.RemoveAll(dir)))
	}
	p.running.Go(func() { p.listen(listener) })
	tb.Cleanup(func() {
		err := listener.Close()
		p.close()
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			tb.Errorf("stop the proxy: %v", err)
		}
	})
	parsed, err := url.Parse(database)
	if err != nil {
		tb.Fatal(err)
	}
	parsed.RawQuery = url.Values{"host": {dir}}.Encode()
	return parsed.String()
}

// listen takes clients until the listener is closed.
func (p *proxy) listen(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.server) //nolint:noctx // a socket of this machine
		if err != nil {
			_ = client.Close() // the client sees that there is no server
			continue
		}
		p.join(client, server)
	}
}

// join connects a client with a server until one of them ends the connection.
func (p *proxy) join(client, server net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_, _ = client.Close(), server.Close()
		return
	}
	p.conns[client], p.conns[server] = true, true
	if p.clients != nil {
		p.clients[client] = true
	}
	var asked atomic.Bool
	p.running.Go(func() { p.pass(server, client, func([]byte) { asked.Store(true) }) })
	p.running.Go(func() {
		p.pass(client, server, func(part []byte) {
			if p.edit != nil {
				p.edit(part)
			}
			if asked.Swap(false) {
				p.trips.Add(1)
			}
		})
	})
}

// pass copies what one side says to the other, and calls said for each part of it before it
// arrives. At the end it closes both.
func (p *proxy) pass(to, from net.Conn, said func(part []byte)) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if p.isForgotten(from) && err == nil {
			continue
		}
		if n > 0 {
			said(buffer[:n])
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			break // a side has gone, mostly as it should
		}
	}
	if p.isForgotten(from) {
		return // until the test ends
	}
	_, _ = from.Close(), to.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
	delete(p.conns, to)
}

func (p *proxy) isForgotten(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forgotten[conn]
}

// close ends all connections, and waits until nothing runs any more.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	for conn := range p.conns {
		_ = conn.Close() // its other side may have closed it
	}
	p.mu.Unlock()
	p.running.Wait()
}
