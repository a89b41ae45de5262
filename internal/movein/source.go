// The store of a program on whatsmeow, and what is common to the stores of other programs.

package movein

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// tempFolder is the folder for temporary files in the data folder. A gateway that starts
// empties it.
const tempFolder = "tmp"

// InUseError says that the other program still seems to run. Two programs with the same keys break each
// other's conversations.
type InUseError struct{ Why string }

// Error says what was seen.
func (e *InUseError) Error() string { return e.Why }

// foreign are the devices of another program.
type foreign interface {
	// Devices returns what identifies them: their JIDs, or the names that the program has
	// given them.
	Devices(ctx context.Context) ([]string, error)
	// Device reads all keys of one. An *InUseError ends the import.
	Device(ctx context.Context, id string) (keys.ForeignDevice, error)
	// Pairs calls add with the pairs of number and LID of all devices, until it returns an error.
	Pairs(ctx context.Context, add func(lid, number string) error) error
}

// source is what was opened of another program, which is read and never changed.
type source struct{ closers []func() error }

// openWhatsmeow opens the store of a program on whatsmeow. Its error is an *InUseError if
// that program seems to run.
func (s *source) openWhatsmeow(ctx context.Context, config Config) (foreign, error) {
	var db keys.Querier
	var err error
	dialect := "sqlite3"
	if isPostgres(config.From) {
		dialect = "postgres"
		db, err = s.beginReading(ctx, config)
	} else {
		db, err = s.openFile(ctx, config)
	}
	if err != nil {
		return nil, err
	}
	tables, err := keys.OpenForeign(ctx, db, dialect)
	if errors.Is(err, keys.ErrNoTables) {
		err = errors.New("there are no tables of whatsmeow in it: docs/moving-in.md says where each program keeps them")
	}
	return tables, err
}

func isPostgres(from string) bool {
	return strings.HasPrefix(from, "postgres://") || strings.HasPrefix(from, "postgresql://")
}

// close closes what was opened, the last first, and removes the copy.
func (s *source) close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// beginReading begins a transaction in PostgreSQL that only reads and sees the database as it was at one
// moment. Its error is an *InUseError if other clients use the database.
func (s *source) beginReading(ctx context.Context, config Config) (*sql.Tx, error) {
	db, err := postgres.Open(ctx, postgres.Config{URL: config.From, Conns: 1, Logger: config.Logger})
	if err != nil {
		return nil, fmt.Errorf("open the other program's database: %w", err)
	}
	s.closers = append(s.closers, db.Close)
	tx, err := db.Pool().BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read the other program's database: %w", err)
	}
	s.closers = append(s.closers, func() error {
		if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
			return err
		}
		return nil
	})
	ours, err := claim.Held(ctx, tx)
	if err != nil {
		return nil, err
	}
	var tables bool
	var others int
	var names string
	// Those that have no user are the server's own.
	err = tx.QueryRowContext(ctx, `SELECT to_regclass('device_keys') IS NOT NULL, count(pid),
		coalesce(string_agg(DISTINCT nullif(application_name, ''), ', '), 'they give no name') FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL AND application_name <> $1`,
		postgres.ApplicationName).Scan(&tables, &others, &names)
	switch {
	case err != nil:
		return nil, fmt.Errorf("see who uses the other program's database: %w", err)
	case ours || tables:
		return nil, errors.New("this database is Recado's own: give Recado a database that the other program does not use")
	case others > 0 && !config.Stopped:
		return nil, &InUseError{fmt.Sprintf("%d other connections use this database (%s)", others, names)}
	}
	return tx, nil
}

// openFile opens a copy of a SQLite file: reading the original would change the files next to it, and opening
// it would recover what a crash has left there.
func (s *source) openFile(ctx context.Context, config Config) (*sql.DB, error) {
	path := filePath(config.From)
	if err := checkHead(path); err != nil {
		return nil, err
	}
	if !config.Stopped {
		why, err := inUse(path)
		if err != nil {
			return nil, fmt.Errorf("see who uses the file: %w", err)
		}
		if why != "" {
			return nil, &InUseError{why}
		}
	}
	temp := "" // the machine's own
	if data := filepath.Dir(config.Data.Path); config.Data.Path != "" {
		if _, err := os.Stat(data); err == nil { // a dry run does not make it
			temp = filepath.Join(data, tempFolder)
			if err := os.MkdirAll(temp, 0o700); err != nil {
				return nil, fmt.Errorf("make a folder for the copy: %w", err)
			}
		}
	}
	folder, err := os.MkdirTemp(temp, "import-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the copy: %w", err)
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(folder) })
	target := filepath.Join(folder, "source.db")
	changed, err := copyDatabase(path, target)
	if err != nil {
		return nil, fmt.Errorf("copy the file: %w", err)
	}
	if changed && !config.Stopped {
		return nil, &InUseError{"the file was changed while it was copied"}
	}
	db, err := sqlite.OpenPool(ctx, target, 1)
	if err != nil {
		return nil, fmt.Errorf("open a copy of the file: %w", err)
	}
	s.closers = append(s.closers, db.Close)
	return db, nil
}

// filePath is the file that From names: a path, or the URI that programs configure,
// file:storages/whatsapp.db?_foreign_keys=on.
func filePath(from string) string {
	path, isURI := strings.CutPrefix(from, "file:")
	if !isURI {
		return from
	}
	path, _, _ = strings.Cut(path, "?")
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		return rest
	}
	return path
}

// checkHead refuses what is no SQLite file.
func checkHead(path string) error {
	const head = "SQLite format 3\x00"
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return fmt.Errorf("open the other program's database: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	found := make([]byte, len(head))
	if _, err := io.ReadFull(file, found); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the other program's database: %w", err)
	}
	if string(found) != head {
		return fmt.Errorf("%s is no SQLite database: name one, or a PostgreSQL database (postgres://…)", path)
	}
	return nil
}

// copyDatabase copies a SQLite file with its log, and reports whether any of it has changed meanwhile.
func copyDatabase(from, to string) (changed bool, err error) {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		before, err := state(from + suffix)
		if err != nil {
			return false, err
		}
		if before != "" {
			if err := copyFile(from+suffix, to+suffix); err != nil {
				return false, err
			}
		}
		after, err := state(from + suffix)
		if err != nil {
			return false, err
		}
		changed = changed || before != after
	}
	return changed, nil
}

// state returns a text that changes when a file is written; empty if there is no file.
func state(path string) (string, error) {
	about, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprint(about.Size(), about.ModTime().UnixNano()), nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()                                     // it was only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // in a folder of our own
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
