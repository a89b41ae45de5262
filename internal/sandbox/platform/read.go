package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// readPage bounds how many messages are read in one transaction.
const readPage = 200

// idleWait is how long the worker sleeps while nothing is due.
const idleWait = time.Hour

// readClock wakes the worker that lets phones read what is due. What is due,
// and when, is in the database.
type readClock struct {
	signal chan struct{}

	mu   sync.Mutex
	next time.Time // the earliest message that was announced; zero: none
}

func newReadClock() *readClock { return &readClock{signal: make(chan struct{}, 1)} }

// wakeAt says that a message is due then.
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

// wait returns how long there is nothing to do.
func (r *readClock) wait(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next.IsZero() {
		return idleWait
	}
	return max(r.next.Sub(now), 0)
}

// began forgets what was announced: the worker looks for itself now.
func (r *readClock) began() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.Time{}
}

// readWorker lets phones read their messages when their time has come.
func (s *Server) readWorker(ctx context.Context) {
	for ctx.Err() == nil {
		timer := time.NewTimer(s.reads.wait(s.now()))
		select {
		case <-ctx.Done():
		case <-s.reads.signal:
		case <-timer.C:
			s.reads.began()
			next, err := s.readDue(ctx)
			if err != nil && ctx.Err() == nil {
				s.logger.LogAttrs(ctx, slog.LevelError, "messages not read", slog.Any("error", err))
				next = s.now().Add(mailboxRetry)
			}
			if !next.IsZero() {
				s.reads.wakeAt(next)
			}
		}
		timer.Stop()
	}
}

// dueMessage is a message that a phone is going to read.
type dueMessage struct {
	number string
	at     time.Time
	kept   *keptMessage
}

// readDue reads a page of what is due and returns when to look again; the zero
// time where there is nothing more.
func (s *Server) readDue(ctx context.Context) (next time.Time, err error) {
	page, err := s.unread(ctx)
	if err != nil {
		return next, fmt.Errorf("platform: list messages to read: %w", err)
	}
	now := s.now()
	u := s.newUnit()
	for _, d := range page {
		if d.at.After(now) {
			next = d.at
			break
		}
		next = now // there may be more
		reader, err := s.directory.ensure(ctx, d.number)
		if err != nil {
			return next, err
		}
		if err := s.markRead(ctx, u, reader, d.kept, receiptRead); err != nil {
			return next, err
		}
	}
	return next, u.commit(ctx)
}

// unread returns a page of the messages that are to be read, in the order in
// which they are due.
func (s *Server) unread(ctx context.Context) (page []dueMessage, err error) {
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

// markRead lets a phone read, or play, a message it has got: the sender's
// devices are told, and the phone's own linked devices.
func (s *Server) markRead(ctx context.Context, u *unit, reader *account, kept *keptMessage, kind string) error {
	u.exec("UPDATE messages SET status = MAX(status, $1), read_due = 0 WHERE number = $2 AND id = $3 AND sender = $4",
		statusOf(kind), reader.number, kept.id, kept.sender)
	lid, id, ok := parseDeviceRef(kept.device)
	if !ok {
		return nil
	}
	sender, err := s.directory.findLID(ctx, lid)
	if err != nil || sender == nil {
		return err
	}
	address, err := types.ParseJID(kept.address)
	if err != nil {
		address = types.JID{} // a phone wrote it: no receipt depends on the form
	}
	in := incoming{sender: sender, device: id, id: kept.id, address: address}
	own := receiptParams{from: reader.lidJID(), ids: []string{kept.id}, kind: kind, at: s.now().Unix(), recipient: sender.lidJID()}
	if jid, err := types.ParseJID(kept.chat); err == nil && jid.Server == types.GroupServer {
		if in.group, err = s.groups.find(ctx, jid.User); err != nil || in.group == nil {
			return err
		}
		own.from, own.participant, own.recipient = jid, reader.lidJID(), nil
	}
	if err := u.receiptTo(ctx, reader, in, kind); err != nil {
		return err
	}
	for _, linked := range reader.companions() {
		if err := u.toDevice(linked, receipt(own)); err != nil {
			return err
		}
	}
	return nil
}

// MarkRead lets the person who holds the phone read a message, or play it.
func (s *Server) MarkRead(ctx context.Context, number, messageID string, played bool) error {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	kept, err := s.findMessage(ctx, of, messageID, false)
	if err != nil {
		return err
	}
	if kept == nil {
		return notFound("the phone has received no message with this id")
	}
	kind := receiptRead
	if played {
		kind = receiptPlayed
	}
	u := s.newUnit()
	if err := s.markRead(ctx, u, of, kept, kind); err != nil {
		return err
	}
	return u.commit(ctx)
}

// firstDue returns when the first message is to be read, the zero time if none
// is.
func firstDue(ctx context.Context, db *sqlite.DB) (time.Time, error) {
	due, err := queryInts(ctx, db.Reader(), "SELECT read_due FROM messages WHERE read_due > 0 ORDER BY read_due LIMIT 1")
	if err != nil || len(due) == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(due[0]), nil
}
