// The table of events: the transactions that append to it, and how it is searched.

package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/webhook"
)

//nolint:gochecknoglobals // a table, and a statement that is made of it
var (
	eventColumns = table.Of(
		table.Text("instance_id", func(e *eventlog.Event) *string { return &e.InstanceID }),
		table.Number("sequence", func(e *eventlog.Event) *int64 { return &e.Sequence }),
		table.Text("id", func(e *eventlog.Event) *string { return &e.ID }),
		table.Text("kind", func(e *eventlog.Event) *eventlog.Kind { return &e.Kind }),
		table.Text("chat", func(e *eventlog.Event) *gateway.JID { return &e.Chat }),
		table.Text("source_key", func(e *eventlog.Event) *string { return &e.SourceKey }),
		table.Moment("happened_at", func(e *eventlog.Event) *time.Time { return &e.At }),
		table.Custom("data", func(e *eventlog.Event) any { return table.NotNull(e.Data) }, func(e *eventlog.Event) any { return (*eventData)(&e.Data) }),
	)

	// An event without a source key is always new.
	appendEvent = "INSERT INTO events (" + eventColumns.Names + ", created_at) VALUES (" + eventColumns.Parameters() + ", " + eventColumns.Next(1) + ")" +
		" ON CONFLICT (instance_id, source_key) WHERE source_key <> '' DO NOTHING"
)

const (
	// A limit that is a bare parameter makes SQLite plan anew each time.
	readEvents = "FROM events WHERE instance_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3 + 0"

	// The kinds are those of the index events_between_messages, which SQLite uses only where it finds its
	// condition again.
	eventsOfChat = "FROM events WHERE instance_id = $1 AND chat IN ($2, $3) AND happened_at >= $4 AND happened_at < $5" +
		" AND kind IN ('" + string(eventlog.KindCallReceived) + "', '" + string(eventlog.KindCallEnded) + "', '" + string(eventlog.KindGroupUpdated) + "')" +
		" ORDER BY happened_at DESC, sequence DESC LIMIT $6 + 0"

	newestEvents = "FROM events WHERE instance_id = $1 AND sequence >= $2 AND sequence < $3 ORDER BY sequence DESC LIMIT $4 + 0"

	// The newest event is never removed, so the next number is always known.
	lastSequence = "SELECT COALESCE(MAX(sequence), 0) FROM events WHERE instance_id = $1"

	eventBounds = `SELECT COALESCE((SELECT MIN(sequence) FROM events WHERE instance_id = $1), 0),
		COALESCE((SELECT MAX(sequence) FROM events WHERE instance_id = $1), 0)`
)

// recorder is a write transaction that may append events of one instance.
type recorder struct {
	table.Querier

	instanceID string
	now        func() time.Time
	appended   []eventlog.Event
	recent     sentWrite       // what becomes of the messages that are remembered
	chats      chattable.Write // what becomes of the chats
	last       int64           // the number of the newest event; 0 if it is not known
	numbers    *lru.Cache[string, int64]
	committed  func() // called after the commit; may be nil
}

// together is a transaction that appends the events of many writes at once.
type together interface {
	// appendLater appends an event before the transaction ends, if there is a message with the
	// id by then. With an empty id it is appended in any case.
	appendLater(r *recorder, message string, event eventlog.Event)
	// flush appends the events that were taken so far.
	flush() error
}

// Append adds and numbers events, at once or before the transaction ends. It skips events whose source
// key exists already.
func (r *recorder) Append(ctx context.Context, events ...eventlog.Event) error {
	if r.appendLater("", events) {
		return nil
	}
	for _, event := range events {
		last, err := r.lastEvent(ctx)
		if err != nil {
			return fmt.Errorf("number event: %w", err)
		}
		event.InstanceID, event.Sequence = r.instanceID, last+1
		result, err := r.ExecContext(ctx, appendEvent, eventColumns.Values(&event, table.Millis(r.now()))...)
		if err != nil {
			return fmt.Errorf("append event: %w", err)
		}
		added, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("append event: %w", err)
		}
		if added > 0 {
			r.last = event.Sequence
			r.appended = append(r.appended, event)
		}
	}
	return nil
}

// lastEvent is the number of the newest event of the instance. What is remembered of it is forgotten until
// the commit: a later write of the same transaction reads what this one has added, and a transaction that
// fails leaves nothing.
func (r *recorder) lastEvent(ctx context.Context) (int64, error) {
	if r.last > 0 {
		return r.last, nil
	}
	if last, ok := r.numbers.Get(r.instanceID); ok {
		r.numbers.Remove(r.instanceID)
		r.last = last
		return last, nil
	}
	err := r.QueryRowContext(ctx, lastSequence, r.instanceID).Scan(&r.last)
	return r.last, err
}

// appendWith is Append if the statement with this result has added a message.
func (r *recorder) appendWith(ctx context.Context, message string, result sql.Result, events ...eventlog.Event) error {
	if r.appendLater(message, events) {
		return nil
	}
	if added, err := result.RowsAffected(); err != nil || added == 0 {
		return err
	}
	return r.Append(ctx, events...)
}

// appendLater reports whether the events are appended with those of other writes.
func (r *recorder) appendLater(message string, events []eventlog.Event) bool {
	tx, ok := r.Querier.(together)
	if !ok {
		return false
	}
	for _, event := range events {
		tx.appendLater(r, message, event)
	}
	return true
}

// flush appends the events that were taken so far before any later statement.
func (r *recorder) flush() error {
	if tx, ok := r.Querier.(together); ok {
		return tx.flush()
	}
	return nil
}

// record runs fn in a write transaction that may append events of an instance.
// Transactions of one instance run one after another, in the order of the calls, and the
// bell rings in that order too. Its error is gateway.ErrUnstorable if the database
// refuses the values.
func (d *instanceDatabase) record(ctx context.Context, instanceID string, fn func(ctx context.Context, r *recorder) error) error {
	return markUnstorable(d.beginRecord(ctx, instanceID, fn).Wait())
}

// recordOr is record for what fn may refuse, after which it has written nothing. A refusal is no error of
// the transaction: that would make the writes that share its commit run again.
func (d *instanceDatabase) recordOr(
	ctx context.Context, instanceID string, fn func(ctx context.Context, r *recorder) (refused, err error),
) (refused, err error) {
	err = d.record(ctx, instanceID, func(ctx context.Context, r *recorder) (err error) {
		refused, err = fn(ctx, r)
		return err
	})
	return refused, err
}

// beginRecord is record that returns before fn has run, and leaves the errors as they are.
func (d *instanceDatabase) beginRecord(
	ctx context.Context, instanceID string, fn func(ctx context.Context, r *recorder) error,
) groupcommit.Pending {
	r := &recorder{instanceID: instanceID, now: d.now, numbers: d.numbers}
	cause := trace.Of(ctx)
	return d.Begin(ctx, instanceID, func(ctx context.Context, q table.Querier) error {
		epoch := gateway.TenureOf(ctx).Epoch
		r.Querier, r.appended, r.committed, r.last = q, nil, nil, 0
		r.recent, r.chats = d.recent.Begin(instanceID, epoch), d.chats.BeginChats(instanceID, epoch)
		return fn(ctx, r)
	}, func() {
		r.recent.Committed()
		r.chats.Committed()
		if r.committed != nil {
			r.committed()
		}
		if r.last > 0 {
			r.numbers.Add(instanceID, r.last)
		}
		if len(r.appended) > 0 {
			for i := range r.appended {
				r.appended[i].Trace = cause
			}
			d.bell.Ring(r.appended)
		}
	})
}

// markUnstorable adds gateway.ErrUnstorable to an error that was caused by the values.
func markUnstorable(err error) error {
	if sqlerror.IsData(err) {
		return fmt.Errorf("%w: %w", gateway.ErrUnstorable, err)
	}
	return err
}

// AppendEvents appends events of one instance and returns after their commit.
// It skips an event whose source key exists already.
func (s *Store) AppendEvents(ctx context.Context, instanceID string, events ...eventlog.Event) (err error) {
	defer table.Wrap(&err, "append events")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		return r.Append(ctx, events...)
	})
}

// ReadEvents returns the events of an instance after a sequence number, in
// order, limit at most.
func (s *Store) ReadEvents(ctx context.Context, instanceID string, after int64, limit int) (_ []eventlog.Event, err error) {
	defer table.Wrap(&err, "read events")
	return eventColumns.Collect(ctx, s.db.Reader(), readEvents, instanceID, after, limit)
}

// NewestEvents returns the newest events of an instance from one sequence number until
// another, newest first, limit at most: of some kinds, or of all if no kinds are given.
func (s *Store) NewestEvents(
	ctx context.Context, instanceID string, kinds []eventlog.Kind, from, before int64, limit int,
) (_ []eventlog.Event, err error) {
	defer table.Wrap(&err, "newest events")
	if len(kinds) == 0 {
		return eventColumns.Collect(ctx, s.db.Scanner(), newestEvents, instanceID, from, before, limit)
	}
	return eventColumns.Collect(ctx, s.db.Scanner(), s.db.newestEventsOf(), instanceID, table.Texts(kinds), from, before, limit)
}

// EventsOfChat returns the calls and the changes of the group that happened in a chat from one moment until
// another, newest first, limit at most.
func (s *Store) EventsOfChat(
	ctx context.Context, instanceID string, chat gateway.Party, since, until time.Time, limit int,
) (_ []eventlog.Event, err error) {
	defer table.Wrap(&err, "events of a chat")
	jid, lid := cmp.Or(chat.JID, chat.LID), cmp.Or(chat.LID, chat.JID)
	return eventColumns.Collect(ctx, s.db.Scanner(), eventsOfChat, instanceID, string(jid), string(lid), table.Millis(since), table.Millis(until), limit)
}

// newestEventsOf is newestEvents for some kinds.
func (d dialect) newestEventsOf() string {
	return "FROM events WHERE instance_id = $1 AND kind IN " + d.In(2) +
		" AND sequence >= $3 AND sequence < $4 ORDER BY sequence DESC LIMIT $5 + 0"
}

// ReadEventSlice returns the events of an instance after a sequence number, in
// order, maxEvents at most. It stops after the event with which their data reach
// maxBytes.
func (s *Store) ReadEventSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) (events []eventlog.Event, err error) {
	defer table.Wrap(&err, "read events")
	events, _, err = s.readSome(ctx, maxBytes, readEvents, instanceID, after, maxEvents)
	return events, err
}

// readSome reads the events that from selects, and stops after the one with which their data reach
// maxBytes. full reports whether they do.
func (s *Store) readSome(ctx context.Context, maxBytes int, from string, args ...any) (events []eventlog.Event, full bool, err error) {
	rows, err := s.db.Reader().QueryContext(ctx, "SELECT "+eventColumns.Names+" "+from, args...)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	size := 0
	for size < maxBytes && rows.Next() {
		event, err := eventColumns.Scan(rows)
		if err != nil {
			return nil, false, err
		}
		size += len(event.Data)
		events = append(events, event)
	}
	return events, size >= maxBytes, rows.Err()
}

// EventBounds returns the oldest and the newest sequence number of the stored events; 0
// and 0 if there are none.
func (s *Store) EventBounds(ctx context.Context, instanceID string) (oldest, newest int64, err error) {
	defer table.Wrap(&err, "event bounds")
	err = s.db.Reader().QueryRowContext(ctx, eventBounds, instanceID).Scan(&oldest, &newest)
	return oldest, newest, err
}

// EventInstances returns the ids of all instances that have events, including deleted
// instances.
func (s *Store) EventInstances(ctx context.Context) (_ []string, err error) {
	defer table.Wrap(&err, "instances with events")
	return table.Collect(ctx, s.db.Scanner(), table.Value[string], "SELECT DISTINCT instance_id FROM events ORDER BY instance_id")
}

// LastEventBefore returns the last sequence number among the first limit events
// after a number that were written before a time; 0 if the first of them is younger, or
// there is none.
func (s *Store) LastEventBefore(ctx context.Context, instanceID string, after int64, before time.Time, limit int) (int64, error) {
	type age struct{ sequence, createdAt int64 }
	ages, err := table.Collect(ctx, s.db.Scanner(), table.Into(func(a *age) []any { return []any{&a.sequence, &a.createdAt} }),
		"SELECT sequence, created_at FROM events WHERE instance_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3 + 0",
		instanceID, after, limit)
	if err != nil {
		return 0, fmt.Errorf("store: look for old events: %w", err)
	}
	var last int64
	for _, a := range ages {
		if a.createdAt >= table.Millis(before) {
			break
		}
		last = a.sequence
	}
	return last, nil
}

// DeleteEvents removes the events of an instance up to a sequence number, but
// never the one that is the newest when it is called, and returns how many there were.
// Then it appends events in the same transaction.
func (s *Store) DeleteEvents(ctx context.Context, instanceID string, through int64, events ...eventlog.Event) (int64, error) {
	var removed int64
	err := s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		// Events of other writes in this transaction have to be appended first.
		if err := r.flush(); err != nil {
			return err
		}
		result, err := r.ExecContext(ctx, `DELETE FROM events WHERE instance_id = $1 AND sequence <= $2
			AND sequence < (SELECT MAX(sequence) FROM events WHERE instance_id = $1)`, instanceID, through)
		if err != nil {
			return err
		}
		if removed, err = result.RowsAffected(); err != nil {
			return err
		}
		return r.Append(ctx, events...)
	})
	table.Wrap(&err, "delete events")
	return removed, err
}

type eventData json.RawMessage

// Scan reads the column. Damaged data are replaced, because they would spoil everything that they are
// delivered and listed with.
func (d *eventData) Scan(source any) error {
	stored, err := table.Stored(source)
	if err != nil {
		return err
	}
	if *d = bytes.Clone(stored); !json.Valid(stored) {
		*d = eventData(`{"damaged":true}`)
	}
	return nil
}

const (
	readChatEvents = `FROM events WHERE instance_id = $1 AND sequence > $2 AND sequence <= $3
		AND chat = $4 ORDER BY sequence LIMIT $5 + 0`

	firstEventSince = "SELECT sequence FROM events WHERE instance_id = $1 AND created_at >= $2 ORDER BY sequence LIMIT 1"
)

// ReadChatEvents returns the events of a chat after one sequence number and up
// to another, in order, limit at most. It reads every event in between.
func (s *Store) ReadChatEvents(
	ctx context.Context, instanceID string, chat gateway.JID, after, through int64, limit int,
) (_ []eventlog.Event, err error) {
	defer table.Wrap(&err, "read events of a chat")
	return eventColumns.Collect(ctx, s.db.Reader(), readChatEvents, instanceID, after, through, string(chat), limit)
}

// FirstEventSince returns the first sequence number of an instance's events that were
// written at that time or later; 0 if there is none.
func (s *Store) FirstEventSince(ctx context.Context, instanceID string, since time.Time) (int64, error) {
	sequence, _, err := table.Find(ctx, s.db.Reader(), table.Value[int64], firstEventSince, instanceID, table.Millis(since))
	table.Wrap(&err, "find an event by its time")
	return sequence, err
}

// readWanted is the query of ReadWantedEvents. It does not read the data of events of other kinds or
// chats.
func (d dialect) readWanted() string {
	return "FROM events WHERE instance_id = $1 AND sequence > $2 AND sequence <= $3" +
		" AND ($4 = '[]' OR kind IN " + d.In(4) + ")" +
		" AND ($5 = '[]' OR chat = '' OR CASE WHEN chat = '" + string(gateway.StatusChat) + "' THEN 'status'" +
		" WHEN chat LIKE '%@" + gateway.GroupSuffix + "' THEN 'group' WHEN chat LIKE '%@" + gateway.ChannelSuffix +
		"' THEN 'channel' ELSE 'direct' END IN " + d.In(5) + ") ORDER BY sequence LIMIT $6 + 0"
}

// ReadWantedEvents returns the events of an instance that a filter lets through, after one
// sequence number and up to another, in order, maxEvents at most. It stops after the event
// with which their data reach maxBytes. searched is how far it has looked.
func (s *Store) ReadWantedEvents(
	ctx context.Context, instanceID string, filter webhook.Filter, after, through int64, maxEvents, maxBytes int,
) (events []eventlog.Event, searched int64, err error) {
	defer table.Wrap(&err, "read wanted events")
	events, full, err := s.readSome(ctx, maxBytes, s.db.readWanted(), instanceID, after, through, table.Texts(filter.Whole()), table.Texts(filter.Chats), maxEvents)
	if err != nil {
		return nil, 0, err
	}
	if len(events) == maxEvents || full {
		through = events[len(events)-1].Sequence
	}
	// What part of its kind an event is, its data say.
	return slices.DeleteFunc(events, func(event eventlog.Event) bool { return !filter.Takes(event) }), through, nil
}
