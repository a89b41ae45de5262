package platform

import (
	"context"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// iqLogout removes a linked device at its own wish. Its connection is closed
// after the answer, without a word more: the client deletes its keys once.
func iqLogout(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "remove-companion-device")
	if jid := attrJID(request, "jid"); jid.Device != c.device.id {
		return nil, errNotAllowed
	}
	return nil, c.s.removeDevices(ctx, c.device.account, []*device{c.device})
}

// removeDevices forgets linked devices and all that waits for them, and tells
// those who hold the account's device list.
func (s *Server) removeDevices(ctx context.Context, of *account, removed []*device) error {
	if len(removed) == 0 {
		return nil
	}
	u := s.newUnit()
	ids := make([]uint16, 0, len(removed))
	for _, linked := range removed {
		u.exec("DELETE FROM devices WHERE number = $1 AND device = $2", of.number, linked.id)
		ids = append(ids, linked.id)
	}
	if err := s.announceDevices(ctx, u, of, ids); err != nil {
		return err
	}
	u.then(func() {
		of.mu.Lock()
		defer of.mu.Unlock()
		for _, linked := range removed {
			if of.devices[linked.id] == linked {
				delete(of.devices, linked.id)
			}
		}
	})
	return u.commit(ctx)
}

// Unlink removes all linked devices of the phone, as a person does on it.
func (s *Server) Unlink(ctx context.Context, number string) error {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	removed := of.companions()
	if err := s.removeDevices(ctx, of, removed); err != nil {
		return err
	}
	for _, linked := range removed {
		if c := linked.conn.Load(); c != nil {
			c.closeAfter(streamError(strconv.Itoa(failureLoggedOut), "device_removed"))
		}
	}
	return nil
}

// Replace ends the sessions of the phone's linked devices as if each had logged
// in a second time elsewhere.
func (s *Server) Replace(ctx context.Context, number string) error {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	for _, linked := range of.companions() {
		if c := linked.conn.Load(); c != nil {
			c.closeAfter(streamError("", "replaced"))
		}
	}
	return nil
}
