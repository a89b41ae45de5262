// The time of the database, and what the clock said last.

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/store/table"
)

// DatabaseTime returns the time of the database server; known is false on SQLite, which has no
// clock of its own.
func (s *Store) DatabaseTime(ctx context.Context) (now time.Time, known bool, err error) {
	if s.dialect.name == sqliteName {
		return now, false, nil
	}
	now, _, err = table.Find(ctx, s.db.reader(), scanTime, "SELECT now_ms()")
	if err != nil {
		return now, false, fmt.Errorf("store: time of the database: %w", err)
	}
	return now, true, nil
}

// ClockSeen returns what the clock said when it was noted last, and for how much longer nothing
// was to be removed; the zero time if it was never noted.
func (s *Store) ClockSeen(ctx context.Context) (at time.Time, quiet time.Duration, err error) {
	at, _, err = table.Find(ctx, s.db.reader(), func(row table.Scanner) (at time.Time, err error) {
		var seen, left int64
		err = row.Scan(&seen, &left)
		quiet = time.Duration(left) * time.Millisecond
		return table.Time(seen), err
	}, "SELECT seen_at, quiet_ms FROM clock WHERE clock = 1")
	if err != nil {
		return at, 0, fmt.Errorf("store: what the clock said: %w", err)
	}
	return at, quiet, nil
}

// SaveClockSeen notes what the clock says, and for how much longer nothing is to be removed.
func (s *Store) SaveClockSeen(ctx context.Context, at time.Time, quiet time.Duration) error {
	_, err := s.db.exec(ctx, "INSERT INTO clock (clock, seen_at, quiet_ms) VALUES (1, $1, $2) ON CONFLICT (clock) DO UPDATE SET seen_at = $1, quiet_ms = $2",
		table.Millis(at), quiet.Milliseconds())
	if err != nil {
		return fmt.Errorf("store: note what the clock says: %w", err)
	}
	return nil
}

// Failing returns for how long the database has taken no write, though some were tried, or has not
// answered to Ping; 0 if the last write succeeded. Probe finds out whether it takes any now.
func (s *Store) Failing() time.Duration { return s.db.failing() }

// Probe writes something that nobody reads.
func (s *Store) Probe(ctx context.Context) error {
	_, err := s.db.exec(ctx, "INSERT INTO clock (clock, seen_at, quiet_ms) VALUES (1, $1, 0) ON CONFLICT (clock) DO UPDATE SET seen_at = clock.seen_at + 1",
		table.Millis(s.now()))
	if err != nil {
		return fmt.Errorf("store: write something: %w", err)
	}
	return nil
}
