// A unit of work: changes to the database, and what is sent once they are committed.

package account

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

const (
	insertMailbox = "INSERT INTO mailbox (number, stanza) VALUES ($1, $2)"

	// insertOutbox inserts nothing if the device was removed a moment ago.
	insertOutbox = `INSERT INTO outbox (number, device, class, id, stanza) SELECT $1, $2, $3, $4, $5
	WHERE EXISTS (SELECT 1 FROM devices WHERE number = $1 AND device = $2)`
)

// Unit is a unit of work: changes that one transaction commits together, and what
// is to be done after the commit. It belongs to one goroutine.
type Unit struct {
	db      *sqlite.DB
	mail    *MailQueue
	writes  []func(ctx context.Context, tx *sqlite.Tx) error
	after   []func()
	devices map[*Device]struct{}
	phones  map[*Account]struct{}
	bell    *feed.Bell
	shown   map[string]struct{} // the numbers whose phones show something else after it
}

// NewUnit begins a unit of work.
func (d *Directory) NewUnit() *Unit {
	return &Unit{
		db: d.DB, mail: d.Mail, bell: d.Bell,
		devices: map[*Device]struct{}{}, phones: map[*Account]struct{}{}, shown: map[string]struct{}{},
	}
}

// Write adds a change. It may run twice, so it must change only tx and variables
// that it sets each time.
func (u *Unit) Write(fn func(ctx context.Context, tx *sqlite.Tx) error) {
	u.writes = append(u.writes, fn)
}

// Exec adds a statement. Its result is ignored.
func (u *Unit) Exec(query string, args ...any) {
	u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// Then adds a function that runs after the commit, and not if the commit fails.
func (u *Unit) Then(fn func()) { u.after = append(u.after, fn) }

// ToDevice adds a stanza to the outbox of a linked device.
func (u *Unit) ToDevice(to *Device, stanza waBinary.Node) error {
	encoded, err := wire.EncodeStanza(stanza)
	if err != nil {
		return err
	}
	u.Exec(insertOutbox, to.Account.Number, to.ID, stanza.Tag, wire.AttrString(stanza, "id"), encoded)
	u.devices[to] = struct{}{}
	return nil
}

// ToPhone adds a stanza to the mailbox of a phone.
func (u *Unit) ToPhone(to *Account, stanza waBinary.Node) error {
	encoded, err := wire.EncodeStanza(stanza)
	if err != nil {
		return err
	}
	u.Exec(insertMailbox, to.Number, encoded)
	u.phones[to] = struct{}{}
	return nil
}

// WakePhone lets a phone look into its mailbox after the commit.
func (u *Unit) WakePhone(of *Account) { u.phones[of] = struct{}{} }

// WakeDevice lets a device's connection look into its outbox after the commit.
func (u *Unit) WakeDevice(d *Device) { u.devices[d] = struct{}{} }

// Ring rings for the phone of a number after the commit, because it shows something
// else then.
func (u *Unit) Ring(number string) { u.shown[number] = struct{}{} }

// AddMail inserts an encoded stanza into the mailbox of a phone.
func AddMail(ctx context.Context, tx *sqlite.Tx, to *Account, stanza []byte) error {
	_, err := tx.ExecContext(ctx, insertMailbox, to.Number, stanza)
	return err
}

// AddOutbox inserts an encoded stanza into the outbox of a linked device. It
// inserts nothing if the device was removed a moment ago.
func AddOutbox(ctx context.Context, tx *sqlite.Tx, to *Account, device uint16, class, id string, stanza []byte) error {
	_, err := tx.ExecContext(ctx, insertOutbox, to.Number, device, class, id, stanza)
	return err
}

// Commit commits the changes, then wakes the phones and devices that have got
// something, and those who watch the phones.
func (u *Unit) Commit(ctx context.Context) error {
	if len(u.writes) > 0 {
		err := u.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
			for _, write := range u.writes {
				if err := write(ctx, tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("account: commit: %w", err)
		}
	}
	for _, fn := range u.after {
		fn()
	}
	for to := range u.devices {
		to.wake()
	}
	for to := range u.phones {
		u.mail.Wake(to)
	}
	for number := range u.shown {
		u.bell.Ring(number)
	}
	return nil
}
