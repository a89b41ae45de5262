package database

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/sqlite"
)

// A database of the first version has these tables without their new columns.
func TestDatabaseOfTheFirstVersionOpens(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := migrate(ctx, db); err != nil {
		t.Fatal(err)
	}
	err = db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		for _, statement := range []string{
			"DROP TABLE groups", "DROP TABLE blocks", "ALTER TABLE accounts DROP COLUMN picture",
			"ALTER TABLE accounts DROP COLUMN number_hidden", "ALTER TABLE accounts DROP COLUMN restricted_until",
			"ALTER TABLE accounts DROP COLUMN history", "ALTER TABLE devices DROP COLUMN name", "ALTER TABLE devices DROP COLUMN kind",
			"DROP TABLE passkeys", "DROP TABLE settings", "DROP TABLE channel_posts", "DROP TABLE channels", "DROP TABLE timers", "ALTER TABLE accounts DROP COLUMN passkey", "ALTER TABLE accounts DROP COLUMN privacy", "ALTER TABLE accounts DROP COLUMN business", "ALTER TABLE accounts DROP COLUMN username",
			"ALTER TABLE messages DROP COLUMN media_sha256", "ALTER TABLE messages DROP COLUMN media_size",
			"ALTER TABLE messages DROP COLUMN media_forgotten", "ALTER TABLE messages DROP COLUMN votes",
			"ALTER TABLE messages DROP COLUMN pinned_until", "ALTER TABLE messages DROP COLUMN starred", "DROP INDEX messages_problems", "ALTER TABLE messages DROP COLUMN problems", "PRAGMA user_version = 1",
			`INSERT INTO accounts (number, lid, name, registered, online, keys, created_at) VALUES ('1', '2', 'x', 1, 1, x'00', 0)`,
			`INSERT INTO messages (number, chat, sender, device, id, from_me, at, payload, status) VALUES ('1', 'c', 's', 'd', 'i', 1, 0, x'', 1)`,
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := migrate(ctx, db); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Strings(ctx, db.Reader(), "SELECT media_sha256 FROM messages UNION SELECT id FROM groups UNION SELECT history FROM accounts UNION SELECT passkey FROM accounts UNION SELECT privacy FROM accounts UNION SELECT business FROM accounts UNION SELECT username FROM accounts UNION SELECT name FROM devices UNION SELECT votes FROM messages UNION SELECT kind FROM settings UNION SELECT chat FROM timers UNION SELECT id FROM channel_posts UNION SELECT id FROM channels UNION SELECT pinned_until + starred FROM messages"); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
