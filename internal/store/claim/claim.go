// Package claim lets only one process work with the data: a data folder, or a PostgreSQL
// database.
package claim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/recado-project/recado/internal/postgres"
)

const (
	// number is the number of the advisory lock of the process that works with the
	// database. It may be any number that nothing else locks.
	number = 7236332702
	// pause is the time between two attempts to take the claim, check between two checks that this
	// process still has it.
	pause, check = 200 * time.Millisecond, 5 * time.Second
)

// ErrTaken is the error for a database that another process works with.
var ErrTaken = errors.New("another recado process works with this PostgreSQL database: stop that one first, " +
	"or name another database, or make both of them nodes that share it (--advertise and --cluster-secret)")

// Claim is the right of one process to work with a PostgreSQL database, or of several that
// share it. It is an advisory lock, which the server releases when the process ends, however
// it ends. The lock belongs to one connection, so a pooler that shares connections breaks it.
type Claim struct {
	config *pgx.ConnConfig
	logger *slog.Logger
	lock   string // the query that takes it

	mu   sync.Mutex
	conn *pgx.Conn // nil while it is lost
	had  session   // that has the lock, or had it last
}

// session is one of the server's, which has the other end of a connection.
type session struct {
	process int64
	began   time.Time
}

// Take takes the claim of the database at url for this process alone. Its error is ErrTaken if
// another process has it and still has it after ten seconds.
func Take(ctx context.Context, url string, logger *slog.Logger) (*Claim, error) {
	return take(ctx, url, "SELECT pg_try_advisory_lock($1)", logger)
}

// Share takes the claim of the database at url together with others that share it. Its error
// is ErrTaken if another process has it alone, and still has it after ten seconds.
func Share(ctx context.Context, url string, logger *slog.Logger) (*Claim, error) {
	return take(ctx, url, "SELECT pg_try_advisory_lock_shared($1)", logger)
}

func take(ctx context.Context, url, lock string, logger *slog.Logger) (*Claim, error) {
	settings, err := postgres.ParseURL(url)
	if err != nil {
		return nil, err
	}
	if err := refusePooler(ctx, settings); err != nil {
		return nil, err
	}
	c := &Claim{config: settings, logger: logger, lock: lock}
	if err := c.await(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// await takes the lock, and waits for another claim to end: the server may notice late that a
// process was killed, or that this one has lost its connection.
func (c *Claim) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, postgres.Patience)
	defer cancel()
	for claimed := false; ; claimed = true {
		err := c.take(ctx)
		switch {
		case err == nil:
			return nil
		case claimed && (ctx.Err() != nil || pgconn.Timeout(err)):
			// The time ran out within a try. A connection notices it before the context does.
			return ErrTaken
		case !errors.Is(err, ErrTaken):
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ErrTaken
		}
	}
}

// Held reports whether a process works with the database of a transaction. If none does, none can begin to
// before the transaction ends.
func Held(ctx context.Context, tx *sql.Tx) (bool, error) {
	var free bool
	if err := tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(number)).Scan(&free); err != nil {
		return false, fmt.Errorf("claim: look for another process: %w", err)
	}
	return !free, nil
}

// ErrPooler is the error for an address behind which there is a pooler of connections.
var ErrPooler = errors.New("there is a pooler, such as pgbouncer, in front of PostgreSQL: it shares connections between clients, " +
	"which breaks the lock that keeps other processes out; let --database-url name the server itself (recado has a pool of its own, of 16 connections)")

// CheckDirect connects to the database at url and closes the connection again. Its error is
// ErrPooler if there is a pooler in between.
func CheckDirect(ctx context.Context, url string) error {
	settings, err := postgres.ParseURL(url)
	if err != nil {
		return err
	}
	return refusePooler(ctx, settings)
}

// refusePooler finds out whether a pooler is in between: it has answered to the connection
// with a process identifier of its own. One that refuses our settings is a pooler too.
func refusePooler(ctx context.Context, settings *pgx.ConnConfig) error {
	ctx, cancel := context.WithTimeout(ctx, postgres.Patience)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, settings)
	if err != nil {
		if failure, ok := errors.AsType[*pgconn.PgError](err); ok && strings.Contains(failure.Message, "unsupported startup parameter") {
			return ErrPooler
		}
		return fmt.Errorf("claim: connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var process uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()::bigint").Scan(&process); err != nil {
		return fmt.Errorf("claim: connect to the database: %w", err)
	}
	if process != conn.PgConn().PID() {
		return ErrPooler
	}
	return nil
}

// take opens a connection and takes the lock on it.
func (c *Claim) take(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return fmt.Errorf("claim: connect to the database: %w", err)
	}
	taken, now, err := c.lockOn(ctx, conn)
	if err == nil && !taken {
		err = ErrTaken
	}
	if err != nil {
		return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn, c.had = conn, now
	return nil
}

// lockOn tries to take the lock on a connection. The server may not know yet that the session in
// which this claim had it before is over, so it is ended first.
func (c *Claim) lockOn(ctx context.Context, conn *pgx.Conn) (taken bool, now session, err error) {
	c.mu.Lock()
	had := c.had
	c.mu.Unlock()
	if had.process != 0 {
		if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2",
			had.process, had.began); err != nil {
			return false, session{}, fmt.Errorf("claim: end the session before: %w", err)
		}
	}
	if err := conn.QueryRow(ctx, c.lock, int64(number)).Scan(&taken); err != nil || !taken {
		return false, session{}, err
	}
	err = conn.QueryRow(ctx, "SELECT pid::bigint, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()").
		Scan(&now.process, &now.began)
	return true, now, err
}

// Run keeps the claim until ctx ends. If the connection is lost, it takes the claim again.
// Its error is ErrTaken if another process was faster; this process must stop then.
func (c *Claim) Run(ctx context.Context) error {
	ticks := time.NewTicker(check)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		if c.held(ctx) {
			continue
		}
		err := c.await(ctx)
		switch {
		case errors.Is(err, ErrTaken) && ctx.Err() == nil:
			return err
		case err != nil && ctx.Err() == nil:
			c.logger.WarnContext(ctx, "the claim of the database is lost; it is claimed again when the database is back",
				slog.Any("error", err))
		}
	}
}

// held reports whether the connection of the lock still works.
func (c *Claim) held(ctx context.Context) bool {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, postgres.Patience)
	defer cancel()
	if err := conn.Ping(ctx); err == nil || ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = conn.Close(context.WithoutCancel(ctx)) // it is broken
	c.conn = nil
	return false
}

// Close releases the claim. Run must have returned.
func (c *Claim) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), postgres.Patience)
	defer cancel()
	return c.conn.Close(ctx)
}
