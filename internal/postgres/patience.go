// What this program waits for PostgreSQL at most.

package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"
)

// Patience is how long this program waits for PostgreSQL: for a word of an answer, for a
// connection, for a transaction of writes that share it, and until a side of a connection takes
// the other one for gone. It is no longer than a node goes on without its lease.
const Patience = 10 * time.Second

// hostPatience is how long each server may take to take a connection, where the address names
// several: one that is gone without a word must leave time for the next.
const hostPatience = 2 * time.Second

// silentPause is how long a server that was silent is not asked for a connection, where the address names
// another: until then nobody waits hostPatience for it again.
const silentPause = 3 * time.Second

// The system asks the other side of an idle connection whether it is there, so that one that is
// gone is noticed within Patience.
const (
	keepaliveIdle     = 4 * time.Second
	keepaliveInterval = 2 * time.Second
	keepaliveCount    = int((Patience - keepaliveIdle) / keepaliveInterval)
)

// ParseURL reads the address of a database, which may name several servers. What it does not say
// itself is set so that neither side waits for the other in vain.
func ParseURL(url string) (*pgx.ConnConfig, error) {
	return parseURL(url, Patience, func(time.Time) {})
}

// Connect opens one connection for work that takes as long as it takes, as copying a database does. Only
// to connect may not take longer than Patience. name is what the server calls the connection.
func Connect(ctx context.Context, url, name string) (*pgx.Conn, error) {
	settings, err := parseURL(url, 0, func(time.Time) {})
	if err != nil {
		return nil, err
	}
	settings.RuntimeParams["application_name"] = name
	return pgx.ConnectConfig(ctx, settings)
}

// parseURL is ParseURL for connections with another patience; 0 is without an end. silent is called when one is given up
// because the server did not answer in time, with the moment at which it was opened, before the call
// returns that did not get its answer.
func parseURL(url string, patience time.Duration, silent func(opened time.Time)) (*pgx.ConnConfig, error) {
	settings, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err // pgx leaves the password out of its errors
	}
	for name, value := range map[string]string{
		"application_name": ApplicationName,
		// A machine that fails must not hold a lock for hours.
		"tcp_keepalives_idle":     seconds(keepaliveIdle),
		"tcp_keepalives_interval": seconds(keepaliveInterval),
		"tcp_keepalives_count":    number(keepaliveCount),
	} {
		settings.RuntimeParams[name] = cmp.Or(settings.RuntimeParams[name], value)
	}
	several := slices.ContainsFunc(settings.Fallbacks, func(other *pgconn.FallbackConfig) bool {
		return other.Host != settings.Host || other.Port != settings.Port
	})
	if settings.ConnectTimeout == 0 {
		settings.ConnectTimeout = Patience
		if several {
			settings.ConnectTimeout = hostPatience
		}
	}
	known := servers{silent: map[string]time.Time{}}
	settings.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if several && known.isSilent(address) {
			return nil, fmt.Errorf("postgres: %s was silent less than %s ago", address, silentPause)
		}
		dialer := net.Dialer{
			KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepaliveIdle, Interval: keepaliveInterval, Count: keepaliveCount},
		}
		if patience > 0 {
			dialer.Control = limitUnacknowledged
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				known.wasSilent(address)
			}
			return nil, err
		}
		opened := now()
		return &patientConn{
			Conn: conn, patience: patience, unhurried: patience == 0, silent: func() { silent(opened) },
			over: func() { known.wasSilent(address) }, isLate: func() bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) },
		}, nil
	}
	settings.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &watcher{pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}}
	}
	return settings, nil
}

// servers are those of an address, by what they were dialed as.
type servers struct {
	mu     sync.Mutex
	silent map[string]time.Time // when one did not take a connection in time, or was silent on one
}

func (s *servers) wasSilent(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent[address] = now()
}

func (s *servers) isSilent(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.silent[address]
	if ok && now().Sub(at) >= silentPause {
		delete(s.silent, address)
		return false
	}
	return ok
}

// watcher ends what a connection waits for when its context ends.
type watcher struct {
	pgconn.DeadlineContextWatcherHandler
}

// HandleCancel is called when the context has ended.
func (w *watcher) HandleCancel(ctx context.Context) {
	w.DeadlineContextWatcherHandler.HandleCancel(ctx)
	if patient, ok := patientOf(w.Conn); ok && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		patient.silent() // the caller had less patience
	}
}

// patientConn is a connection that fails when the server is silent for longer than patience while
// something is read or written. It leaves a deadline alone that somebody else has set.
type patientConn struct {
	net.Conn

	patience time.Duration
	silent   func()      // called when somebody has waited in vain
	over     func()      // called when that was for the whole patience, or to connect
	isLate   func() bool // reports whether the time to connect is over
	heard    atomic.Bool // the server has answered

	mu        sync.Mutex
	unhurried bool  // the server may be silent for as long as it likes
	foreign   bool  // somebody else has set a deadline
	failed    error // the server was silent for too long
}

// Unhurry lets the server be silent on a connection of the pool for as long as it likes, until end is
// called: before the connection is given back.
func Unhurry(conn *sql.Conn) (end func(), err error) {
	err = conn.Raw(func(used any) error {
		end = unhurry(used.(*stdlib.Conn).Conn())
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	return end, nil
}

// unhurry lets the server be silent for as long as it likes, or not any more.
func (c *patientConn) unhurry(unhurried bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unhurried = unhurried
	if unhurried && !c.foreign {
		_ = c.Conn.SetDeadline(time.Time{}) // a connection that is closed says so when it is used
	}
}

// SetDeadline sets the deadline of both directions; zero means that the patience counts again.
func (c *patientConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.foreign = !t.IsZero()
	return c.Conn.SetDeadline(t)
}

// Read reads what the server says.
func (c *patientConn) Read(p []byte) (int, error) {
	if err := c.begin(net.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard.Store(true)
	}
	return n, c.judge(err)
}

// Write sends something to the server.
func (c *patientConn) Write(p []byte) (int, error) {
	if err := c.begin(net.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	return n, c.judge(err)
}

// begin sets how long the next call may take.
func (c *patientConn) begin(set func(net.Conn, time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil || c.foreign || c.unhurried {
		return c.failed
	}
	return set(c.Conn, now().Add(c.patience))
}

// judge gives a connection up on which the server was silent for too long. From then on each call
// fails at once: after such an error, pgx may read once more.
func (c *patientConn) judge(err error) error {
	c.mu.Lock()
	over := !c.foreign && c.failed == nil && errors.Is(err, os.ErrDeadlineExceeded)
	if over {
		c.failed = err
	}
	c.mu.Unlock()
	if over {
		c.silent()
	}
	if over || errors.Is(err, os.ErrDeadlineExceeded) && !c.heard.Load() && c.isLate() {
		c.over()
	}
	return err
}

// patientOf finds the connection below the one that pgx has, which may be encrypted.
func patientOf(conn net.Conn) (*patientConn, bool) {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	patient, ok := conn.(*patientConn)
	return patient, ok
}

// unhurry lets the server be silent on a connection for as long as it likes, until the function
// that it returns is called.
func unhurry(conn *pgx.Conn) (end func()) {
	patient, ok := patientOf(conn.PgConn().Conn())
	if !ok {
		return func() {}
	}
	patient.unhurry(true)
	return func() { patient.unhurry(false) }
}

// now is the time by which silence is measured.
func now() time.Time { return time.Now() } //nolint:forbidigo // only the time that passes counts
