package receipt

import (
	"context"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sqlite"
)

// Status says how far a message has come.
type Status int

// The statuses, in their order.
const (
	StatusSent Status = iota + 1
	StatusDelivered
	StatusRead
	StatusPlayed
)

// String returns the status as the control API shows it.
func (st Status) String() string {
	words := []string{"", "sent", "delivered", "read", "played"}
	if int(st) < 0 || int(st) >= len(words) {
		return ""
	}
	return words[st]
}

// StatusOf returns the status of a message after a receipt of the kind.
func StatusOf(kind string) Status {
	switch kind {
	case Read, ReadSelf:
		return StatusRead
	case Played:
		return StatusPlayed
	default:
		return StatusDelivered
	}
}

// noteStatus raises the status of a message that the account has sent. The receipt
// may come before the phone's own copy of the message.
func (s *Service) noteStatus(u *account.Unit, of *account.Account, id string, status Status) {
	s.moveStatus(u, of, id, status, "UPDATE messages SET status = MAX(status, $1) WHERE number = $2 AND id = $3 AND from_me = 1")
}

// moveStatus runs an update of one message. If the phone does not show the message
// yet, it records the status for later.
func (s *Service) moveStatus(u *account.Unit, of *account.Account, id string, status Status, update string) {
	u.Ring(of.Number)
	u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		result, err := tx.ExecContext(ctx, update, status, of.Number, id)
		if err != nil {
			return err
		}
		if found, err := result.RowsAffected(); err != nil || found > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO early_receipts (number, id, status, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (number, id) DO UPDATE SET status = MAX(status, excluded.status)`,
			of.Number, id, status, s.now().UnixMilli())
		return err
	})
}

// phoneHasRead marks messages that the account has received as read. A linked
// device may have read them before the phone has received them.
func (s *Service) phoneHasRead(u *account.Unit, of *account.Account, ids []string, status Status) {
	for _, id := range ids {
		s.moveStatus(u, of, id, status,
			"UPDATE messages SET status = MAX(status, $1), read_due = 0 WHERE number = $2 AND id = $3 AND from_me = 0")
	}
}

// TakeEarly returns the status from receipts that came before the phone's own copy
// of a message, and deletes its record.
func TakeEarly(ctx context.Context, tx *sqlite.Tx, of *account.Account, id string) (Status, error) {
	rows, err := database.Ints(ctx, tx, "DELETE FROM early_receipts WHERE number = $1 AND id = $2 RETURNING status", of.Number, id)
	if err != nil || len(rows) == 0 {
		return StatusSent, err
	}
	return Status(rows[0]), nil
}
