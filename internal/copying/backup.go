// The note in a database that a backup of it was made.

package copying

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
)

const noteBackup = "INSERT INTO last_backup (one, finished_at) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET finished_at = excluded.finished_at"

// NoteBackup stores in a database when a backup of it was finished, for the metrics of the gateway, which may
// work with it meanwhile.
func NoteBackup(ctx context.Context, config store.Config, at time.Time) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("note in the database that there is a backup: %w", err)
		}
	}()
	if config.URL == "" {
		pool, err := sqlite.OpenPool(ctx, config.Path, 1)
		if err != nil {
			return err
		}
		_, err = pool.ExecContext(ctx, noteBackup, at.UnixMilli())
		return errors.Join(err, pool.Close())
	}
	conn, err := postgres.Connect(ctx, config.URL, postgres.ApplicationName)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, noteBackup, at.UnixMilli())
	return errors.Join(err, conn.Close(ctx))
}
