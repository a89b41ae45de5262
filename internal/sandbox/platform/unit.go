package platform

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sqlite"
)

// unit is a unit of work: changes that become true together in one
// transaction, and what follows once they are. It belongs to one goroutine.
type unit struct {
	s       *Server
	writes  []func(ctx context.Context, tx *sqlite.Tx) error
	after   []func()
	devices map[*device]struct{}
	phones  map[*account]struct{}
}

func (s *Server) newUnit() *unit {
	return &unit{s: s, devices: map[*device]struct{}{}, phones: map[*account]struct{}{}}
}

// write adds a change. It may run twice, so it touches nothing but tx and what
// it sets anew.
func (u *unit) write(fn func(ctx context.Context, tx *sqlite.Tx) error) {
	u.writes = append(u.writes, fn)
}

// exec adds a statement whose result does not matter.
func (u *unit) exec(query string, args ...any) {
	u.write(func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// then adds what is done after the commit, and not without it.
func (u *unit) then(fn func()) { u.after = append(u.after, fn) }

// toDevice puts a stanza into the outbox of a linked device.
func (u *unit) toDevice(to *device, stanza waBinary.Node) error {
	encoded, err := encodeStanza(stanza)
	if err != nil {
		return err
	}
	u.exec(insertOutbox, to.account.number, to.id, stanza.Tag, attrString(stanza, "id"), encoded)
	u.devices[to] = struct{}{}
	return nil
}

// toPhone puts a stanza into the mailbox of a phone.
func (u *unit) toPhone(to *account, stanza waBinary.Node) error {
	encoded, err := encodeStanza(stanza)
	if err != nil {
		return err
	}
	u.exec(insertMailbox, to.number, encoded)
	u.phones[to] = struct{}{}
	return nil
}

// commit makes the changes, and then wakes those who have something to do.
func (u *unit) commit(ctx context.Context) error {
	if len(u.writes) > 0 {
		err := u.s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
			for _, write := range u.writes {
				if err := write(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("platform: commit: %w", err)
		}
	}
	for _, fn := range u.after {
		fn()
	}
	for to := range u.devices {
		to.wake()
	}
	for to := range u.phones {
		u.s.mailboxes.wake(to)
	}
	return nil
}
