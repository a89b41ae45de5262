// Package census counts what is in the database, for those who watch the program: how many
// instances there are of each status, and what webhooks still have to deliver. It reads by
// indexes, a few entries for each instance, so that it may be asked every few seconds while
// there are thousands of instances and millions of events.
package census

import (
	"context"
	"fmt"
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

// Database is what is counted.
type Database interface {
	// Scanner runs queries that may read many rows.
	Scanner() table.Querier
}

// Counter counts. It is safe for concurrent use.
type Counter struct{ database Database }

// New makes the counter of a database.
func New(database Database) *Counter { return &Counter{database} }

// Count counts what is in the database. It is not one transaction: figures may be of
// slightly different moments.
func (c *Counter) Count(ctx context.Context) (Census, error) {
	counted, err := take(ctx, c.database.Scanner())
	if err != nil {
		return Census{}, fmt.Errorf("store: %w", err)
	}
	return counted, nil
}

// LastBackup returns when a backup was finished last; zero if there was none.
func (c *Counter) LastBackup(ctx context.Context) (time.Time, error) {
	var at int64
	if err := c.database.Scanner().QueryRowContext(ctx, "SELECT COALESCE(MAX(finished_at), 0) FROM last_backup").Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("store: find the last backup: %w", err)
	}
	return table.Time(at), nil
}

func take(ctx context.Context, q table.Querier) (Census, error) {
	census := Census{Instances: map[string]int64{}, Webhooks: map[string]Group{}}
	if _, err := table.Collect(ctx, q, func(row table.Scanner) (struct{}, error) {
		var status string
		var n int64
		err := row.Scan(&status, &n)
		census.Instances[status] = n
		return struct{}{}, err
	}, countInstances); err != nil {
		return Census{}, fmt.Errorf("count instances: %w", err)
	}
	if _, err := table.Collect(ctx, q, func(row table.Scanner) (struct{}, error) {
		var state string
		var group Group
		var oldest int64
		err := row.Scan(&state, &group.Webhooks, &group.Waiting, &oldest)
		group.Oldest = table.Time(oldest)
		census.Webhooks[state] = group
		return struct{}{}, err
	}, countWebhooks); err != nil {
		return Census{}, fmt.Errorf("count what webhooks have to deliver: %w", err)
	}
	if err := q.QueryRowContext(ctx, countBlocked).Scan(&census.BlockedChats); err != nil {
		return Census{}, fmt.Errorf("count blocked chats: %w", err)
	}
	if err := q.QueryRowContext(ctx, countDead, maxCounted).Scan(&census.DeadLetters); err != nil {
		return Census{}, fmt.Errorf("count dead letters: %w", err)
	}
	return census, nil
}
