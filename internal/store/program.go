// What the database has for the program itself: the time, secrets, and the name of the owner of the files.

package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

// DatabaseTime returns the time of the database server; known is false on SQLite, which has no
// clock of its own.
func (s *Store) DatabaseTime(ctx context.Context) (now time.Time, known bool, err error) {
	if s.db.SQLite() {
		return now, false, nil
	}
	defer table.Wrap(&err, "time of the database")
	return table.Find(ctx, s.db.Reader(), table.ScanTime, "SELECT now_ms()")
}

// ClockSeen returns the time of the clock as it was stored last, and for how much longer nothing was to be
// removed then; the zero time if it was never stored.
func (s *Store) ClockSeen(ctx context.Context) (at time.Time, quiet time.Duration, err error) {
	defer table.Wrap(&err, "what the clock said")
	err = table.Each(ctx, s.db.Reader(), func(row table.Scanner) error {
		var left int64
		err := row.Scan(table.IntoTime(&at), &left)
		quiet = time.Duration(left) * time.Millisecond
		return err
	}, "SELECT seen_at, quiet_ms FROM clock WHERE clock = 1")
	return at, quiet, err
}

// SaveClockSeen stores the time of the clock, and for how much longer nothing is to be removed.
func (s *Store) SaveClockSeen(ctx context.Context, at time.Time, quiet time.Duration) (err error) {
	defer table.Wrap(&err, "note what the clock says")
	_, err = s.db.Exec(ctx, "INSERT INTO clock (clock, seen_at, quiet_ms) VALUES (1, $1, $2) ON CONFLICT (clock) DO UPDATE SET seen_at = $1, quiet_ms = $2",
		table.Millis(at), quiet.Milliseconds())
	return err
}

// Failing returns for how long writes or pings have failed; 0 if the last one succeeded. Probe finds out
// whether a write succeeds now.
func (s *Store) Failing() time.Duration { return s.db.failing() }

// Probe writes something that nobody reads.
func (s *Store) Probe(ctx context.Context) (err error) {
	defer table.Wrap(&err, "write something")
	_, err = s.db.Exec(ctx, "INSERT INTO clock (clock, seen_at, quiet_ms) VALUES (1, $1, 0) ON CONFLICT (clock) DO UPDATE SET seen_at = clock.seen_at + 1",
		table.Millis(s.now()))
	return err
}

// Secret returns the secret of that name. If there is none yet, it makes one of size
// random bytes. All processes on the same database get the same one.
func (s *Store) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, size)
	if _, err := rand.Read(fresh); err != nil {
		return nil, fmt.Errorf("store: draw a secret: %w", err)
	}
	place := vault.Secret(name)
	value, generation := s.vault.Seal(place, fresh)
	var secret []byte
	err := s.db.Write(ctx, func(ctx context.Context, q table.Querier) (err error) {
		if _, err := q.ExecContext(ctx,
			"INSERT INTO secrets (name, value, value_seal) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING", name, value, generation); err != nil {
			return err
		}
		secret, err = s.vault.Scan(ctx, place, q.QueryRowContext(ctx, "SELECT value, value_seal FROM secrets WHERE name = $1", name))
		return err
	})
	table.Wrap(&err, "get secret")
	return secret, err
}

// OwnFiles names the owner of the file storage. The name is stored in the database once open has
// returned that the storage bears it too. open is told the name, and whether the database had it
// before; it may be called again. Processes that call OwnFiles at the same time wait for each other.
func (s *Store) OwnFiles(ctx context.Context, name string, open func(ctx context.Context, owner string, known bool) (owned bool, err error)) error {
	owner, known, err := s.FilesOwner(ctx)
	if err != nil {
		return err
	}
	if known {
		_, err = open(ctx, owner, true)
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		if _, err := q.ExecContext(ctx, "INSERT INTO file_place (place, owner) VALUES (1, '') ON CONFLICT (place) DO NOTHING"); err != nil {
			return fmt.Errorf("store: name the owner of the files: %w", err)
		}
		if err := q.QueryRowContext(ctx, findFilesOwner).Scan(&owner); err != nil {
			return fmt.Errorf("store: name the owner of the files: %w", err)
		}
		if owner != "" { // another process was faster
			_, err := open(ctx, owner, true)
			return err
		}
		owned, err := open(ctx, name, false)
		if err != nil {
			return err
		}
		if !owned {
			name = ""
		}
		if _, err := q.ExecContext(ctx, "UPDATE file_place SET owner = $1", name); err != nil {
			return fmt.Errorf("store: name the owner of the files: %w", err)
		}
		return nil
	})
}

const findFilesOwner = "SELECT owner FROM file_place WHERE place = 1"

// FilesOwner returns the name of the owner of the file storage, and whether it has one.
func (s *Store) FilesOwner(ctx context.Context) (owner string, found bool, err error) {
	owner, found, err = table.Find(ctx, s.db.Reader(), table.Value[string], findFilesOwner)
	table.Wrap(&err, "owner of the files")
	return owner, found && owner != "", err
}
