package link

import (
	"context"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Requests lists the request that takes a device off.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"set md remove-companion-device": s.iqLogout,
	}
}

// iqLogout removes a linked device at its own wish. Its connection is closed
// after the answer, without a word more: the client deletes its keys once.
func (s *Service) iqLogout(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "remove-companion-device")
	if jid := wire.AttrJID(request, "jid"); jid.Device != c.Device.ID {
		return nil, wire.ErrNotAllowed
	}
	return nil, s.removeDevices(ctx, c.Device.Account, []*account.Device{c.Device})
}

// removeDevices forgets linked devices and all that waits for them, and tells
// those who hold the account's device list.
func (s *Service) removeDevices(ctx context.Context, of *account.Account, removed []*account.Device) error {
	if len(removed) == 0 {
		return nil
	}
	u := s.accounts.NewUnit()
	ids := make([]uint16, 0, len(removed))
	for _, linked := range removed {
		u.Exec("DELETE FROM devices WHERE number = $1 AND device = $2", of.Number, linked.ID)
		ids = append(ids, linked.ID)
	}
	if err := s.holders.Announce(ctx, u, of, ids); err != nil {
		return err
	}
	u.Then(func() { of.RemoveDevices(removed) })
	return u.Commit(ctx)
}

// Unlink removes all linked devices of the phone, as a person does on it.
func (s *Service) Unlink(ctx context.Context, number string) error {
	of, err := s.accounts.Named(ctx, number)
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
