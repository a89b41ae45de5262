// The removal of messages, and of anything else, a slice at a time.

package store

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/store/table"
)

// A message that is on its way is not removed, because its outcome still has to be
// written.
const (
	messagesBefore = "SELECT id FROM messages WHERE instance_id = $1 AND created_at < $2 AND status <> 0 ORDER BY created_at, id LIMIT $3 + 0"

	messagesBeyond = "SELECT id FROM (SELECT id, status, created_at FROM messages WHERE instance_id = $1" +
		" ORDER BY created_at DESC, id DESC LIMIT $3 + 0 OFFSET $2) AS surplus WHERE status <> 0"

	oldestMessages = "SELECT id FROM messages WHERE instance_id = $1 ORDER BY created_at, id LIMIT $2 + 0"
)

// MessagesBefore returns the internal identifiers of an instance's messages from
// before a time, oldest first, limit at most, without those that are on their way.
func (s *Store) MessagesBefore(ctx context.Context, instanceID string, before time.Time, limit int) (_ []string, err error) {
	defer table.Wrap(&err, "messages from before a time")
	return table.Collect(ctx, s.db.Scanner(), table.Value[string], messagesBefore, instanceID, table.Millis(before), limit)
}

// MessagesBeyond returns the internal identifiers of those messages of an instance
// that are older than its keep newest ones; limit at most, and without
// those that are on their way.
func (s *Store) MessagesBeyond(ctx context.Context, instanceID string, keep, limit int) (_ []string, err error) {
	defer table.Wrap(&err, "messages beyond a number")
	return table.Collect(ctx, s.db.Scanner(), table.Value[string], messagesBeyond, instanceID, keep, limit)
}

// DeleteMessages removes messages of an instance by their internal identifiers. A message
// that is gone is no error.
func (s *Store) DeleteMessages(ctx context.Context, instanceID string, ids []string) (err error) {
	defer table.Wrap(&err, "delete messages")
	// With the column of the instance SQLite would read its index whole.
	_, err = s.removeMessages(ctx, instanceID, "SELECT id FROM messages WHERE instance_id || '' = $1 AND id IN "+s.db.In(2), table.Texts(ids))
	return err
}

// removeMessages removes the messages of an instance that a query finds, whose first
// parameter is the instance, and returns how many there were. It is in order with the other
// writes of the instance, so that they know which messages are gone.
func (s *Store) removeMessages(ctx context.Context, instanceID, query string, choice any) (removed int64, err error) {
	err = s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		r.recent.TouchedAll()
		ids, err := r.chats.Leaving(ctx, r, query, instanceID, choice)
		if err != nil {
			return err
		}
		removed = int64(len(ids))
		if _, err := r.ExecContext(ctx, "DELETE FROM messages WHERE id IN ("+query+")", instanceID, choice); err != nil {
			return err
		}
		return r.chats.Left(ctx, r, ids)
	})
	return removed, err
}

// sliceRows bounds how many rows one transaction removes, so that other writes don't wait
// long.
const sliceRows = 200

// deleteInSlices runs a DELETE statement until it removes no more rows, and returns how
// many there were. Nobody waits for it, so it rests after each. Its first parameter is choice, its second one the largest number of
// rows to remove. Each run is a transaction of its own, so those before an error remain
// done.
func (s *Store) deleteInSlices(ctx context.Context, query string, choice any) (removed int64, err error) {
	return inSlices(func() (n int64, err error) {
		err = share.Rested(ctx, func() (err error) {
			n, err = s.db.Exec(ctx, query, choice, sliceRows)
			return err
		})
		return n, err
	})
}

// inSlices repeats a removal of sliceRows rows at most, as deleteInSlices does, without a rest: a client may wait for it.
func inSlices(remove func() (int64, error)) (removed int64, err error) {
	for {
		n, err := remove()
		removed += n
		if err != nil || n < sliceRows {
			return removed, err
		}
	}
}
