// A client's connection: its reader, its writer, and how it ends.

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

	// partingGrace is how long a client has to close the connection itself, after
	// the last node was sent. Some clients drop nodes that they have not handled
	// yet when the server closes first.
	partingGrace = time.Second

	// sendQueue bounds the nodes that wait for a connection's writer. Stanzas of
	// the outbox wait in the database, and only a window of them is in memory.
	sendQueue = 64
)

// Connection is one client's websocket. One goroutine reads its nodes and handles
// them in order; another one writes.
type Connection struct {
	Noise  *noise.Conn // set once the handshake is done
	Origin Origin      // how the client reached the server

	logger *slog.Logger
	cut    context.CancelFunc
	Done   <-chan struct{} // closed when it has ended

	out     chan waBinary.Node
	wakeup  chan struct{} // the outbox may hold something new
	goodbye chan waBinary.Node

	parting atomic.Bool // nodes are ignored from now on
	active  atomic.Bool // the client has asked for delivery
	waiting waiters
	tasks   sync.WaitGroup // tasks beside the reader and the writer
}

// NewConnection makes the connection of a request. It lives as long as ctx, which
// cut ends.
func NewConnection(ctx context.Context, cut context.CancelFunc, r *http.Request, logger *slog.Logger) *Connection {
	return &Connection{
		Origin: originOf(r), logger: logger, cut: cut, Done: ctx.Done(),
		out: make(chan waBinary.Node, sendQueue), wakeup: make(chan struct{}, 1), goodbye: make(chan waBinary.Node, 1),
	}
}

// NewSilent makes a connection that is only kept open, until ctx ends; cut ends it.
func NewSilent(ctx context.Context, cut context.CancelFunc) *Connection {
	return &Connection{cut: cut, Done: ctx.Done()}
}

// Cut ends the connection without a last node.
func (c *Connection) Cut() { c.cut() }

// Peer handles what a connection's client sends, and writes what waits for the
// client.
type Peer interface {
	// Handle handles one node; nodes come in order. An error ends the connection:
	// the changes were not committed, and the client sends the node again after it
	// has reconnected.
	Handle(ctx context.Context, n waBinary.Node) error
	// Pump writes stanzas that wait for the client. Only the connection's writer
	// calls it, after Wake.
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

// Go runs a task beside the reader and the writer. Run waits for its end.
func (c *Connection) Go(task func()) { c.tasks.Go(task) }

// Answer passes a client's answer to the Request that waits for it.
func (c *Connection) Answer(id string, n waBinary.Node) { c.waiting.answer(id, n) }

// Activate begins the delivery of what waits for the client.
func (c *Connection) Activate() {
	c.active.Store(true)
	c.Wake()
}

// IsActive reports whether the client has asked for delivery.
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

// part sends the queued nodes and a last node, and closes the websocket.
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
	// An error means that the client has closed first, which is fine.
	_ = c.Noise.Close(websocket.StatusNormalClosure, "")
}

// Write sends a node at once. Only the connection's writer may call it, or the
// handshake before Run; others use Send.
func (c *Connection) Write(ctx context.Context, n waBinary.Node) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.Noise.WriteNode(ctx, n)
}

// Send queues a node. It waits while the queue is full, which slows down a client
// that sends faster than it reads.
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

// Offer queues a node if there is room. It never waits, so the node may be lost.
func (c *Connection) Offer(n waBinary.Node) {
	select {
	case c.out <- n:
	default:
	}
}

// CloseAfter closes the connection once the queued nodes and the last node are
// sent. A last node without a tag is not sent.
func (c *Connection) CloseAfter(last waBinary.Node) {
	c.parting.Store(true)
	select {
	case c.goodbye <- last:
	default: // it is closing already
	}
}

// Refuse sends a failure instead of a login, and waits a moment for the client to
// close. It always returns an error.
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

// Wake lets the writer look into the outbox.
func (c *Connection) Wake() {
	select {
	case c.wakeup <- struct{}{}:
	default: // it is awake already
	}
}

// CutAfter ends the connection after a delay, unless it ends earlier.
func (c *Connection) CutAfter(ctx context.Context, delay time.Duration) {
	Pause(ctx, delay)
	c.Cut()
}
