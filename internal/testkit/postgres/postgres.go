// Package postgres gives tests a real PostgreSQL: one temporary cluster for a test binary,
// with a database for each test that asks for one. Only tests call it.
package postgres

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/needs"
)

const (
	startTimeout = 60 * time.Second
	callTimeout  = 30 * time.Second
	pollInterval = 20 * time.Millisecond
)

// shared is the cluster of this test binary. It is a package variable so that all tests use
// the same one.
var shared cluster //nolint:gochecknoglobals // see above

// Start returns the URL of an empty database of this test's own, which is
// dropped when the test ends. The first call starts the cluster; it lives until
// the test binary ends, however it ends.
//
// If PostgreSQL is not installed, the test does what needs.Require says.
func Start(tb testing.TB) (url string) {
	tb.Helper()
	bin := require(tb)
	shared.once.Do(func() { shared.err = shared.start(bin, nil) })
	if shared.err != nil {
		tb.Fatalf("start PostgreSQL: %v", shared.err)
	}
	name := fmt.Sprintf("test_%d", shared.databases.Add(1))
	if err := shared.exec("CREATE DATABASE " + name); err != nil {
		tb.Fatalf("create a database: %v", err)
	}
	tb.Cleanup(func() {
		if err := shared.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			tb.Errorf("drop the database: %v", err)
		}
	})
	return shared.url(name)
}

// StartOwn returns the URL of a database in a cluster of this test's own, which
// is removed when the test ends, and a function that crashes the cluster's server and
// starts it again, and returns when the new one answers. If PostgreSQL is not installed,
// it does what Start does.
func StartOwn(tb testing.TB) (url string, restart func()) {
	tb.Helper()
	var own cluster
	if err := own.start(require(tb), nil); err != nil {
		tb.Fatalf("start PostgreSQL: %v", err)
	}
	tb.Cleanup(func() {
		if err := own.keeper.Close(); err != nil {
			tb.Error(err)
		}
	})
	return own.url("postgres"), func() {
		tb.Helper()
		if err := own.restart(); err != nil {
			tb.Fatalf("restart PostgreSQL: %v", err)
		}
	}
}

// StartPair returns the URL of a database with two hosts, a server and a standby that has
// every commit before it is answered, and a function that kills the server and makes the
// standby take its place. Both are removed when the test ends. If PostgreSQL is not installed,
// it does what Start does.
func StartPair(tb testing.TB) (url string, failOver func()) {
	tb.Helper()
	var first, second cluster
	check := func(what string, err error) {
		tb.Helper()
		if err != nil {
			tb.Fatalf("%s: %v", what, err)
		}
	}
	bin := require(tb)
	for _, one := range []struct{ cluster, of *cluster }{{&first, nil}, {&second, &first}} {
		check("start PostgreSQL", one.cluster.start(bin, one.of))
		tb.Cleanup(func() {
			if err := one.cluster.keeper.Close(); err != nil {
				tb.Error(err)
			}
		})
	}
	check("make the standby synchronous", first.exec("ALTER SYSTEM SET synchronous_standby_names = '*'"))
	check("make the standby synchronous", first.exec("SELECT pg_reload_conf()"))
	check("make the standby synchronous", first.awaitSynchronous())
	return "postgres://postgres@/postgres?host=" + first.socketDir + "," + second.socketDir + "&target_session_attrs=read-write", func() {
		tb.Helper()
		_, err := io.WriteString(first.keeper, "stop\n")
		check("kill the server", err)
		_, err = io.WriteString(second.keeper, "promote\n")
		check("promote the standby", err)
	}
}

// Outage makes a database of Start unavailable, and cuts its connections, until the
// function that it returns is called. That function may be called twice, and is called
// at the end of the test too.
func Outage(tb testing.TB, url string) (end func()) {
	tb.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		tb.Fatal(err)
	}
	allow := func(allowed bool) error {
		return shared.exec(fmt.Sprintf("ALTER DATABASE %s WITH ALLOW_CONNECTIONS %t", config.Database, allowed))
	}
	end = sync.OnceFunc(func() {
		if err := allow(true); err != nil {
			tb.Errorf("end the outage: %v", err)
		}
	})
	tb.Cleanup(end)
	if err := allow(false); err != nil {
		tb.Fatalf("begin an outage: %v", err)
	}
	if err := shared.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + config.Database + "'"); err != nil {
		tb.Fatalf("begin an outage: %v", err)
	}
	return end
}

// Load runs a script of many statements in a database of Start.
func Load(tb testing.TB, url, script string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.PgConn().Exec(ctx, script).ReadAll(); err != nil {
		tb.Fatalf("run the script: %v", err)
	}
}

// require returns the folder of PostgreSQL's programs. Without them it ends the test.
func require(tb testing.TB) (bin string) {
	tb.Helper()
	needs.Require(tb, "initdb")
	path, err := filepath.EvalSymlinks(needs.Find("initdb")) // the other programs are beside the real one
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Dir(path)
}

type cluster struct {
	once      sync.Once
	err       error
	socketDir string
	databases atomic.Int64

	// keeper is the pipe to the server's keeper. Without this reference the garbage
	// collector would close it, which would end the server.
	keeper io.WriteCloser
}

// url returns the URL of a database of the cluster. It uses the socket's folder, because a
// port could be taken.
func (c *cluster) url(database string) string {
	return "postgres://postgres@/" + database + "?host=" + c.socketDir
}

// await returns when the server answers.
func (c *cluster) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

// awaitSynchronous returns when the server answers no commit that a standby has not.
func (c *cluster) awaitSynchronous() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		var synchronous bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')").Scan(&synchronous)
		if err != nil || synchronous {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// restart crashes the server and returns when the next one answers.
func (c *cluster) restart() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	before, err := c.started(ctx)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(c.keeper, "restart\n"); err != nil {
		return err
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if started, err := c.started(ctx); err == nil && started != before {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// started distinguishes the running server from the one before.
func (c *cluster) started(ctx context.Context) (at string, err error) {
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = conn.QueryRow(ctx, "SELECT pg_postmaster_start_time()::text").Scan(&at)
	return at, err
}

func (c *cluster) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
