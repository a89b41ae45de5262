package nodetest_test

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/sandbox"
)

// cable is a network connection between a node and something else, which can be pulled: then
// nothing comes through, and nobody is told, as when packets are dropped. It can also forget the
// connections that there are, as when what they lead to has moved: nothing comes through them any
// more, they are never closed, and new ones work.
type cable struct {
	network, target string
	listener        net.Listener
	working         sync.WaitGroup

	mu      sync.Mutex
	pulled  bool
	changed *sync.Cond
	closed  bool
	conns   map[net.Conn]bool // false for those that are forgotten
	// sessions are those of conns, and of ones that have ended, that lead to the platform's websocket.
	sessions map[net.Conn]bool
}

// layCable starts a cable to an address.
func layCable(t *testing.T, network, target string) *cable {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{network: network, target: target, listener: listener, conns: map[net.Conn]bool{}, sessions: map[net.Conn]bool{}}
	c.changed = sync.NewCond(&c.mu)
	c.working.Go(c.accept)
	t.Cleanup(c.close)
	return c
}

func (c *cable) address() string { return c.listener.Addr().String() }

// pull makes nothing come through, or lets what has waited come through again.
func (c *cable) pull(pulled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = pulled
	c.changed.Broadcast()
}

// forget makes nothing come through the connections that there are.
func (c *cable) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		c.conns[conn] = false
	}
}

func (c *cable) forgotten(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, open := c.conns[conn]
	return open && !known
}

func (c *cable) close() {
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	for conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	_ = c.listener.Close()
	c.working.Wait()
}

// open waits until something comes through, and reports whether anything ever will.
func (c *cable) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pulled && !c.closed {
		c.changed.Wait()
	}
	return !c.closed
}

func (c *cable) hold(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close()
		return false
	}
	c.conns[conn] = true
	return true
}

// release forgets a connection that has ended.
func (c *cable) release(conn net.Conn) {
	_ = conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}

// hasSessions reports whether there are connections to the platform's websocket. Others may stay open
// for a while after a file was transferred.
func (c *cable) hasSessions() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.sessions {
		if _, open := c.conns[conn]; open {
			return true
		}
	}
	return false
}

// began notes what a connection begins with.
func (c *cable) began(conn net.Conn, with []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.HasPrefix(with, []byte("GET "+sandbox.WebsocketPath)) {
		c.sessions[conn] = true
	}
}

func (c *cable) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		if c.hold(near) {
			c.working.Go(func() { c.carry(near) })
		}
	}
}

func (c *cable) carry(near net.Conn) {
	defer c.release(near)
	if !c.open() {
		return
	}
	far, err := (&net.Dialer{}).DialContext(context.Background(), c.network, c.target)
	if err != nil || !c.hold(far) {
		return
	}
	defer c.release(far)
	var both sync.WaitGroup
	both.Go(func() { c.copy(far, near) })
	both.Go(func() { c.copy(near, far) })
	both.Wait()
}

func (c *cable) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for first := true; ; first = false {
		n, err := from.Read(buffer)
		if first {
			c.began(from, buffer[:n])
		}
		if n > 0 && c.open() && !c.forgotten(from) {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err == nil {
			continue
		}
		if !c.forgotten(from) { // else neither side learns of the other
			_, _ = from.Close(), to.Close()
		}
		return
	}
}

// throughCable returns the URL of a database behind cables, and the cables: one for each server of the
// database.
func throughCable(t *testing.T, databaseURL string) (string, []*cable) {
	t.Helper()
	address, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	var cables []*cable
	var servers []string
	for folder := range strings.SplitSeq(address.Query().Get("host"), ",") {
		laid := layCable(t, "unix", folder+"/.s.PGSQL.5432")
		cables, servers = append(cables, laid), append(servers, laid.address())
	}
	options := url.Values{"sslmode": {"disable"}}
	if which := address.Query().Get("target_session_attrs"); which != "" {
		options.Set("target_session_attrs", which)
	}
	return "postgres://postgres@" + strings.Join(servers, ",") + strings.TrimSuffix(address.Path, "/") + "?" + options.Encode(), cables
}
