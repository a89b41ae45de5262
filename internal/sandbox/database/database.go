// Package database opens the sandbox's database file, creates its tables and brings
// them up to date.
//
// It also has helpers for short queries. The statements stand in the packages that
// need them.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/sqlite"
)

//go:embed schema.sql
var schema string

// Each upgrade brings a database from the version before to its own.
//
//go:embed upgrade_2.sql
var upgradeTo2 string

//go:embed upgrade_3.sql
var upgradeTo3 string

//go:embed upgrade_4.sql
var upgradeTo4 string

//go:embed upgrade_5.sql
var upgradeTo5 string

//go:embed upgrade_6.sql
var upgradeTo6 string

//go:embed upgrade_7.sql
var upgradeTo7 string

//go:embed upgrade_8.sql
var upgradeTo8 string

//go:embed upgrade_9.sql
var upgradeTo9 string

// schemaVersion is the version that this program writes into the database. It
// refuses databases with a newer one.
const schemaVersion = 9

// Open opens the database at path and brings its tables up to date. It creates the
// file if it does not exist.
func Open(ctx context.Context, path string) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if err := migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// migrate creates the tables, or upgrades those of older versions.
func migrate(ctx context.Context, db *sqlite.DB) error {
	return db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return fmt.Errorf("database: read schema version: %w", err)
		}
		if version > schemaVersion {
			return fmt.Errorf("database: the sandbox's database has version %d, this program knows %d", version, schemaVersion)
		}
		for from, upgrade := range []string{1: upgradeTo2, 2: upgradeTo3, 3: upgradeTo4, 4: upgradeTo5, 5: upgradeTo6, 6: upgradeTo7, 7: upgradeTo8, 8: upgradeTo9} {
			if version == 0 || from < version {
				continue
			}
			if _, err := tx.ExecContext(ctx, upgrade); err != nil {
				return fmt.Errorf("database: bring tables up to date: %w", err)
			}
		}
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return fmt.Errorf("database: create tables: %w", err)
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)); err != nil {
			return fmt.Errorf("database: write schema version: %w", err)
		}
		return nil
	})
}

// RootSeed returns the seed of the root key: the given one, or the one in the
// database, which is drawn on first use.
func RootSeed(ctx context.Context, db *sqlite.DB, given *[32]byte) ([32]byte, error) {
	if given != nil {
		return *given, nil
	}
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return seed, fmt.Errorf("database: draw root seed: %w", err)
	}
	err := db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		var kept []byte
		err := tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'root_seed'").Scan(&kept)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			_, err = tx.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES ('root_seed', $1)", seed[:])
			return err
		case err != nil:
			return err
		case len(kept) != len(seed):
			return fmt.Errorf("kept seed has %d bytes", len(kept))
		}
		copy(seed[:], kept)
		return nil
	})
	if err != nil {
		return seed, fmt.Errorf("database: keep root seed: %w", err)
	}
	return seed, nil
}
