// One connected client.

package session

import (
	"context"
	"errors"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// maxDelayed bounds the acknowledgements that a fault delays.
const maxDelayed = 256

// client is a client with its connection: a linked device, or a client that waits
// to be linked.
type client struct {
	Connection *wire.Connection

	s         *Service
	device    *account.Device // nil for a client that waits to be linked
	candidate *link.Candidate // nil for a linked device
	outbox    outboxState
	delaying  chan struct{} // bounds the acknowledgements that a fault delays
	available bool          // the client has said that it is online
}

// newClient returns a client that has not logged in yet.
func (s *Service) newClient(conn *wire.Connection) *client {
	return &client{
		Connection: conn, s: s, delaying: make(chan struct{}, maxDelayed),
		outbox: outboxState{unacked: map[string][]int64{}},
	}
}

// serve lets the client in and serves it until the connection ends. It returns the
// reason.
func (c *client) serve(ctx context.Context) error {
	var err error
	if c.Connection.Noise.Payload().Username == nil {
		err = c.register(ctx)
	} else {
		err = c.login(ctx)
	}
	if err != nil {
		return err
	}
	err = c.Connection.Run(ctx, c)
	return errors.Join(err, c.leave(context.WithoutCancel(ctx))) // the connection's is over
}

// leave removes the connection from where others find it.
func (c *client) leave(ctx context.Context) error {
	if c.candidate != nil {
		c.s.config.Linking.Forget(c.candidate)
	}
	if c.device == nil || !c.device.Conn.CompareAndSwap(c.Connection, nil) {
		return nil
	}
	c.s.config.Accounts.Bell.Ring(c.device.Account.Number)
	if !c.available {
		return nil
	}
	return c.announce(ctx, false)
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
		if err := c.s.config.Call(ctx, c.device, n); err != nil {
			return err
		}
		// Some clients wait for any node with the same ID.
		return c.Connection.Send(ctx, wire.Acknowledge(n))
	}
	return nil
}
