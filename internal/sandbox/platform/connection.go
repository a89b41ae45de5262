package platform

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/noise"
)

const (
	handshakeTimeout = 20 * time.Second
	writeTimeout     = 20 * time.Second

	// partingGrace is how long a client has to close the connection itself after
	// it was told why it ends. Some drop what they have not dealt with yet when
	// the connection is closed under them.
	partingGrace = time.Second

	// sendQueue bounds what waits for a connection's writer besides the outbox,
	// of which only a window is ever in memory.
	sendQueue = 64

	// maxDelayed bounds the acknowledgements that a fault holds back.
	maxDelayed = 256
)

// connection is one client's socket: one goroutine reads and handles its nodes
// in order, one writes.
type connection struct {
	s     *Server
	noise *noise.Conn
	web   origin             // how the client reached the server
	cut   context.CancelFunc // ends the connection without a goodbye
	done  <-chan struct{}    // closed when it has ended

	out     chan waBinary.Node
	wakeup  chan struct{} // the outbox may hold something new
	goodbye chan waBinary.Node

	device   *device     // the linked device, nil while it is being linked
	parting  atomic.Bool // nothing that comes is dealt with any more
	waiting  waiters
	outbox   outboxState
	linking  linkState
	delayed  sync.WaitGroup
	delaying chan struct{} // bounds the acknowledgements that are held back
	presence presenceState
}

// accept takes a websocket, does the handshake and serves the client.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	f := s.faults.current()
	if f.Silent == SilentConnection || f.Silent == SilentUpgrade {
		s.holdRequest(f, w, r)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		// Clients come with the origin of the real platform's pages.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.logger.LogAttrs(r.Context(), slog.LevelDebug, "websocket refused", slog.Any("error", err))
		return
	}
	if f.Silent == SilentHandshake {
		s.holding(r.Context(), f, websocketReader{ws})()
		return
	}
	ctx, cut := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cut()
	c := &connection{
		s: s, cut: cut, done: ctx.Done(), web: originOf(r),
		out: make(chan waBinary.Node, sendQueue), wakeup: make(chan struct{}, 1), goodbye: make(chan waBinary.Node, 1),
		delaying: make(chan struct{}, maxDelayed),
		outbox:   outboxState{unacked: map[string][]int64{}},
	}
	if !s.connections.add(c) {
		_ = ws.CloseNow() // nobody is told: the server is stopping
		return
	}
	defer s.connections.remove(c)
	handshake, done := context.WithTimeout(ctx, handshakeTimeout)
	c.noise, err = noise.Accept(handshake, ws, s.authority)
	done()
	if err != nil {
		s.logger.LogAttrs(ctx, slog.LevelDebug, "handshake failed", slog.Any("error", err))
		return
	}
	defer func() { _ = c.noise.CloseNow() }() // it is closed already, or the client is gone
	if f.Silent == SilentLogin {
		s.holding(r.Context(), f, nodeReader{c.noise})()
		return
	}
	if err := c.serve(ctx); ctx.Err() == nil {
		s.logger.LogAttrs(ctx, slog.LevelDebug, "connection ended", slog.Any("error", err))
	}
}

// serve lets the client in and handles its nodes until the connection ends. It
// returns why.
func (c *connection) serve(ctx context.Context) error {
	var err error
	if c.noise.Payload().Username == nil {
		err = c.register(ctx)
	} else {
		err = c.login(ctx)
	}
	if err != nil {
		return err
	}
	var writer sync.WaitGroup
	writer.Go(func() { c.writeLoop(ctx) })
	err = c.readLoop(ctx)
	c.cut()
	writer.Wait()
	c.delayed.Wait()
	c.leave()
	return err
}

// leave takes the connection out of where others would find it.
func (c *connection) leave() {
	c.s.pending.remove(c)
	if c.device != nil && c.device.conn.CompareAndSwap(c, nil) {
		c.s.connectionLost(c)
	}
}

func (c *connection) readLoop(ctx context.Context) error {
	for {
		n, err := c.noise.ReadNode(ctx)
		if err != nil {
			return err
		}
		if err := c.handle(ctx, *n); err != nil {
			return err
		}
	}
}

// handle deals with one node. An error ends the connection: what the client
// sent was not committed, and it will send it again after it has reconnected.
func (c *connection) handle(ctx context.Context, n waBinary.Node) error {
	if c.parting.Load() || (c.device == nil && n.Tag != "iq") {
		return nil
	}
	switch n.Tag {
	case "iq":
		return c.onIQ(ctx, n)
	case "message":
		return c.onMessage(ctx, n)
	case "receipt":
		return c.onReceipt(ctx, n)
	case "ack":
		c.onAck(n)
	case "presence":
		return c.onPresence(ctx, n)
	case "chatstate":
		return c.onChatState(ctx, n)
	case "call":
		// Some clients wait for any node with the same id.
		return c.send(ctx, acknowledge(n))
	}
	return nil
}

// writeLoop is the only writer of the socket.
func (c *connection) writeLoop(ctx context.Context) {
	defer c.cut()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case n := <-c.out:
			err = c.write(ctx, n)
		case <-c.wakeup:
			err = c.pump(ctx)
		case n := <-c.goodbye:
			c.part(ctx, n)
			return
		}
		if err != nil {
			if ctx.Err() == nil {
				c.s.logger.LogAttrs(ctx, slog.LevelDebug, "write failed", slog.Any("error", err))
			}
			return
		}
	}
}

// part sends what is queued and a last node, and closes the websocket.
func (c *connection) part(ctx context.Context, last waBinary.Node) {
	for {
		select {
		case n := <-c.out:
			if c.write(ctx, n) != nil {
				return
			}
			continue
		default:
		}
		break
	}
	if last.Tag != "" && c.write(ctx, last) != nil {
		return
	}
	pause(ctx, partingGrace)
	// The client may have closed first, which is as good.
	_ = c.noise.Close(websocket.StatusNormalClosure, "")
}

func (c *connection) write(ctx context.Context, n waBinary.Node) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.noise.WriteNode(ctx, n)
}

// send queues a node. It waits while the queue is full, which holds back a
// client that sends faster than it reads.
func (c *connection) send(ctx context.Context, n waBinary.Node) error {
	select {
	case c.out <- n:
		return nil
	case <-c.done:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// offer queues a node that may be lost; it never waits.
func (c *connection) offer(n waBinary.Node) {
	select {
	case c.out <- n:
	default:
	}
}

// closeAfter closes the connection once what is queued and last are sent; a
// last node without a tag is none.
func (c *connection) closeAfter(last waBinary.Node) {
	c.parting.Store(true)
	select {
	case c.goodbye <- last:
	default: // it is closing already
	}
}

// refuse answers the handshake with a failure, and waits a moment for the
// client to go.
func (c *connection) refuse(ctx context.Context, failure waBinary.Node) error {
	if err := c.write(ctx, failure); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, partingGrace)
	defer cancel()
	for {
		if _, err := c.noise.ReadNode(ctx); err != nil {
			return errRefused
		}
	}
}

var errRefused = errors.New("platform: login refused")

// wake tells the writer that the outbox may hold something new.
func (c *connection) wake() {
	select {
	case c.wakeup <- struct{}{}:
	default: // it knows already
	}
}

// wake tells the device's connection, if there is one.
func (d *device) wake() {
	if c := d.conn.Load(); c != nil {
		c.wake()
	}
}
