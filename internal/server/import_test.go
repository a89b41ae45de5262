package server_test

import (
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"go.mau.fi/whatsmeow/proto/waAdv"
	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// An instance that was linked with an earlier version, which kept the keys in tables of
// whatsmeow's, is connected after the update, reads messages and is read.
func TestKeysOfAnEarlierVersionAreImported(t *testing.T) {
	t.Parallel()
	for name, options := range cases.Sorted(map[string]func(t *testing.T) testkit.Options{
		"SQLite": func(t *testing.T) testkit.Options {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir()}
		},
		"PostgreSQL": func(t *testing.T) testkit.Options {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir(), DatabaseURL: postgres.Start(t)}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			before := testkit.Start(t, o)
			linked := before.Link(t, shopNumber)
			sent := sendText(t, before, linked, "before")
			testkit.Await(t, "status read", func() bool {
				return find(t, before, linked, sent.ID).Status == gateway.MessageRead
			})
			awaitMessage(t, before, linked, before.Phones.SendText(t, customerNumber, shopNumber, "an answer"))
			before.Stop()
			moveBack(t, o)

			for range 2 { // the second start finds nothing to import
				after := testkit.Start(t, o)
				after.AwaitStatus(t, linked, gateway.StatusConnected)
				awaitMessage(t, after, linked, after.Phones.SendText(t, customerNumber, shopNumber, "are you there?"))
				after.Phones.AwaitMessage(t, customerNumber, sendText(t, after, linked, "after").MessageID)
				after.Stop()
				if _, err := os.Stat(filepath.Join(o.DataDir, "sessions.db")); !os.IsNotExist(err) {
					t.Errorf("the file of the earlier version is still there (%v)", err)
				}
			}
		})
	}
}

// Tables of whatsmeow's that another program keeps in the same database are left alone.
func TestKeysOfAnotherProgramAreLeftAlone(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	container := sqlstore.NewWithDB(db, "postgres", waLog.Noop)
	if err := container.Upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	device := container.NewDevice()
	device.ID = &types.JID{User: shopNumber, Device: 7, Server: types.DefaultUserServer}
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte("x"), AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
	}
	if err := container.PutDevice(t.Context(), device); err != nil {
		t.Fatal(err)
	}
	g := testkit.Start(t, testkit.Options{DatabaseURL: url})
	g.Link(t, customerNumber)
	g.Stop()
	testkit.Start(t, testkit.Options{DatabaseURL: url}).Stop()
	var left int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM whatsmeow_device").Scan(&left); err != nil || left != 1 {
		t.Errorf("the other program has %d devices left (%v), want 1", left, err)
	}
}

// moveBack moves the keys of the one device to where an earlier version had them.
func moveBack(t *testing.T, o testkit.Options) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	config := store.Config{Path: filepath.Join(o.DataDir, "recado.db"), Logger: slog.New(slog.DiscardHandler)}
	if o.DatabaseURL != "" {
		config.Path, config.URL = "", o.DatabaseURL
	}
	kept, err := store.Open(t.Context(), config)
	check(err)
	defer func() { check(kept.Close()) }()
	instances, err := kept.AllInstances(t.Context())
	check(err)
	jid := instances[0].Device
	number, _, err := kept.Devices.FindDevice(t.Context(), jid)
	check(err)
	owner, err := keys.New(keys.Config{Store: kept.Devices, Log: waLog.Noop, Now: time.Now})
	check(err)
	device, err := owner.Load(t.Context(), instances[0].ID, jid)
	check(err)

	var db *sql.DB
	dialect := "postgres"
	if o.DatabaseURL != "" {
		db, err = sql.Open("pgx", o.DatabaseURL)
	} else {
		dialect = "sqlite3"
		db, err = sqlite.OpenPool(t.Context(), filepath.Join(o.DataDir, "sessions.db"), 1)
	}
	check(err)
	defer func() { check(db.Close()) }()
	container := sqlstore.NewWithDB(db, dialect, waLog.Noop)
	check(container.Upgrade(t.Context()))
	device.Initialized = false
	check(container.PutDevice(t.Context(), device))
	old, ok := device.Sessions.(wastore.AllSessionSpecificStores)
	if !ok {
		t.Fatalf("whatsmeow's stores are a %T", device.Sessions)
	}
	rows := func(kind string) []gateway.DeviceKey {
		found, err := kept.Devices.ListDeviceKeys(t.Context(), number, kind, "")
		check(err)
		if len(found) == 0 {
			t.Fatalf("the device has no %s", kind)
		}
		return found
	}
	for _, row := range rows("identity") {
		check(old.PutIdentity(t.Context(), row.Name, [32]byte(row.Value)))
	}
	for _, row := range rows("session") {
		check(old.PutSession(t.Context(), row.Name, row.Value))
	}
	for _, row := range rows("prekey") {
		id, err := strconv.ParseUint(row.Name, 16, 32)
		check(err)
		_, err = db.ExecContext(t.Context(), "INSERT INTO whatsmeow_pre_keys (jid, key_id, key, uploaded) VALUES ($1, $2, $3, $4)",
			jid, id, row.Value[:32], row.Value[32] == 1)
		check(err)
	}
	check(kept.Devices.RemoveDevice(t.Context(), jid))
}
