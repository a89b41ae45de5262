// The tables of webhooks: what became of the events.

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/webhook"
)

const (
	countDeliveries = `SELECT (SELECT count(*) FROM webhook_blocked_chats WHERE instance_id = $1)
		+ (SELECT count(*) FROM webhook_dead_letters WHERE instance_id = $1)
		+ (SELECT count(*) FROM webhook_attempts WHERE instance_id = $1)`

	// A limit that is a bare parameter makes SQLite plan anew each time.
	listDeliveries = `SELECT part, sequence, event_id, kind, chat, at, answer_status, error, duration_ms, answer, failures, next_try_at
		FROM (SELECT 1 AS part, since AS rank, sequence, event_id, kind, chat, since AS at, answer_status, error,
			0 AS duration_ms, '' AS answer, failures, next_try_at FROM webhook_blocked_chats WHERE instance_id = $1
		UNION ALL SELECT 2, died_at, sequence, event_id, kind, chat, died_at, answer_status, error,
			0, '', 0, 0 FROM webhook_dead_letters WHERE instance_id = $1
		UNION ALL SELECT 3, number, sequence, event_id, kind, chat, attempted_at, answer_status, error,
			duration_ms, answer, 0, 0 FROM webhook_attempts WHERE instance_id = $1) AS deliveries
		ORDER BY part, rank DESC, sequence DESC LIMIT $2 + 0 OFFSET $3`

	readChatEvents = "SELECT " + eventColumns + ` FROM events WHERE instance_id = $1 AND sequence > $2 AND sequence <= $3
		AND chat = $4 ORDER BY sequence LIMIT $5 + 0`

	firstEventSince = "SELECT sequence FROM events WHERE instance_id = $1 AND created_at >= $2 ORDER BY sequence LIMIT 1"
)

// ListDeliveries returns a page of the deliveries of an instance's webhook: the blocked
// chats, the dead letters or the recent attempts, newest first.
func (s *Store) ListDeliveries(
	ctx context.Context, instanceID string, request gateway.PageRequest,
) (gateway.Page[webhook.Delivery], error) {
	var page gateway.Page[webhook.Delivery]
	var err error
	page.Items, err = table.Collect(ctx, s.db.scanner(), scanDelivery, listDeliveries, instanceID, request.Limit, request.Offset())
	if err != nil {
		return page, fmt.Errorf("store: list deliveries: %w", err)
	}
	if err := s.db.scanner().QueryRowContext(ctx, countDeliveries, instanceID).Scan(&page.Total); err != nil {
		return page, fmt.Errorf("store: count deliveries: %w", err)
	}
	return page, nil
}

func scanDelivery(row table.Scanner) (webhook.Delivery, error) {
	var d webhook.Delivery
	var part int
	var at, duration, nextTry int64
	err := row.Scan(&part, &d.Sequence, &d.EventID, &d.Kind, &d.Chat, &at, &d.Status, &d.Error,
		&duration, &d.Answer, &d.Failures, &nextTry)
	switch {
	case part == 1:
		d.State = webhook.DeliveryBlocked
	case part == 2:
		d.State = webhook.DeliveryDeadLetter
	case d.Error == "":
		d.State = webhook.DeliveryDone
	default:
		d.State = webhook.DeliveryFailed
	}
	d.At, d.NextTry, d.Duration = table.Time(at), table.Time(nextTry), time.Duration(duration)*time.Millisecond
	return d, err
}

// DeleteDeadLetter removes the dead letter of an event. One that is not there is no error.
func (s *Store) DeleteDeadLetter(ctx context.Context, instanceID string, sequence int64) error {
	if _, err := s.execOf(ctx, instanceID, "DELETE FROM webhook_dead_letters WHERE instance_id = $1 AND sequence = $2",
		instanceID, sequence); err != nil {
		return fmt.Errorf("store: delete dead letter: %w", err)
	}
	return nil
}

// ReadChatEvents returns the events of a chat after one sequence number and up
// to another, in order, limit at most. It reads every event in between.
func (s *Store) ReadChatEvents(
	ctx context.Context, instanceID string, chat gateway.JID, after, through int64, limit int,
) ([]eventlog.Event, error) {
	events, err := table.Collect(ctx, s.db.reader(), scanEvent, readChatEvents, instanceID, after, through, string(chat), limit)
	if err != nil {
		return nil, fmt.Errorf("store: read events of a chat: %w", err)
	}
	return events, nil
}

// FirstEventSince returns the first sequence number of an instance's events that were
// written at that time or later; 0 if there is none.
func (s *Store) FirstEventSince(ctx context.Context, instanceID string, since time.Time) (int64, error) {
	sequence, _, err := table.Find(ctx, s.db.reader(), func(row table.Scanner) (int64, error) {
		var sequence int64
		err := row.Scan(&sequence)
		return sequence, err
	}, firstEventSince, instanceID, table.Millis(since))
	if err != nil {
		return 0, fmt.Errorf("store: find an event by its time: %w", err)
	}
	return sequence, nil
}
