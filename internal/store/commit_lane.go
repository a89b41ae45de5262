package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store/table"
)

// commitLaneTx is a transaction of a commit lane. The events of all its writes are appended
// by one statement: a round trip to the server costs more than the row.
type commitLaneTx struct {
	table.Querier

	tx *postgres.Tx

	events  []laterEvent
	tenures []gateway.Tenure // that it stands on
}

// laterEvent is an event with the write that it belongs to.
type laterEvent struct {
	write   *recorder
	message string // it is appended only if there is a message with this id; "" means in any case
	event   eventlog.Event
	now     time.Time
}

// appendTogether numbers the events of each instance, starting after its newest one.
// The commit lane excludes other appends of these instances. If there is one all the
// same, the statement fails and the transaction is rolled back.
const appendTogether = `INSERT INTO events (instance_id, sequence, id, kind, chat, source_key, happened_at, created_at, data)
	SELECT n.instance_id,
		COALESCE((SELECT MAX(e.sequence) FROM events e WHERE e.instance_id = n.instance_id), 0)
			+ row_number() OVER (PARTITION BY n.instance_id ORDER BY n.place),
		n.id, n.kind, n.chat, n.source_key, n.happened_at, n.created_at, n.data
	FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bytea[])
		WITH ORDINALITY AS n (instance_id, message_id, id, kind, chat, source_key, happened_at, created_at, data, place)
	WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.instance_id = n.instance_id AND e.source_key = n.source_key AND e.source_key <> '')
		AND (n.message_id = '' OR EXISTS (SELECT 1 FROM messages m WHERE m.id = n.message_id))
	RETURNING id, sequence`

var _ together = (*commitLaneTx)(nil)

func (t *commitLaneTx) appendLater(r *recorder, message string, event eventlog.Event) {
	event.InstanceID = r.instanceID
	t.events = append(t.events, laterEvent{write: r, message: message, event: event, now: r.now()})
}

// under says which tenure the next write of an instance stands on.
func (t *commitLaneTx) under(tenure gateway.Tenure, instanceID string) error {
	if tenure.InstanceID != instanceID {
		return noTenure(instanceID)
	}
	if slices.Contains(t.tenures, tenure) {
		return nil
	}
	t.tenures = append(t.tenures, tenure)
	// Before the write, whose statements may collide with those of the next node.
	return holdTenures(t.tx, []gateway.Tenure{tenure})
}

// flush queues the statement that appends the events which are new. With its answer each
// write gets those that were its own.
func (t *commitLaneTx) flush() error {
	if len(t.events) == 0 {
		return nil
	}
	events := t.events
	t.events = nil
	err := t.tx.QueryLater(func(rows pgx.Rows) error {
		sequences := make(map[string]int64, len(events))
		for rows.Next() {
			var id string
			var sequence int64
			if err := rows.Scan(&id, &sequence); err != nil {
				return err
			}
			sequences[id] = sequence
		}
		for _, l := range events {
			if sequence, ok := sequences[l.event.ID]; ok {
				delete(sequences, l.event.ID) // the same event came a second time, and was not appended
				l.event.Sequence = sequence
				l.write.appended = append(l.write.appended, l.event)
			}
		}
		return nil
	}, appendTogether, eventColumnsOf(events)...)
	if err != nil {
		return fmt.Errorf("append events: %w", err)
	}
	return nil
}

// eventColumnsOf returns the parameters of appendTogether.
func eventColumnsOf(events []laterEvent) []any {
	type source struct{ instanceID, key, message string }
	var (
		taken                                             = make(map[source]bool, len(events))
		instanceIDs, messages, ids, kinds, chats, sources []string
		happenedAt, createdAt                             []int64
		data                                              [][]byte
	)
	for _, l := range events {
		from := source{l.event.InstanceID, l.event.SourceKey, l.message}
		if from.key != "" && taken[from] {
			continue // the statement does not see the rows that it adds itself
		}
		taken[from] = true
		instanceIDs, messages = append(instanceIDs, l.event.InstanceID), append(messages, l.message)
		ids, kinds, chats = append(ids, l.event.ID), append(kinds, string(l.event.Kind)), append(chats, string(l.event.Chat))
		sources, data = append(sources, l.event.SourceKey), append(data, table.NotNull(l.event.Data))
		happenedAt, createdAt = append(happenedAt, table.Millis(l.event.At)), append(createdAt, table.Millis(l.now))
	}
	return []any{instanceIDs, messages, ids, kinds, chats, sources, happenedAt, createdAt, data}
}
