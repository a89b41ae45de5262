package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
)

// commitLaneTx is a transaction of a commit lane. The events of all its writes are appended
// by one statement: a round trip to the server costs more than the row.
type commitLaneTx struct {
	querier

	ctx   context.Context //nolint:containedctx // the transaction's own, for what is done after its writes
	later []laterEvent
}

// laterEvent is an event with the write that it belongs to.
type laterEvent struct {
	write *recorder
	event eventlog.Event
	now   time.Time
}

// appendTogether numbers the events of each instance, starting after its newest one.
// The commit lane excludes other appends of these instances. If there is one all the
// same, the statement fails and the transaction is rolled back.
const appendTogether = `INSERT INTO events (instance_id, sequence, id, kind, chat, source_key, happened_at, created_at, data)
	SELECT n.instance_id,
		COALESCE((SELECT MAX(e.sequence) FROM events e WHERE e.instance_id = n.instance_id), 0)
			+ row_number() OVER (PARTITION BY n.instance_id ORDER BY n.place),
		n.id, n.kind, n.chat, n.source_key, n.happened_at, n.created_at, n.data
	FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bytea[])
		WITH ORDINALITY AS n (instance_id, id, kind, chat, source_key, happened_at, created_at, data, place)
	WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.instance_id = n.instance_id AND e.source_key = n.source_key AND e.source_key <> '')
	RETURNING id, sequence`

var _ together = (*commitLaneTx)(nil)

func (t *commitLaneTx) appendLater(r *recorder, event eventlog.Event) {
	event.InstanceID = r.instanceID
	t.later = append(t.later, laterEvent{write: r, event: event, now: r.now()})
}

func (t *commitLaneTx) flushAll() error { return t.flush(t.ctx) }

func (t *commitLaneTx) flush(ctx context.Context) error {
	if len(t.later) == 0 {
		return nil
	}
	sequences, err := t.appendAll(ctx)
	if err != nil {
		return fmt.Errorf("append events: %w", err)
	}
	for _, l := range t.later {
		if sequence, ok := sequences[l.event.ID]; ok {
			delete(sequences, l.event.ID) // the same event came a second time, and was not appended
			l.event.Sequence = sequence
			l.write.appended = append(l.write.appended, l.event)
		}
	}
	t.later = nil
	return nil
}

// appendAll appends the events that are new, and returns their sequence numbers by their
// ids.
func (t *commitLaneTx) appendAll(ctx context.Context) (sequences map[string]int64, err error) {
	type source struct{ instanceID, key string }
	var (
		taken                                   = make(map[source]bool, len(t.later))
		instanceIDs, ids, kinds, chats, sources []string
		happenedAt, createdAt                   []int64
		data                                    [][]byte
	)
	for _, l := range t.later {
		from := source{l.event.InstanceID, l.event.SourceKey}
		if from.key != "" && taken[from] {
			continue // the statement does not see the rows that it adds itself
		}
		taken[from] = true
		instanceIDs, ids = append(instanceIDs, l.event.InstanceID), append(ids, l.event.ID)
		kinds, chats = append(kinds, string(l.event.Kind)), append(chats, string(l.event.Chat))
		sources, data = append(sources, l.event.SourceKey), append(data, notNull(l.event.Data))
		happenedAt, createdAt = append(happenedAt, millis(l.event.At)), append(createdAt, millis(l.now))
	}
	rows, err := t.QueryContext(ctx, appendTogether, instanceIDs, ids, kinds, chats, sources, happenedAt, createdAt, data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	sequences = make(map[string]int64, len(ids))
	for rows.Next() {
		var id string
		var sequence int64
		if err := rows.Scan(&id, &sequence); err != nil {
			return nil, err
		}
		sequences[id] = sequence
	}
	return sequences, rows.Err()
}
