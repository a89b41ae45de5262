package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// claimNumber is the advisory lock of whoever works with the database; any number
	// that nothing else in it locks.
	claimNumber = 7236332702
	// claimWait is how long a claim waits for one that is being given up: a process
	// that was killed is gone before the server has noticed.
	claimWait = 10 * time.Second
	// claimPause lies between two tries, claimCheck between two looks at a claim.
	claimPause, claimCheck = 200 * time.Millisecond, 5 * time.Second
)

// ErrClaimed says that another process works with the database.
var ErrClaimed = errors.New("another recado process works with this PostgreSQL database: it holds the same sessions, " +
	"and the platform would throw each other's out; stop that one first, or name another database")

// Claim is the right of one process to work with a PostgreSQL database: a lock that
// the server takes away when the process is gone, however it went. It is a lock of
// one connection, so a pooler between that hands connections around breaks it.
type Claim struct {
	config *pgx.ConnConfig
	logger *slog.Logger

	mu   sync.Mutex
	conn *pgx.Conn // nil while it is lost
}

// NewClaim takes the claim of the database. Its error is ErrClaimed where another
// process has it, and goes on having it for ten seconds.
func NewClaim(ctx context.Context, config Config) (*Claim, error) {
	settings, err := pgx.ParseConfig(config.URL)
	if err != nil {
		return nil, err // pgx leaves the password out of it
	}
	settings.RuntimeParams["application_name"] = applicationName
	// A machine that is gone without a goodbye must not hold the claim for hours.
	settings.RuntimeParams["tcp_keepalives_idle"] = "10"
	settings.RuntimeParams["tcp_keepalives_interval"] = "5"
	settings.RuntimeParams["tcp_keepalives_count"] = "3"
	c := &Claim{config: settings, logger: config.Logger}
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	for claimed := false; ; claimed = true {
		err := c.take(ctx)
		switch {
		case err == nil:
			return c, nil
		case claimed && ctx.Err() != nil: // the time ran out within a try
			return nil, ErrClaimed
		case !errors.Is(err, ErrClaimed):
			return nil, err
		}
		timer := time.NewTimer(claimPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ErrClaimed
		}
	}
}

// take opens a connection and takes the lock on it.
func (c *Claim) take(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, c.config)
	if err != nil {
		return fmt.Errorf("store: claim the database: %w", err)
	}
	var taken bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(claimNumber)).Scan(&taken)
	if err == nil && !taken {
		err = ErrClaimed
	}
	if err != nil {
		return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	return nil
}

// Run keeps the claim until ctx ends: where the connection was lost, with the server
// or on the way to it, it is taken anew. Its error is ErrClaimed where another process
// was faster: then this one must not go on.
func (c *Claim) Run(ctx context.Context) error {
	ticks := time.NewTicker(claimCheck)
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
		err := c.take(ctx)
		switch {
		case errors.Is(err, ErrClaimed):
			return err
		case err != nil && ctx.Err() == nil:
			c.logger.WarnContext(ctx, "the claim of the database is lost; it is claimed again when the database is back",
				slog.Any("error", err))
		}
	}
}

// held reports whether the connection of the lock is there still.
func (c *Claim) held(ctx context.Context) bool {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, claimCheck)
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

// Close gives the claim up. Run must have returned.
func (c *Claim) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), claimCheck)
	defer cancel()
	return c.conn.Close(ctx)
}
