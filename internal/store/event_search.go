// Events that are looked for: those of a chat, those that a filter lets through, and the first
// one since a time.

package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/webhook"
)

const (
	readChatEvents = "SELECT " + eventColumns + ` FROM events WHERE instance_id = $1 AND sequence > $2 AND sequence <= $3
		AND chat = $4 ORDER BY sequence LIMIT $5 + 0`

	firstEventSince = "SELECT sequence FROM events WHERE instance_id = $1 AND created_at >= $2 ORDER BY sequence LIMIT 1"
)

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
	sequence, _, err := table.Find(ctx, s.db.reader(), table.ScanNumber, firstEventSince, instanceID, table.Millis(since))
	if err != nil {
		return 0, fmt.Errorf("store: find an event by its time: %w", err)
	}
	return sequence, nil
}

// readWanted is the query of ReadWantedEvents. Where the kind or the chat of an event is
// wanted by nobody, its data are not read.
func (d dialect) readWanted() string {
	set := func(parameter string) string { return strings.ReplaceAll(d.each, "$2", parameter) }
	return "SELECT " + eventColumns + " FROM events WHERE instance_id = $1 AND sequence > $2 AND sequence <= $3" +
		" AND ($4 = '[]' OR kind IN " + set("$4") + ")" +
		" AND ($5 = '[]' OR chat = '' OR CASE WHEN chat = '" + string(gateway.StatusChat) + "' THEN 'status'" +
		" WHEN chat LIKE '%@" + gateway.GroupSuffix + "' THEN 'group' WHEN chat LIKE '%@" + gateway.ChannelSuffix +
		"' THEN 'channel' ELSE 'direct' END IN " + set("$5") + ") ORDER BY sequence LIMIT $6 + 0"
}

// ReadWantedEvents returns the events of an instance that a filter lets through, after one
// sequence number and up to another, in order, maxEvents at most. It stops after the event
// with which their data reach maxBytes. searched is how far it has looked.
func (s *Store) ReadWantedEvents(
	ctx context.Context, instanceID string, filter webhook.Filter, after, through int64, maxEvents, maxBytes int,
) (events []eventlog.Event, searched int64, err error) {
	kinds, err := texts(filter.Kinds)
	if err != nil {
		return nil, 0, fmt.Errorf("store: read wanted events: %w", err)
	}
	chats, err := texts(filter.Chats)
	if err != nil {
		return nil, 0, fmt.Errorf("store: read wanted events: %w", err)
	}
	rows, err := s.db.reader().QueryContext(ctx, s.dialect.readWanted(), instanceID, after, through, kinds, chats, maxEvents)
	if err != nil {
		return nil, 0, fmt.Errorf("store: read wanted events: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	size := 0
	for size < maxBytes && rows.Next() {
		event, err := scanEvent(rows)
		if err != nil {
			return nil, 0, fmt.Errorf("store: read wanted events: %w", err)
		}
		size += len(event.Data)
		events = append(events, event)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("store: read wanted events: %w", err)
	}
	if len(events) == maxEvents || size >= maxBytes {
		through = events[len(events)-1].Sequence
	}
	return events, through, nil
}
