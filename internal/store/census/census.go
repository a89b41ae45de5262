// Package census counts what is in the database, for those who watch the program: how many
// instances there are of each status, and what webhooks still have to deliver. It reads by
// indexes, a few entries for each instance, so that it may be asked every few seconds while
// there are thousands of instances and millions of events.
package census

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/store/table"
)

// maxCounted bounds how many rows are counted of a table that may grow long.
const maxCounted = 100_000

// Census is what is in the database.
type Census struct {
	Instances map[string]int64 // by status
	Webhooks  map[string]Group // by the status of their delivery; "inactive" for those that get nothing
	// BlockedChats are those that wait because one of their events fails.
	BlockedChats int64
	DeadLetters  int64 // no more than 100,000 are counted
}

// Group is the webhooks whose delivery has one status.
type Group struct {
	Webhooks int64
	// Waiting counts the events after the webhooks' cursors; Oldest is when the oldest of
	// them was appended, zero if there is none.
	Waiting int64
	Oldest  time.Time
}

const (
	countInstances = "SELECT status, COUNT(*) FROM instances GROUP BY status"

	// Most cursors are those of the newest event: only for the others a second event is looked
	// for.
	countWebhooks = `SELECT state, COUNT(*), CAST(COALESCE(SUM(newest - cursor), 0) AS BIGINT), COALESCE(MIN(created_at), 0) FROM (
		SELECT state, cursor, created_at, CASE WHEN created_at IS NULL THEN cursor ELSE
			(SELECT MAX(e.sequence) FROM events e WHERE e.instance_id = next.instance_id) END AS newest
		FROM (
			SELECT w.instance_id, CASE WHEN w.active THEN w.status ELSE 'inactive' END AS state, w.cursor,
				CASE WHEN w.active THEN (SELECT e.created_at FROM events e
					WHERE e.instance_id = w.instance_id AND e.sequence > w.cursor ORDER BY e.sequence LIMIT 1) END AS created_at
			FROM webhooks w
		) AS next
	) AS behind GROUP BY state`

	countBlocked = "SELECT COUNT(*) FROM webhook_blocked_chats"
	countDead    = "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_dead_letters LIMIT $1 + 0) AS counted"
)

// Counter counts. It is safe for concurrent use.
type Counter struct{ database table.Database }

// New makes the counter of a database.
func New(database table.Database) *Counter { return &Counter{database} }

// LastBackup returns when a backup was finished last; zero if there was none.
func (c *Counter) LastBackup(ctx context.Context) (at time.Time, err error) {
	defer table.Wrap(&err, "find the last backup")
	err = c.database.Scanner().QueryRowContext(ctx, "SELECT COALESCE(MAX(finished_at), 0) FROM last_backup").Scan(table.IntoTime(&at))
	return at, err
}

// Count counts what is in the database. It is not one transaction: figures may be of
// slightly different moments.
func (c *Counter) Count(ctx context.Context) (census Census, err error) {
	defer table.Wrap(&err, "count what is there")
	q := c.database.Scanner()
	census = Census{Instances: map[string]int64{}, Webhooks: map[string]Group{}}
	if err := table.Each(ctx, q, func(row table.Scanner) error {
		var status string
		var n int64
		err := row.Scan(&status, &n)
		census.Instances[status] = n
		return err
	}, countInstances); err != nil {
		return census, err
	}
	if err := table.Each(ctx, q, func(row table.Scanner) error {
		var state string
		var group Group
		err := row.Scan(&state, &group.Webhooks, &group.Waiting, table.IntoTime(&group.Oldest))
		census.Webhooks[state] = group
		return err
	}, countWebhooks); err != nil {
		return census, err
	}
	if err := q.QueryRowContext(ctx, countBlocked).Scan(&census.BlockedChats); err != nil {
		return census, err
	}
	err = q.QueryRowContext(ctx, countDead, maxCounted).Scan(&census.DeadLetters)
	return census, err
}
