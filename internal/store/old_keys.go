// The keys of devices as earlier versions stored them, in whatsmeow's own tables. The server moves
// them at its start.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/sqlite"
)

// OldKeys is a database with whatsmeow's own tables, in which earlier versions stored the keys of
// devices.
type OldKeys struct {
	DB      *sql.DB
	Dialect string // as whatsmeow names it
}

// OpenOldKeysFile opens whatsmeow's tables in a SQLite file.
func OpenOldKeysFile(ctx context.Context, path string) (*OldKeys, error) {
	db, err := sqlite.OpenPool(ctx, path, 1)
	if err != nil {
		return nil, fmt.Errorf("store: open the keys: %w", err)
	}
	return &OldKeys{DB: db, Dialect: "sqlite3"}, nil
}

// OpenOldKeysDatabase opens whatsmeow's tables in the PostgreSQL database of the gateway. Without
// them it returns nil, and also if no instance has one of their devices: then they are
// another program's.
func OpenOldKeysDatabase(ctx context.Context, url string, logger *slog.Logger) (*OldKeys, error) {
	database, err := postgres.Open(ctx, postgres.Config{URL: url, Conns: 1, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("store: open the keys: %w", err)
	}
	var devices bool
	err = database.Pool().QueryRowContext(ctx, "SELECT to_regclass('whatsmeow_device') IS NOT NULL").Scan(&devices)
	if err == nil && devices {
		err = database.Pool().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM whatsmeow_device WHERE "+oldKeysOfInstances+")").Scan(&devices)
	}
	if err != nil || !devices {
		if err = errors.Join(err, database.Close()); err != nil {
			err = fmt.Errorf("store: look for keys: %w", err)
		}
		return nil, err
	}
	return &OldKeys{DB: database.Pool(), Dialect: "postgres"}, nil
}

// oldKeysOfInstances chooses the devices that instances have.
const oldKeysOfInstances = "jid IN (SELECT device FROM instances)"

// Close closes the database.
func (k *OldKeys) Close() error {
	if err := k.DB.Close(); err != nil {
		return fmt.Errorf("store: close the keys: %w", err)
	}
	return nil
}

// Empty removes the devices of instances, and with them their keys.
func (k *OldKeys) Empty(ctx context.Context) error {
	if _, err := k.DB.ExecContext(ctx, "DELETE FROM whatsmeow_device WHERE "+oldKeysOfInstances); err != nil {
		return fmt.Errorf("store: remove the keys: %w", err)
	}
	return nil
}
