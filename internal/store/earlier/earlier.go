// Package earlier opens what earlier versions of this program have left in a database in
// another form. The server moves it at its start.
package earlier

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/sqlite"
)

// Keys is a database with whatsmeow's own tables, which earlier versions kept the keys of
// devices in.
type Keys struct {
	*sql.DB

	Dialect string // as whatsmeow names it
}

// OpenFile opens whatsmeow's tables in a SQLite file.
func OpenFile(ctx context.Context, path string) (*Keys, error) {
	db, err := sqlite.OpenPool(ctx, path, 1)
	if err != nil {
		return nil, fmt.Errorf("earlier: open the keys: %w", err)
	}
	return &Keys{DB: db, Dialect: "sqlite3"}, nil
}

// OpenDatabase opens whatsmeow's tables in the PostgreSQL database of the gateway. Without
// them it returns nil, and also if no instance has one of their devices: then they are
// another program's.
func OpenDatabase(ctx context.Context, url string, logger *slog.Logger) (*Keys, error) {
	database, err := postgres.Open(ctx, postgres.Config{URL: url, Conns: 1, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("earlier: open the keys: %w", err)
	}
	var devices bool
	err = database.Pool().QueryRowContext(ctx, "SELECT to_regclass('whatsmeow_device') IS NOT NULL").Scan(&devices)
	if err == nil && devices {
		err = database.Pool().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM whatsmeow_device WHERE "+ofInstances+")").Scan(&devices)
	}
	if err != nil || !devices {
		if err = errors.Join(err, database.Close()); err != nil {
			err = fmt.Errorf("earlier: look for keys: %w", err)
		}
		return nil, err
	}
	return &Keys{DB: database.Pool(), Dialect: "postgres"}, nil
}

// ofInstances chooses the devices that instances have.
const ofInstances = "jid IN (SELECT device FROM instances)"

// Empty removes the devices of instances, and with them their keys.
func (k *Keys) Empty(ctx context.Context) error {
	if _, err := k.ExecContext(ctx, "DELETE FROM whatsmeow_device WHERE "+ofInstances); err != nil {
		return fmt.Errorf("earlier: remove the keys: %w", err)
	}
	return nil
}
