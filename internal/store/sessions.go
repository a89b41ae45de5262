package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/sqlite"
)

// Sessions is the database of the platform's session keys.
type Sessions struct {
	*sql.DB

	// Sync returns when everything that was committed before the call is safe from a
	// loss of power.
	Sync func(ctx context.Context) error
}

// OpenSessions opens the database for the platform's session keys, whose tables
// are the connector's. On SQLite it is a file of its own, never the store's: two
// writers of one file block each other. On PostgreSQL it is a pool of its own.
func OpenSessions(ctx context.Context, config Config) (Sessions, error) {
	if (config.Path == "") == (config.URL == "") {
		return Sessions{}, errors.New("store: need either a file or the URL of a database")
	}
	if config.Path != "" {
		file, err := sqlite.OpenLazy(ctx, config.Path)
		if err != nil {
			return Sessions{}, fmt.Errorf("store: open sessions: %w", err)
		}
		return Sessions{DB: file.DB, Sync: file.Sync}, nil
	}
	database, err := openPostgres(ctx, config)
	if err != nil {
		return Sessions{}, fmt.Errorf("store: open sessions: %w", err)
	}
	// Every commit of PostgreSQL waits for its disk.
	return Sessions{DB: database.pool, Sync: func(context.Context) error { return nil }}, nil
}
