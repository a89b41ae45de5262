package wire

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
	writeTimeout = 20 * time.Second

	// partingGrace is how long a client has to close the connection itself after
	// it was told why it ends. Some drop what they have not dealt with yet when
	// the connection is closed under them.
	partingGrace = time.Second

	// sendQueue bounds what waits for a connection's writer besides the outbox,
	// of which only a window is ever in memory.
	sendQueue = 64
)

// Connection is one client's socket: one goroutine reads and handles its nodes
// in order, one writes.
type Connection struct {
	Noise  *noise.Conn // set once the handshake is done
	Origin Origin      // how the client reached the server

	logger *slog.Logger
	cut    context.CancelFunc
	Done   <-chan struct{} // closed when it has ended

	out     chan waBinary.Node
	wakeup  chan struct{} // the outbox may hold something new
	goodbye chan waBinary.Node

	parting atomic.Bool // nothing that comes is dealt with any more
	active  atomic.Bool // the client takes part: it has asked for what waits
	waiting waiters
	tasks   sync.WaitGroup // what goes on beside reading and writing
}

// NewConnection makes the connection of a request. It lives as long as ctx, which
// cut ends.
func NewConnection(ctx context.Context, cut context.CancelFunc, r *http.Request, logger *slog.Logger) *Connection {
	return &Connection{
		Origin: originOf(r), logger: logger, cut: cut, Done: ctx.Done(),
		out: make(chan waBinary.Node, sendQueue), wakeup: make(chan struct{}, 1), goodbye: make(chan waBinary.Node, 1),
	}
}

// NewHeld makes a connection that is only kept open, until ctx ends; cut ends it.
func NewHeld(ctx context.Context, cut context.CancelFunc) *Connection {
	return &Connection{cut: cut, Done: ctx.Done()}
}

// Cut ends the connection without a goodbye.
func (c *Connection) Cut() { c.cut() }

// Peer is what a connection serves its client with.
type Peer interface {
	// Handle deals with one node, in the order in which they come. An error ends
	// the connection: what the client sent was not committed, and it will send it
	// again after it has reconnected.
	Handle(ctx context.Context, n waBinary.Node) error
	// Pump writes what waits for the client. It is called by the only writer,
	// after wake.
	Pump(ctx context.Context) error
}

// Run reads and writes until the connection ends, and returns why it did.
func (c *Connection) Run(ctx context.Context, p Peer) error {
	var writer sync.WaitGroup
	writer.Go(func() { c.writeLoop(ctx, p) })
	err := c.readLoop(ctx, p)
	c.Cut()
	writer.Wait()
	c.tasks.Wait()
	c.waiting.close()
	return err
}

// Beside runs a task that the end of the connection waits for.
func (c *Connection) Beside(task func()) { c.tasks.Go(task) }

// Answer hands a client's answer to whoever waits for it.
func (c *Connection) Answer(id string, n waBinary.Node) { c.waiting.answer(id, n) }

// Activate lets the client take part: what waits for it is sent.
func (c *Connection) Activate() {
	c.active.Store(true)
	c.Wake()
}

// IsActive reports whether the client takes part.
func (c *Connection) IsActive() bool { return c.active.Load() }

func (c *Connection) readLoop(ctx context.Context, p Peer) error {
	for {
		n, err := c.Noise.ReadNode(ctx)
		if err != nil {
			return err
		}
		if c.parting.Load() {
			continue
		}
		if err := p.Handle(ctx, *n); err != nil {
			return err
		}
	}
}

// writeLoop is the only writer of the socket.
func (c *Connection) writeLoop(ctx context.Context, p Peer) {
	defer c.Cut()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case n := <-c.out:
			err = c.Write(ctx, n)
		case <-c.wakeup:
			err = p.Pump(ctx)
		case n := <-c.goodbye:
			c.part(ctx, n)
			return
		}
		if err != nil {
			if ctx.Err() == nil {
				c.logger.LogAttrs(ctx, slog.LevelDebug, "write failed", slog.Any("error", err))
			}
			return
		}
	}
}

// part sends what is queued and a last node, and closes the websocket.
func (c *Connection) part(ctx context.Context, last waBinary.Node) {
	for {
		select {
		case n := <-c.out:
			if c.Write(ctx, n) != nil {
				return
			}
			continue
		default:
		}
		break
	}
	if last.Tag != "" && c.Write(ctx, last) != nil {
		return
	}
	Pause(ctx, partingGrace)
	// The client may have closed first, which is as good.
	_ = c.Noise.Close(websocket.StatusNormalClosure, "")
}

// Write sends a node at once. It belongs to the writer: everybody else sends.
func (c *Connection) Write(ctx context.Context, n waBinary.Node) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.Noise.WriteNode(ctx, n)
}

// Send queues a node. It waits while the queue is full, which holds back a
// client that sends faster than it reads.
func (c *Connection) Send(ctx context.Context, n waBinary.Node) error {
	select {
	case c.out <- n:
		return nil
	case <-c.Done:
		return ErrGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Offer queues a node that may be lost; it never waits.
func (c *Connection) Offer(n waBinary.Node) {
	select {
	case c.out <- n:
	default:
	}
}

// CloseAfter closes the connection once what is queued and last are sent; a
// last node without a tag is none.
func (c *Connection) CloseAfter(last waBinary.Node) {
	c.parting.Store(true)
	select {
	case c.goodbye <- last:
	default: // it is closing already
	}
}

// Refuse answers the handshake with a failure, and waits a moment for the
// client to go.
func (c *Connection) Refuse(ctx context.Context, failure waBinary.Node) error {
	if err := c.Write(ctx, failure); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, partingGrace)
	defer cancel()
	for {
		if _, err := c.Noise.ReadNode(ctx); err != nil {
			return errRefused
		}
	}
}

var errRefused = errors.New("wire: login refused")

// Wake tells the writer that the outbox may hold something new.
func (c *Connection) Wake() {
	select {
	case c.wakeup <- struct{}{}:
	default: // it knows already
	}
}

// CutAfter ends the connection after a while, unless it ends before.
func (c *Connection) CutAfter(ctx context.Context, delay time.Duration) {
	Pause(ctx, delay)
	c.Cut()
}
