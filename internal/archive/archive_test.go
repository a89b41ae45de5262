package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/archive"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inFolder(folder string) store.Config {
	return store.Config{Path: filepath.Join(folder, "recado.db"), Logger: slog.New(slog.DiscardHandler)}
}

const (
	picture = "media/shop/picture"
	waiting = "queue/message"
)

// data are those of a gateway that works, with files.
type data struct {
	*store.Store

	config   archive.Config
	instance string
}

func newData(t *testing.T, config store.Config) *data {
	t.Helper()
	d := &data{config: archive.Config{Data: config, Folder: t.TempDir(), Program: "test", Now: time.Now}, instance: uuid.NewString()}
	var err error
	d.Store, err = store.Open(t.Context(), config)
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	account := gateway.Account{ID: uuid.NewString(), Name: "default", CreatedAt: time.Now()}
	check(t, d.CreateAccount(t.Context(), account))
	check(t, d.CreateInstance(t.Context(), gateway.Instance{ID: d.instance, AccountID: account.ID, Name: "shop", CreatedAt: time.Now(), UpdatedAt: time.Now()}))
	for name, content := range cases.Sorted(map[string]string{
		picture: "a picture", picture + ".attrs": "{}", waiting: "a file to send", "media/.incoming/half": "half", "tmp/decrypted": "secret",
	}) {
		path := filepath.Join(d.config.Folder, filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, []byte(content), 0o600))
	}
	check(t, d.appendTwo(t.Context()))
	return d
}

// appendTwo appends two events in one transaction.
func (d *data) appendTwo(ctx context.Context) error {
	event := func() eventlog.Event {
		return eventlog.Event{ID: uuid.NewString(), Kind: eventlog.KindMessageSent, At: time.Now(), Data: []byte("{}")}
	}
	return d.AppendEvents(ctx, d.instance, event(), event())
}

func (d *data) backup(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	report, err := archive.Write(t.Context(), d.config, path)
	check(t, err)
	verified, err := archive.Verify(t.Context(), path)
	if err != nil || verified != report || report.Files != 3 {
		t.Errorf("wrote %+v, and read %+v (%v)", report, verified, err)
	}
	return path
}

// count returns how many events there are.
func count(t *testing.T, config store.Config) int {
	t.Helper()
	source, err := copying.OpenSource(t.Context(), config)
	check(t, err)
	defer func() { check(t, source.Close(t.Context())) }()
	columns, err := source.Columns(t.Context(), "events")
	check(t, err)
	sum, err := copying.SumTable(t.Context(), source, "events", columns)
	check(t, err)
	return int(sum.Rows)
}

// A backup is of one moment, although the gateway writes all the time, and is restored on
// either database with its files.
func TestBackupOfAMoment(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]func(t *testing.T) store.Config{
		"SQLite": func(t *testing.T) store.Config { t.Helper(); return inFolder(t.TempDir()) },
		"PostgreSQL": func(t *testing.T) store.Config {
			t.Helper()
			return store.Config{URL: postgres.Start(t), Logger: slog.New(slog.DiscardHandler)}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newData(t, config(t))
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			began := make(chan struct{})
			go func() {
				// At full speed, each backup would take longer than the one before it, and more would be
				// written meanwhile.
				pace := time.NewTicker(time.Millisecond)
				defer pace.Stop()
				for n := 0; ctx.Err() == nil; n++ {
					<-pace.C
					if err := d.appendTwo(context.WithoutCancel(ctx)); err != nil {
						ended <- err
						return
					}
					if n == 0 {
						close(began)
					}
				}
				ended <- nil
			}()
			<-began
			var backups []string
			for range 4 {
				backups = append(backups, d.backup(t))
			}
			stop()
			check(t, <-ended)
			newest := 0
			for _, path := range backups {
				folder, target := t.TempDir(), config(t)
				if _, err := archive.Restore(t.Context(), path, target, folder, nil, nil); err != nil {
					t.Fatal(err)
				}
				if n := count(t, target); n < newest || n%2 != 0 || n == 0 {
					t.Errorf("%d events were restored, after %d", n, newest)
				} else {
					newest = n
				}
				for name, want := range cases.Sorted(map[string]string{picture: "a picture", waiting: "a file to send"}) {
					if content, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name))); err != nil || string(content) != want {
						t.Errorf("%s is %q (%v)", name, content, err)
					}
				}
				if _, err := os.Stat(filepath.Join(folder, "tmp")); err == nil {
					t.Error("a temporary file was restored")
				}
				s, err := store.Open(t.Context(), target)
				check(t, err)
				if _, err := s.GetInstance(t.Context(), d.instance); err != nil {
					t.Error(err)
				}
				check(t, s.Close())
				if _, err := archive.Restore(t.Context(), path, target, folder, nil, nil); !errors.Is(err, copying.ErrNotEmpty) {
					t.Errorf("a second restore is answered %v", err)
				}
			}
		})
	}
}

// A backup that is damaged in any place is refused before anything is written.
func TestDamagedBackup(t *testing.T) {
	t.Parallel()
	d := newData(t, inFolder(t.TempDir()))
	whole, err := os.ReadFile(d.backup(t))
	check(t, err)
	tarFile, err := inflate(whole)
	check(t, err)
	damaged := filepath.Join(t.TempDir(), "damaged.tar.gz")
	try := func(what string, content []byte) {
		t.Helper()
		check(t, os.WriteFile(damaged, content, 0o600))
		folder := t.TempDir()
		if _, err := archive.Restore(t.Context(), damaged, inFolder(folder), folder, nil, nil); err == nil {
			t.Errorf("%s, and nobody noticed", what)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s: %v was written (%v)", what, left, err)
		}
	}
	for n := range 40 {
		at := 10 + n*(len(whole)-20)/40 // behind the head of gzip, which has nothing to check
		changed := append([]byte{}, whole...)
		changed[at] ^= 0x40
		if content, err := inflate(changed); err == nil && bytes.Equal(content, tarFile) {
			continue // a bit that means nothing
		}
		try(fmt.Sprintf("byte %d of %d is another one", at, len(whole)), changed)
		try(fmt.Sprintf("it ends after %d of %d bytes", at, len(whole)), whole[:at])
	}
	if _, err := archive.Verify(t.Context(), damaged); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("half a backup is answered %v", err)
	}
	try("its last byte is missing", whole[:len(whole)-1])
	try("it is empty", nil)
	try("it is something else", []byte(strings.Repeat("something else ", 100)))
}

func inflate(content []byte) ([]byte, error) {
	packed, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(packed)
}

// A backup or a restore that is interrupted leaves nothing half, and can be repeated.
func TestInterruptedRestore(t *testing.T) {
	t.Parallel()
	d := newData(t, inFolder(t.TempDir()))
	path, target, folder := d.backup(t), inFolder(t.TempDir()), t.TempDir()
	for looks := range 100 {
		if _, err := archive.Restore(cutAfter(t.Context(), 2*looks), path, target, folder, nil, nil); err == nil {
			break // there was time enough
		}
		source, err := copying.OpenSource(t.Context(), target)
		check(t, err)
		if empty, err := copying.Empty(t.Context(), source); err != nil || !empty {
			t.Fatalf("after an interruption, the database is empty: %t (%v)", empty, err)
		}
		check(t, source.Close(t.Context()))
	}
	if n := count(t, target); n != 2 {
		t.Errorf("%d events were restored", n)
	}
	for looks := range 20 {
		again := filepath.Join(t.TempDir(), "again.tar.gz")
		if _, err := archive.Write(cutAfter(t.Context(), 3*looks), d.config, again); err == nil {
			break
		}
		if left, err := os.ReadDir(filepath.Dir(again)); err != nil || len(left) > 0 {
			t.Fatalf("%v was left (%v)", left, err)
		}
	}
	if _, err := archive.Write(t.Context(), d.config, path); err == nil {
		t.Error("a file was overwritten")
	}
}

// cutContext ends after some looks at it.
type cutContext struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int64
}

// cutAfter makes a context that ends after that many looks.
func cutAfter(ctx context.Context, looks int) *cutContext {
	cut := &cutContext{Context: ctx}
	cut.left.Store(int64(looks))
	return cut
}

// Err counts a look; drivers look from goroutines of their own.
func (c *cutContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// The backup of an earlier version is restored, and brought up to date by the next start.
func TestBackupOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	earlier := inFolder(t.TempDir())
	check(t, store.MigrateTo(t.Context(), earlier, 4))
	raw := func(do func(db *sql.DB) error) {
		t.Helper()
		db, err := sqlite.OpenPool(t.Context(), earlier.Path, 1)
		check(t, err)
		check(t, errors.Join(do(db), db.Close()))
	}
	raw(func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), "INSERT INTO accounts (id, name, created_at) VALUES ('a', 'from before', 1)")
		return err
	})
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	_, err := archive.Write(t.Context(), archive.Config{Data: earlier, Folder: t.TempDir(), Now: time.Now}, path)
	check(t, err)
	target := inFolder(t.TempDir())
	_, err = archive.Restore(t.Context(), path, target, t.TempDir(), nil, nil)
	check(t, err)
	s, err := store.Open(t.Context(), target)
	check(t, err)
	if _, found, err := s.FindAccount(t.Context(), "from before"); err != nil || !found {
		t.Errorf("the account is there: %t (%v)", found, err)
	}
	check(t, s.Close())
}
