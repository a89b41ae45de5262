// When phones read their messages.

package phone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sqlite"
)

// readPage bounds the messages that are read in one transaction.
const readPage = 200

// idleWait is how long the worker sleeps if nothing is due.
const idleWait = time.Hour

// readClock wakes the worker that reads messages when they are due. The messages
// and their times are in the database.
type readClock struct {
	signal chan struct{}

	mu   sync.Mutex
	next time.Time // the earliest announced time; zero for none
}

func newReadClock() *readClock { return &readClock{signal: make(chan struct{}, 1)} }

// wakeAt wakes the worker at the time.
func (r *readClock) wakeAt(due time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.next.IsZero() && !due.Before(r.next) {
		return
	}
	r.next = due
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// wait returns how long the worker may sleep.
func (r *readClock) wait(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next.IsZero() {
		return idleWait
	}
	return max(r.next.Sub(now), 0)
}

// reset forgets the announced time, because the worker looks into the database now.
func (r *readClock) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.Time{}
}

// readWorker lets phones read messages when they are due, until ctx ends.
func (s *Service) readWorker(ctx context.Context) {
	for ctx.Err() == nil {
		timer := time.NewTimer(s.reads.wait(s.now()))
		select {
		case <-ctx.Done():
		case <-s.reads.signal:
		case <-timer.C:
			s.reads.reset()
			next, err := s.readDue(ctx)
			if err != nil && ctx.Err() == nil {
				s.config.Logger.LogAttrs(ctx, slog.LevelError, "messages could not be read", slog.Any("error", err))
				next = s.now().Add(mailboxRetry)
			}
			if !next.IsZero() {
				s.reads.wakeAt(next)
			}
		}
		timer.Stop()
	}
}

// dueMessage is a message with the time at which a phone reads it.
type dueMessage struct {
	number string
	at     time.Time
	kept   *storedMessage
}

// readDue reads a page of due messages. It returns when to look again, or the zero
// time if no message is left.
func (s *Service) readDue(ctx context.Context) (next time.Time, err error) {
	page, err := s.unread(ctx)
	if err != nil {
		return next, fmt.Errorf("phone: list messages to read: %w", err)
	}
	now := s.now()
	u := s.config.Accounts.NewUnit()
	for _, d := range page {
		if d.at.After(now) {
			next = d.at
			break
		}
		next = now // there may be more
		reader, err := s.config.Accounts.Ensure(ctx, d.number)
		if err != nil {
			return next, err
		}
		if err := s.markRead(ctx, u, reader, d.kept, receipt.Read); err != nil {
			return next, err
		}
	}
	return next, u.Commit(ctx)
}

// unread returns a page of the messages that phones have still to read, in the
// order of their times.
func (s *Service) unread(ctx context.Context) (page []dueMessage, err error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		"SELECT number, read_due, "+messageColumns+" FROM messages WHERE read_due > 0 ORDER BY read_due LIMIT $1", readPage)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var d dueMessage
		var at int64
		d.kept, err = scanMessage(func(columns ...any) error {
			return rows.Scan(append([]any{&d.number, &at}, columns...)...)
		})
		if err != nil {
			return nil, err
		}
		d.at = time.UnixMilli(at)
		page = append(page, d)
	}
	return page, rows.Err()
}

// markRead lets a phone read or play a message that it has received. The sender's
// devices and the phone's own linked devices get receipts.
func (s *Service) markRead(ctx context.Context, u *account.Unit, reader *account.Account, kept *storedMessage, kind string) error {
	u.Ring(reader.Number)
	u.Exec("UPDATE messages SET status = MAX(status, $1), read_due = 0 WHERE number = $2 AND id = $3 AND sender = $4",
		receipt.StatusOf(kind), reader.Number, kept.id, kept.sender)
	lid, id, ok := account.ParseDeviceRef(kept.device)
	if !ok {
		return nil
	}
	sender, err := s.config.Accounts.FindLID(ctx, lid)
	if err != nil || sender == nil {
		return err
	}
	address, err := types.ParseJID(kept.address)
	if err != nil {
		address = types.JID{} // a phone has sent it, and phones do not care about the form
	}
	m := receipt.Sent{Sender: sender, Device: id, ID: kept.id, Address: address}
	own := receipt.Params{From: reader.LIDJID(), IDs: []string{kept.id}, Kind: kind, At: s.now().Unix(), Recipient: sender.LIDJID()}
	if jid, err := types.ParseJID(kept.chat); err == nil && (jid.Server == types.GroupServer || jid == types.StatusBroadcastJID) {
		if jid.Server == types.GroupServer {
			if found, err := s.groups.Find(ctx, jid.User); err != nil || found == nil {
				return err
			}
		}
		m.Group = jid
		own.From, own.Participant, own.Recipient = jid, reader.LIDJID(), nil
	}
	if err := s.config.Receipts.Answer(ctx, u, reader, m, kind); err != nil {
		return err
	}
	for _, linked := range reader.Companions() {
		if err := u.ToDevice(linked, receipt.Node(own)); err != nil {
			return err
		}
	}
	return nil
}

// MarkRead lets the phone of a number read a message, or play it.
func (s *Service) MarkRead(ctx context.Context, number, messageID string, played bool) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	kept, err := s.findMessage(ctx, of, messageID, false)
	if err != nil {
		return err
	}
	if kept == nil {
		return refusal.NotFoundf("the phone has received no message with this id")
	}
	kind := receipt.Read
	if played {
		kind = receipt.Played
	}
	u := s.config.Accounts.NewUnit()
	if err := s.markRead(ctx, u, of, kept, kind); err != nil {
		return err
	}
	return u.Commit(ctx)
}

// firstDue returns when the first message is due, or the zero time if there is
// none.
func firstDue(ctx context.Context, db *sqlite.DB) (time.Time, error) {
	due, err := database.Ints(ctx, db.Reader(), "SELECT read_due FROM messages WHERE read_due > 0 ORDER BY read_due LIMIT 1")
	if err != nil || len(due) == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(due[0]), nil
}
