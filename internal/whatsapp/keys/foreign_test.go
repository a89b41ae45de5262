package keys

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// older are the statements that take whatsmeow's tables back from a version to the one
// before: what its own upgrade does, the other way round.
func older(version int) []string {
	return map[int][]string{
		15: {"ALTER TABLE whatsmeow_device DROP COLUMN companion_meta_nonce"},
		14: {"DROP TABLE whatsmeow_nct_salt"},
		13: {"DROP TABLE whatsmeow_retry_buffer"},
		12: {
			"DROP INDEX idx_whatsmeow_privacy_tokens_our_jid_timestamp",
			"ALTER TABLE whatsmeow_privacy_tokens DROP COLUMN sender_timestamp",
		},
		11: {"ALTER TABLE whatsmeow_contacts DROP COLUMN redacted_phone"},
		10: {"ALTER TABLE whatsmeow_device DROP COLUMN lid_migration_ts"},
		9:  {"DROP TABLE whatsmeow_event_buffer"},
		8:  {"DROP TABLE whatsmeow_lid_map"},
		7:  {"ALTER TABLE whatsmeow_device DROP COLUMN lid"},
		6:  {"ALTER TABLE whatsmeow_device DROP COLUMN facebook_uuid"},
		// Its upgrade loses the tokens, which are not bound to the device.
		5: {"UPDATE whatsmeow_device SET jid = replace(jid, ':', '.0:')", "DELETE FROM whatsmeow_privacy_tokens"},
		4: {"DROP TABLE whatsmeow_privacy_tokens"},
		3: {"DROP TABLE whatsmeow_message_secrets"},
	}[version]
}

// Tables of every older version are read as whatsmeow reads them after its own upgrade.
func TestOlderTables(t *testing.T) {
	t.Parallel()
	for version := 15; version >= 2; version-- {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			t.Parallel()
			foreign, source := foreignDevice(t)
			use(t, foreign)
			exec := func(query string, args ...any) {
				t.Helper()
				if _, err := source.ExecContext(t.Context(), query, args...); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
			}
			for from := 15; from > version; from-- {
				for _, statement := range older(from) {
					exec(statement)
				}
			}
			exec("UPDATE whatsmeow_version SET version = $1, compat = $2", version, min(version, 8))
			if version < 5 {
				exec("ALTER TABLE whatsmeow_version DROP COLUMN compat")
			}
			before := dump(t, source)
			to := openStore(t)
			if copied, err := Import(t.Context(), source, "sqlite3", to); err != nil || copied != 1 {
				t.Fatalf("%d devices were copied (%v)", copied, err)
			}
			if after := dump(t, source); !slices.Equal(before, after) {
				t.Error("the tables were changed")
			}
			upgraded := sqlstore.NewWithDB(source, "sqlite3", nil)
			check(t, upgraded.Upgrade(t.Context()))
			all, err := upgraded.GetAllDevices(t.Context())
			check(t, err)
			device, err := newKeys(t, to).Load(t.Context(), instanceID, ownDevice)
			check(t, err)
			compare(t, answers(t, device), answers(t, all[0]))
		})
	}
}

// dump is what there is in whatsmeow's tables: their statements, and how many rows.
func dump(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name, coalesce(sql, '') FROM sqlite_master ORDER BY name")
	check(t, err)
	defer func() { check(t, rows.Close()) }()
	var tables []string
	for rows.Next() {
		var name, statement string
		check(t, rows.Scan(&name, &statement))
		all = append(all, statement)
		if strings.HasPrefix(statement, "CREATE TABLE") {
			tables = append(tables, name)
		}
	}
	check(t, rows.Err())
	for _, name := range tables {
		var count int
		check(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+name).Scan(&count))
		all = append(all, fmt.Sprint(name, count))
	}
	return all
}

// A message that the other program has decrypted and not passed on yet comes along: the
// platform delivers it again, and it can't be decrypted twice.
func TestBufferedMessagesComeAlong(t *testing.T) {
	t.Parallel()
	foreign, source := foreignDevice(t)
	use(t, foreign)
	kept, done := [32]byte{1}, [32]byte{2}
	for _, hash := range [][32]byte{kept, done} {
		check(t, foreign.EventBuffer.PutBufferedEvent(t.Context(), hash, []byte("Oi"), time.Unix(1_800_000_000, 0)))
	}
	check(t, foreign.EventBuffer.ClearBufferedEventPlaintext(t.Context(), done))
	to := openStore(t)
	_, err := Import(t.Context(), source, "sqlite3", to)
	check(t, err)
	exported := exportTo(t, to)
	device, err := newKeys(t, to).Load(t.Context(), instanceID, ownDevice)
	check(t, err)
	for name, device := range cases.Sorted(map[string]*wastore.Device{"imported": device, "exported": exported}) {
		event, err := device.EventBuffer.GetBufferedEvent(t.Context(), kept)
		if err != nil || event == nil || string(event.Plaintext) != "Oi" || event.ServerTime.Unix() != 1_800_000_000 {
			t.Errorf("%s: %+v (%v)", name, event, err)
		}
		if event, err := device.EventBuffer.GetBufferedEvent(t.Context(), done); err != nil || event != nil {
			t.Errorf("%s: what was passed on is still there: %+v (%v)", name, event, err)
		}
	}
}

// An export has the pairs of the device's own people, and not those that other devices of
// the gateway have learnt.
func TestExportHasOnlyItsOwnPeople(t *testing.T) {
	t.Parallel()
	foreign, source := foreignDevice(t)
	use(t, foreign)
	to := openStore(t)
	_, err := Import(t.Context(), source, "sqlite3", to)
	check(t, err)
	people := newKeys(t, to).People()
	check(t, people.PutLIDMapping(t.Context(), somebody("77777"), person("5588888")))
	exported := exportTo(t, to)
	for jid, want := range cases.Sorted(map[string]bool{"901": true, "77777": false}) {
		pn, err := exported.LIDs.GetPNForLID(t.Context(), somebody(jid))
		check(t, err)
		if pn.IsEmpty() == want {
			t.Errorf("LID %s: exported as %s", jid, pn)
		}
	}
}

// A session that can't be read is left out and counted; a key of the device itself must be
// right.
func TestBrokenRows(t *testing.T) {
	t.Parallel()
	foreign, source := foreignDevice(t)
	use(t, foreign)
	exec := func(query string) {
		t.Helper()
		_, err := source.ExecContext(t.Context(), query)
		check(t, err)
	}
	read := func() (ForeignDevice, error) {
		f, err := OpenForeign(t.Context(), source, "sqlite3")
		check(t, err)
		return f.Device(t.Context(), ownDevice)
	}
	whole, err := read()
	check(t, err)
	exec("UPDATE whatsmeow_sessions SET session = x'7b7d' WHERE their_id = '3:0'")
	device, err := read()
	check(t, err)
	if device.Unreadable != 1 || device.Sessions != whole.Sessions-1 || whole.Unreadable != 0 || len(device.Rows) != len(whole.Rows)-1 {
		t.Errorf("%d sessions are unreadable, %d are left of %d", device.Unreadable, device.Sessions, whole.Sessions)
	}
	exec("PRAGMA ignore_check_constraints = 1")
	exec("UPDATE whatsmeow_pre_keys SET key = x'00' WHERE key_id = 1")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "whatsmeow_pre_keys: a prekey has another length") {
		t.Errorf("a broken prekey is answered %v", err)
	}
	exec("UPDATE whatsmeow_device SET noise_key = x'00'")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "a key has another length") {
		t.Errorf("a broken device is answered %v", err)
	}
	exec("UPDATE whatsmeow_version SET compat = 99")
	if _, err := OpenForeign(t.Context(), source, "sqlite3"); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("tables of the future are answered %v", err)
	}
	empty, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "empty.db"), 1)
	check(t, err)
	t.Cleanup(func() { _ = empty.Close() })
	if _, err := OpenForeign(t.Context(), empty, "sqlite3"); !errors.Is(err, ErrNoTables) {
		t.Errorf("a database without tables is answered %v", err)
	}
}
