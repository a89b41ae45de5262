package session

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// onReceipt takes a client's receipt. It may acknowledge a stanza, and is passed on
// to the devices of the sender. It is acknowledged once that is committed.
func (c *client) onReceipt(ctx context.Context, n waBinary.Node) error {
	u := c.s.config.Accounts.NewUnit()
	kind := wire.AttrString(n, "type")
	if kind != receipt.Read && kind != receipt.ReadSelf && kind != receipt.Played {
		// A receipt also acknowledges the message.
		if seq, ok := c.acknowledged("message", wire.AttrString(n, "id"), ""); ok {
			u.Exec(deleteOutbox, seq)
		}
	}
	if err := c.s.config.Receipts.Forward(ctx, u, c.device, n); err != nil {
		return err
	}
	if err := u.Commit(ctx); err != nil {
		return err
	}
	return c.Connection.Send(ctx, wire.Acknowledge(n))
}
