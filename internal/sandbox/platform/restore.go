package platform

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// keepSent is how long it is known what clients have sent: they repeat a frame
// within seconds, and receipts come within days.
const keepSent = 30 * 24 * time.Hour

// restore goes on where the last process ended: phones with mail deal with it,
// what is to be read is read, and what nobody asks for any more is deleted.
func (s *Server) restore(ctx context.Context) error {
	horizon := s.now().Add(-keepSent).UnixMilli()
	err := s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		for _, statement := range []string{
			"DELETE FROM retries WHERE (sender, id) IN (SELECT sender, id FROM sent WHERE at < $1)",
			"DELETE FROM sent WHERE at < $1",
			"DELETE FROM early_receipts WHERE at < $1",
		} {
			if _, err := tx.ExecContext(ctx, statement, horizon); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("platform: clear old records: %w", err)
	}
	numbers, err := queryStrings(ctx, s.db.Reader(), "SELECT DISTINCT number FROM mailbox")
	if err != nil {
		return fmt.Errorf("platform: list mailboxes: %w", err)
	}
	for _, number := range numbers {
		of, err := s.directory.find(ctx, number)
		if err != nil {
			return err
		}
		if of != nil {
			s.mailboxes.wake(of)
		}
	}
	due, err := firstDue(ctx, s.db)
	if err != nil {
		return fmt.Errorf("platform: list messages to read: %w", err)
	}
	if !due.IsZero() {
		s.reads.wakeAt(due)
	}
	return nil
}

// ownChat returns whom a device wrote a message to, nil where it is not known.
func (s *Server) ownChat(ctx context.Context, sender, id string) (*account, error) {
	address, err := s.sentAddress(ctx, sender, id)
	if err != nil || address.Server == "" {
		return nil, err
	}
	return s.directory.byJID(ctx, types.NewJID(address.User, address.Server))
}
