// The removal of old rows.

package database

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/sqlite"
)

// keepSent is how long the messages that clients sent are remembered. Clients
// repeat a frame within seconds, and receipts come within days.
const keepSent = 30 * 24 * time.Hour

// ClearOld deletes the records of messages that clients sent long ago.
func ClearOld(ctx context.Context, db *sqlite.DB, now time.Time) error {
	before := now.Add(-keepSent)
	err := db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		for _, statement := range []string{
			"DELETE FROM retries WHERE (sender, id) IN (SELECT sender, id FROM sent WHERE at < $1)",
			"DELETE FROM sent WHERE at < $1",
			"DELETE FROM early_receipts WHERE at < $1",
		} {
			if _, err := tx.ExecContext(ctx, statement, before.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("database: clear old records: %w", err)
	}
	return nil
}
