// PostgreSQL, where writes in order share transactions.

package store

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store/table"
)

// maxCommitGroups bounds how many transactions of writes in order run side by side.
const maxCommitGroups = 4

// postgresDatabase is a PostgreSQL database. A write has a transaction of its own; writes
// in order share transactions.
type postgresDatabase struct {
	db     *postgres.DB
	fenced bool
	writes writeHealth
	// commitGroups carry out the writes in order. Those of one instance always go to the
	// same group.
	commitGroups []*groupcommit.Group[*groupTx]
}

func openPostgres(ctx context.Context, config Config) (*postgresDatabase, error) {
	conns := config.Conns
	if conns == 0 {
		conns = defaultConns
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: config.URL, Conns: conns, Logger: config.Logger, Committed: config.Committed})
	if err != nil {
		return nil, err
	}
	d := &postgresDatabase{
		db: db, fenced: config.Fenced,
		commitGroups: make([]*groupcommit.Group[*groupTx], commitGroups(runtime.GOMAXPROCS(0), config.Fenced)),
	}
	for i := range d.commitGroups {
		d.commitGroups[i] = groupcommit.New(d.transact, (*groupTx).flush)
	}
	return d, nil
}

// commitGroups is how many transactions of writes in order run side by side. While one waits
// for the disk, another can be filled; but the more there are, the fewer writes share one,
// and a transaction costs the server more than a write. Two keep two cores busy. Of several
// nodes each has half as many: together they are on the server what one process is.
func commitGroups(cores int, fenced bool) int {
	if fenced {
		cores /= 2
	}
	return max(1, min(cores, maxCommitGroups))
}

// transact runs the transaction of a commit group. The writes in it don't wait for ever when the
// server does not answer.
func (d *postgresDatabase) transact(run func(tx *groupTx) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), postgres.Patience)
	defer cancel()
	return d.db.Transact(ctx, func(tx *postgres.Tx) error {
		return run(&groupTx{Querier: table.QuerierOf(tx), tx: tx})
	})
}

func (d *postgresDatabase) Begin(
	ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(instanceID)) // it never fails
	pending := d.commitGroups[int(sum.Sum32()>>1)%len(d.commitGroups)].Begin(ctx, func(ctx context.Context, tx *groupTx) error {
		if d.fenced && instanceID != nobody {
			if err := tx.under(gateway.TenureOf(ctx), instanceID); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	}, committed)
	return translatedPending{Pending: pending, writes: &d.writes}
}

func (d *postgresDatabase) writeUnder(
	ctx context.Context, tenures []gateway.Tenure, fn func(ctx context.Context, q table.Querier) error,
) error {
	return d.writes.translate(d.db.Transact(ctx, func(tx *postgres.Tx) error {
		if d.fenced {
			if err := holdTenures(tx, tenures); err != nil {
				return err
			}
		}
		return fn(ctx, table.QuerierOf(tx))
	}))
}

func (d *postgresDatabase) Write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error {
	return d.writes.translate(d.db.Transact(ctx, func(tx *postgres.Tx) error { return fn(ctx, table.QuerierOf(tx)) }))
}

func (d *postgresDatabase) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	changed, err := d.db.Exec(ctx, query, args...)
	return changed, d.writes.translate(err)
}

func (d *postgresDatabase) Reader() table.Querier {
	return translatedReader{Querier: table.QuerierOf(d.db.Pool())}
}

func (d *postgresDatabase) Scanner() table.Querier { return d.Reader() }

func (d *postgresDatabase) ping(ctx context.Context) error {
	if err := d.db.Pool().PingContext(ctx); err != nil {
		return d.writes.translate(err)
	}
	return nil
}

func (d *postgresDatabase) failing() time.Duration { return d.writes.failing() }

func (d *postgresDatabase) connections() sql.DBStats        { return d.db.Pool().Stats() }
func (d *postgresDatabase) Compact(_ context.Context) error { return nil }

func (d *postgresDatabase) close() error {
	for _, group := range d.commitGroups {
		group.Close()
	}
	return d.db.Close()
}

// groupTx is a transaction of a commit group. The events of all its writes are appended
// at its end: a round trip to the server costs more than the row.
type groupTx struct {
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

// laterColumn is a column of appendTogether's parameters, each of which is an array with a value for each event.
type laterColumn struct {
	name, kind string
	values     func(events []laterEvent) any
}

func later[T any](name, kind string, value func(l *laterEvent) T) laterColumn {
	return laterColumn{name, kind, func(events []laterEvent) any {
		values := make([]T, len(events))
		for i := range events {
			values[i] = value(&events[i])
		}
		return values
	}}
}

//nolint:gochecknoglobals // a table
var laterColumns = []laterColumn{
	later("instance_id", "text", func(l *laterEvent) string { return l.event.InstanceID }),
	later("message_id", "text", func(l *laterEvent) string { return l.message }),
	later("id", "text", func(l *laterEvent) string { return l.event.ID }),
	later("kind", "text", func(l *laterEvent) string { return string(l.event.Kind) }),
	later("chat", "text", func(l *laterEvent) string { return string(l.event.Chat) }),
	later("source_key", "text", func(l *laterEvent) string { return l.event.SourceKey }),
	later("happened_at", "bigint", func(l *laterEvent) int64 { return table.Millis(l.event.At) }),
	later("created_at", "bigint", func(l *laterEvent) int64 { return table.Millis(l.now) }),
	later("data", "bytea", func(l *laterEvent) []byte { return table.NotNull(l.event.Data) }),
}

// fewEvents are as many as the server appends faster one after another. It plans appendTogether anew each
// time, which costs it as much as eight of the others.
const fewEvents = 8

// appendNumbered appends one event, and appendNumberedWith does if there is a message. They are two, because
// the server would plan one with a condition on a parameter anew each time.
//
//nolint:gochecknoglobals // statements that are made of the columns once
var (
	numbered           = eventColumns.Without("sequence")
	appendNumbered     = appendNumberedIf("")
	appendNumberedWith = appendNumberedIf(" WHERE EXISTS (SELECT 1 FROM messages WHERE id = " + numbered.Next(2) + ")")
)

func appendNumberedIf(condition string) string {
	return "INSERT INTO events (" + numbered.Names + ", created_at, sequence) SELECT " + numbered.Parameters() + ", " + numbered.Next(1) +
		", COALESCE((SELECT MAX(sequence) FROM events WHERE instance_id = " + numbered.Parameter("instance_id") + "), 0) + 1" + condition +
		" ON CONFLICT (instance_id, source_key) WHERE source_key <> '' DO NOTHING RETURNING sequence"
}

// appendTogether numbers the events of each instance, starting after its newest one.
// The commit group excludes other appends of these instances. If there is one all the
// same, the statement fails and the transaction is rolled back.
//
//nolint:gochecknoglobals // a statement that is made of the columns once
var appendTogether = func() string {
	var parameters, names []string
	for i, column := range laterColumns {
		parameters, names = append(parameters, table.Parameter(i+1)+"::"+column.kind+"[]"), append(names, column.name)
	}
	return `INSERT INTO events (instance_id, sequence, id, kind, chat, source_key, happened_at, created_at, data)
	SELECT n.instance_id,
		COALESCE((SELECT MAX(e.sequence) FROM events e WHERE e.instance_id = n.instance_id), 0)
			+ row_number() OVER (PARTITION BY n.instance_id ORDER BY n.number),
		n.id, n.kind, n.chat, n.source_key, n.happened_at, n.created_at, n.data
	FROM unnest(` + strings.Join(parameters, ", ") + `) WITH ORDINALITY AS n (` + strings.Join(names, ", ") + `, number)
	WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.instance_id = n.instance_id AND e.source_key = n.source_key AND e.source_key <> '')
		AND (n.message_id = '' OR EXISTS (SELECT 1 FROM messages m WHERE m.id = n.message_id))
	RETURNING id, sequence`
}()

var _ together = (*groupTx)(nil)

func (t *groupTx) appendLater(r *recorder, message string, event eventlog.Event) {
	event.InstanceID = r.instanceID
	t.events = append(t.events, laterEvent{write: r, message: message, event: event, now: r.now()})
}

// under says which tenure the next write of an instance stands on.
func (t *groupTx) under(tenure gateway.Tenure, instanceID string) error {
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

// flush queues what appends the events which are new. With the answer each write gets those
// that were its own.
func (t *groupTx) flush() (err error) {
	events := t.events
	t.events = nil
	if len(events) > fewEvents {
		err = t.appendTogether(events)
	} else {
		for n := 0; n < len(events) && err == nil; n++ {
			err = t.appendOne(events[n])
		}
	}
	if err != nil {
		return fmt.Errorf("append events: %w", err)
	}
	return nil
}

func (t *groupTx) appendOne(l laterEvent) error {
	statement, condition := appendNumbered, []any{table.Millis(l.now)}
	if l.message != "" {
		statement, condition = appendNumberedWith, append(condition, l.message)
	}
	return t.tx.QueryLater(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(&l.event.Sequence); err != nil {
				return err
			}
			l.write.appended = append(l.write.appended, l.event)
		}
		return nil
	}, statement, numbered.Values(&l.event, condition...)...)
}

func (t *groupTx) appendTogether(events []laterEvent) error {
	return t.tx.QueryLater(func(rows pgx.Rows) error {
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
}

// eventColumnsOf returns the parameters of appendTogether.
func eventColumnsOf(events []laterEvent) []any {
	type source struct{ instanceID, key, message string }
	taken := make(map[source]bool, len(events))
	fresh := make([]laterEvent, 0, len(events))
	for _, l := range events {
		from := source{l.event.InstanceID, l.event.SourceKey, l.message}
		if from.key != "" && taken[from] {
			continue // the statement does not see the rows that it adds itself
		}
		taken[from] = true
		fresh = append(fresh, l)
	}
	parameters := make([]any, len(laterColumns))
	for i, column := range laterColumns {
		parameters[i] = column.values(fresh)
	}
	return parameters
}
