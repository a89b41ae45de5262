// Package sqlite opens SQLite files the way this program needs them: with checked
// pragmas, one writer with group commit, and several readers.
//
// It knows no table. The store's recado.db and the sandbox's state are files that it
// opens. Two connection pools must never write
// to one file: they would block each other for up to the busy time-out.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"modernc.org/sqlite" // registers the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/recado-project/recado/internal/groupcommit"
)

const (
	dirMode  = 0o700
	fileMode = 0o600

	// busyTimeoutMs bounds the wait for a lock that another process holds, as
	// during a backup.
	busyTimeoutMs = 10_000

	// lockPause lies between two tries to take a lock that SQLite does not wait for.
	lockPause = 5 * time.Millisecond

	// pageSize is that of new files. A commit writes whole pages, of which most hold one
	// new row: with the usual 4,096 bytes it writes two to three times as much. A file
	// that was made with other pages keeps them.
	pageSize = 1024

	// logPages is at how many pages in the write-ahead log they are moved into the file. A
	// page that was written many times is moved once. It bounds the log to some 8 MB.
	logPages = 8_000

	// writerCache is how many KB of pages the writer keeps in memory, once it has used as many.
	// SQLite's usual 2,000 are too few for 50 busy instances, and pages are then read again.
	writerCache = 8_000
	// readers is how many connections may read while the writer writes. Reads are short
	// here, so more connections would only cost memory.
	readers = 4
)

// DB is one SQLite file with a single writer and several readers. It is safe
// for concurrent use.
type DB struct {
	pool   *sql.DB   // the writer's pool, of one connection
	conn   *sql.Conn // that connection, held for the life of DB
	tx     *Tx
	reader *sql.DB

	group     *groupcommit.Group[*Tx]
	committed func(took time.Duration)

	// compacting is a call of Compact that waits for the writer; nil if there is none.
	compacting atomic.Pointer[compacting]
}

// ErrClosed is the error of a write that comes after Close.
var ErrClosed = groupcommit.ErrClosed

// Config says which file is opened.
type Config struct {
	Path string
	// Committed is told how long each write transaction took, with its wait for the disk;
	// nil: nobody is. Writers wait while it runs.
	Committed func(took time.Duration)
}

// Open opens the file at path; see OpenWith.
func Open(ctx context.Context, path string) (*DB, error) { return OpenWith(ctx, Config{Path: path}) }

// OpenWith opens a file. It creates the file (mode 0600) and its folder (0700) if they are
// missing. The database runs in WAL mode with synchronous=FULL and foreign keys on. It fails
// if a pragma did not take effect.
func OpenWith(ctx context.Context, config Config) (*DB, error) {
	path := config.Path
	pool, err := OpenPool(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: take the writer's connection: %w", err), pool.Close())
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA cache_size = -%d", writerCache)); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: set the writer's cache: %w", err), conn.Close(), pool.Close())
	}
	reader, err := sql.Open("sqlite", dsn(path)+"&_query_only=1")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open readers: %w", err), conn.Close(), pool.Close())
	}
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	tx := &Tx{&Prepared{on: conn, prepared: map[string]*sql.Stmt{}}}
	db := &DB{pool: pool, conn: conn, tx: tx, reader: reader, committed: config.Committed}
	db.group = groupcommit.New(db.transact, nil)
	return db, nil
}

// OpenPool opens the file at path as an ordinary pool of at most conns
// connections, with the same pragmas as Open. It is for code with an SQL layer of its
// own. If anything is written, conns must be 1.
func OpenPool(ctx context.Context, path string, conns int) (*sql.DB, error) {
	if err := errors.Join(gather(), create(path)); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", filepath.Base(path), err)
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	if err := awaitPragmas(ctx, pool); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", filepath.Base(path), err), pool.Close())
	}
	return pool, nil
}

// Reader returns the readers' pool. A query sees what was committed when it began.
// Writes fail.
func (db *DB) Reader() *sql.DB { return db.reader }

// Close closes the file, after the commit that is under way. Later writes fail with
// ErrClosed. It is called once.
func (db *DB) Close() error {
	db.group.Close()
	return errors.Join(db.tx.Close(), db.conn.Close(), db.pool.Close(), db.reader.Close())
}

// create makes the file before SQLite does, so that it has our mode. The -wal and -shm
// files inherit the mode.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return fmt.Errorf("sqlite: create folder: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, fileMode) //nolint:gosec // the operator names the data folder
	if err != nil {
		return fmt.Errorf("sqlite: create file: %w", err)
	}
	about, err := file.Stat()
	if err == nil && about.Size() == 0 { // it is new
		err = syncNames(path)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("sqlite: create file: %w", err)
	}
	return nil
}

// syncNames syncs the names of a file and of the folders above it. Those may be new too,
// and the file would be lost with them. It stops at a folder that this user may not
// read, because he has not made the folders above that one.
func syncNames(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for path != filepath.Dir(path) {
		path = filepath.Dir(path)
		folder, err := os.Open(path) //nolint:gosec // the operator names the data folder
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		err = folder.Sync()
		if errors.Is(err, syscall.EINVAL) {
			err = nil // this file system does not sync folders
		}
		if err := errors.Join(err, folder.Close()); err != nil {
			return err
		}
	}
	return nil
}

func dsn(path string) string {
	query := url.Values{
		"vfs": {gathering}, // see log.go
		// A transaction that reads before it writes must take the lock at its start.
		// Otherwise it may fail with SQLITE_BUSY, whatever the time-out.
		"_txlock": {"immediate"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyTimeoutMs),
			fmt.Sprintf("page_size(%d)", pageSize),
			fmt.Sprintf("wal_autocheckpoint(%d)", logPages),
			"synchronous(FULL)", // a commit waits for the disk
			"foreign_keys(1)",
		},
		// The driver sets these two after all others, in this order: in a WAL the size of
		// the pages can't be changed any more.
		"_journal_mode": {"WAL"},
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		absolute = path // SQLite resolves it against the working directory as well
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: query.Encode()}).String()
}

// awaitPragmas calls checkPragmas until it succeeds. If several processes make the same
// file at the same time, switching it to WAL takes a lock that SQLite does not wait for.
func awaitPragmas(ctx context.Context, pool *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeoutMs*time.Millisecond)
	defer cancel()
	ticker := time.NewTicker(lockPause)
	defer ticker.Stop()
	for {
		err := checkPragmas(ctx, pool)
		if failure, ok := errors.AsType[*sqlite.Error](err); !ok || failure.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return err
		}
	}
}

// checkPragmas reads the pragmas back that the connection string has set. The driver
// silently ignores a pragma that it does not understand, and then nothing is durable.
func checkPragmas(ctx context.Context, pool *sql.DB) error {
	for _, want := range []struct{ pragma, value string }{
		{"journal_mode", "wal"},
		{"synchronous", "2"}, // FULL
		{"foreign_keys", "1"},
	} {
		var got string
		if err := pool.QueryRowContext(ctx, "PRAGMA "+want.pragma).Scan(&got); err != nil {
			return fmt.Errorf("read pragma %s: %w", want.pragma, err)
		}
		if !strings.EqualFold(got, want.value) {
			return fmt.Errorf("pragma %s is %q, need %q", want.pragma, got, want.value)
		}
	}
	return nil
}
