package session

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/wire"
)

// onPresence handles a client's presence, or its subscription to somebody's
// presence.
func (c *client) onPresence(ctx context.Context, n waBinary.Node) error {
	switch wire.AttrString(n, "type") {
	case "subscribe":
		shown, ok, err := c.s.config.Presences.Subscribe(ctx, c.device, wire.AttrJID(n, "to"))
		if err != nil || !ok {
			return err
		}
		return c.Connection.Send(ctx, shown)
	case "available":
		return c.announce(ctx, true)
	case "unavailable":
		return c.announce(ctx, false)
	case "":
		// A name alone is not a presence.
		if name := wire.AttrString(n, "name"); name != "" && name != c.device.Account.DisplayName() {
			return c.s.config.Rename(ctx, c.device.Account, name)
		}
	}
	return nil
}

// announce shows others whether the client is online.
func (c *client) announce(ctx context.Context, available bool) error {
	c.available = available
	return c.s.config.Presences.Announce(ctx, c.device.Account, available)
}
