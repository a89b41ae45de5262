package link

import (
	"context"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Requests lists the request with which a device unlinks itself.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"set md remove-companion-device": s.iqLogout,
	}
}

// iqLogout unlinks the device that asks for it. Its connection is closed after the
// answer and without a stream error, because the client has deleted its keys
// already.
func (s *Service) iqLogout(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "remove-companion-device")
	if jid := wire.AttrJID(request, "jid"); jid.Device != c.Device.ID {
		return nil, wire.ErrNotAllowed
	}
	return nil, s.removeDevices(ctx, c.Device.Account, []*account.Device{c.Device})
}

// removeDevices deletes linked devices and everything that waits for them, and
// notifies the devices that hold the account's device list.
func (s *Service) removeDevices(ctx context.Context, of *account.Account, removed []*account.Device) error {
	if len(removed) == 0 {
		return nil
	}
	u := s.config.Accounts.NewUnit()
	ids := make([]uint16, 0, len(removed))
	for _, linked := range removed {
		u.Exec("DELETE FROM devices WHERE number = $1 AND device = $2", of.Number, linked.ID)
		ids = append(ids, linked.ID)
	}
	if err := s.config.Holders.Announce(ctx, u, of, ids); err != nil {
		return err
	}
	u.Then(func() { of.RemoveDevices(removed) })
	u.Ring(of.Number)
	return u.Commit(ctx)
}

// Unlink unlinks all devices of the phone, as its owner can do.
func (s *Service) Unlink(ctx context.Context, number string) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	removed := of.Companions()
	if err := s.removeDevices(ctx, of, removed); err != nil {
		return err
	}
	for _, linked := range removed {
		linked.CloseAfter(wire.StreamError(strconv.Itoa(wire.FailureLoggedOut), "device_removed"))
	}
	return nil
}
