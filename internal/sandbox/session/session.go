// Package session serves the clients that are connected. It lets them log in,
// delivers stanzas that wait for them, takes their messages and receipts, and
// answers their requests.
package session

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

const (
	handshakeTimeout = 20 * time.Second

	// maxDelayed bounds the acknowledgements that a fault delays.
	maxDelayed = 256
)

// Service serves clients. It is safe for concurrent use.
type Service struct {
	config Config

	db       *sqlite.DB
	now      func() time.Time
	acks     *ackSweeper
	iqs      iqTable
	answered *wire.Counter
}

// Config is what a Service needs.
type Config struct {
	Accounts    *account.Directory
	Groups      *group.Book
	Linking     *link.Service
	Presences   *presence.Service
	Receipts    *receipt.Service
	Faults      *fault.Service
	Load        *load.Phones // nil unless the server runs for load tests
	Authority   *noise.Authority
	Connections *wire.Set
	Logger      *slog.Logger
	Unknown     *wire.Counter                // counts unknown requests
	Requests    []map[string]account.Handler // the handlers of other packages

	// Welcome is called when a device has received everything that had waited for
	// it. Rename changes the name that an account gives itself.
	Welcome func(ctx context.Context, linked *account.Device) error
	Rename  func(ctx context.Context, of *account.Account, name string) error
}

// New returns the service.
func New(config Config) *Service {
	return &Service{
		config: config, db: config.Accounts.DB, now: config.Accounts.Now,
		acks: newAckSweeper(config.Accounts.DB), iqs: newIQTable(config.Requests...), answered: wire.NewCounter(),
	}
}

// Run deletes stanzas that clients have acknowledged. It blocks until ctx ends.
func (s *Service) Run(ctx context.Context) { s.ackWorker(ctx) }

// Flush deletes stanzas that clients had acknowledged before the call.
func (s *Service) Flush(ctx context.Context) error { return s.acks.flush(ctx) }

// client is a client with its connection: a linked device, or a client that waits
// to be linked.
type client struct {
	*wire.Connection

	s         *Service
	device    *account.Device // nil for a client that waits to be linked
	candidate *link.Candidate // nil for a linked device
	outbox    outboxState
	delaying  chan struct{} // bounds the acknowledgements that a fault delays
	available bool          // the client has said that it is online
}

// ServeWebsocket accepts a websocket and serves the client until the connection
// ends.
func (s *Service) ServeWebsocket(w http.ResponseWriter, r *http.Request) {
	f := s.config.Faults.Current()
	if f.Silent == fault.SilentConnection || f.Silent == fault.SilentUpgrade {
		s.config.Faults.HoldRequest(f, w, r)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		// Clients come with the origin of the real platform's pages.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.config.Logger.LogAttrs(r.Context(), slog.LevelDebug, "websocket refused", slog.Any("error", err))
		return
	}
	if f.Silent == fault.SilentHandshake {
		s.config.Faults.Holding(r.Context(), f, fault.Messages(ws))()
		return
	}
	ctx, cut := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cut()
	conn := wire.NewConnection(ctx, cut, r, s.config.Logger)
	if !s.config.Connections.Add(conn) {
		_ = ws.CloseNow() // the server is stopping, and the client will notice
		return
	}
	defer s.config.Connections.Remove(conn)
	handshake, done := context.WithTimeout(ctx, handshakeTimeout)
	conn.Noise, err = noise.Accept(handshake, ws, s.config.Authority)
	done()
	if err != nil {
		s.config.Logger.LogAttrs(ctx, slog.LevelDebug, "handshake failed", slog.Any("error", err))
		return
	}
	defer func() { _ = conn.Noise.CloseNow() }() // it is closed already, or the client is gone
	if f.Silent == fault.SilentLogin {
		s.config.Faults.Holding(r.Context(), f, fault.Nodes(conn.Noise))()
		return
	}
	c := &client{
		Connection: conn, s: s, delaying: make(chan struct{}, maxDelayed),
		outbox: outboxState{unacked: map[string][]int64{}},
	}
	if err := c.serve(ctx); ctx.Err() == nil {
		s.config.Logger.LogAttrs(ctx, slog.LevelDebug, "connection ended", slog.Any("error", err))
	}
}

// serve lets the client in and serves it until the connection ends. It returns the
// reason.
func (c *client) serve(ctx context.Context) error {
	var err error
	if c.Noise.Payload().Username == nil {
		err = c.register(ctx)
	} else {
		err = c.login(ctx)
	}
	if err != nil {
		return err
	}
	err = c.Run(ctx, c)
	c.leave()
	return err
}

// leave removes the connection from where others find it.
func (c *client) leave() {
	if c.candidate != nil {
		c.s.config.Linking.Forget(c.candidate)
	}
	if c.device != nil && c.device.Conn.CompareAndSwap(c.Connection, nil) && c.available {
		c.announce(false)
	}
}

// Handle handles one node. An error ends the connection: the changes were not
// committed, and the client sends the node again after it has reconnected.
func (c *client) Handle(ctx context.Context, n waBinary.Node) error {
	if c.device == nil && n.Tag != "iq" {
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
		return c.s.config.Presences.PassChatState(ctx, c.device.Account, n)
	case "call":
		// Some clients wait for any node with the same ID.
		return c.Send(ctx, wire.Acknowledge(n))
	}
	return nil
}
