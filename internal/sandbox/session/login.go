// The login of a client, and why it may be refused.

package session

import (
	"context"
	"crypto/subtle"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// banCode is the reason that clients get for a ban: too many messages to people who
// do not know the sender.
const banCode = 101

// version is the version of the web client that the client claims to be.
func (c *client) version() webclient.Version {
	version := c.Connection.Noise.Payload().GetUserAgent().GetAppVersion()
	return webclient.Version{version.GetPrimary(), version.GetSecondary(), version.GetTertiary()}
}

// register lets a client that is not linked wait for that.
func (c *client) register(ctx context.Context) error {
	keys, err := link.ParseRegistration(c.Connection.Noise.Payload().GetDevicePairingData())
	if err != nil {
		return err
	}
	if c.s.config.Faults.Current().Refuses(c.version()) {
		return c.Connection.Refuse(ctx, wire.Failure(wire.FailureOutdated))
	}
	c.candidate, err = c.s.config.Linking.Offer(ctx, c.Connection, keys)
	return err
}

// login lets a linked device in if it has the key with which it was linked.
func (c *client) login(ctx context.Context) error {
	payload := c.Connection.Noise.Payload()
	switch f := c.s.config.Faults.Current(); {
	case f.RefuseLogins:
		return c.Connection.Refuse(ctx, wire.Failure(wire.FailureUnavailable))
	case f.Refuses(c.version()):
		return c.Connection.Refuse(ctx, wire.Failure(wire.FailureOutdated))
	}
	owner, err := c.s.config.Accounts.Find(ctx, phonenumber.Canonical(strconv.FormatUint(payload.GetUsername(), 10)))
	if err != nil {
		return err
	}
	if owner == nil {
		return c.Connection.Refuse(ctx, wire.Failure(wire.FailureLoggedOut))
	}
	if left, banned := owner.Ban(c.s.now()); banned {
		refusal := wire.Failure(wire.FailureBanned)
		refusal.Attrs["code"] = banCode
		if left > 0 {
			refusal.Attrs["expire"] = int64(left.Seconds()) + 1
		}
		return c.Connection.Refuse(ctx, refusal)
	}
	key := c.Connection.Noise.ClientKey()
	linked := owner.Companion(uint16(payload.GetDevice())) //nolint:gosec // a number too large names no device
	if linked == nil || payload.GetDevice() > account.MaxDevice || subtle.ConstantTimeCompare(linked.Noise[:], key[:]) != 1 {
		return c.Connection.Refuse(ctx, wire.Failure(wire.FailureLoggedOut))
	}
	c.device = linked
	// Nothing may be sent before this: success is the first node after the
	// handshake.
	if err := c.Connection.Write(ctx, waBinary.Node{Tag: "success", Attrs: waBinary.Attrs{
		"t": c.s.now().Unix(), "lid": linked.JID(),
	}}); err != nil {
		return err
	}
	if old := linked.Conn.Swap(c.Connection); old != nil {
		old.CloseAfter(wire.StreamError("", "replaced"))
	}
	c.s.config.Accounts.Bell.Ring(owner.Number)
	// If the device was removed in the meantime, nobody would cut this connection.
	if owner.Companion(linked.ID) != linked {
		c.Connection.CloseAfter(wire.StreamError(strconv.Itoa(wire.FailureLoggedOut), "device_removed"))
	}
	return nil
}
