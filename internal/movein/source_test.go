package movein_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waAdv"
	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// deviceNames are the push names of the devices that fill makes.
func deviceNames() []string { return []string{"Loja", "", "Loja"} }

// fill makes linked devices in whatsmeow's tables.
func fill(t *testing.T, db *sql.DB, dialect string) {
	t.Helper()
	container := sqlstore.NewWithDB(db, dialect, nil)
	check(t, container.Upgrade(t.Context()))
	for n, name := range deviceNames() {
		device := container.NewDevice()
		id, err := types.ParseJID(fmt.Sprintf("551199999000%d:7@s.whatsapp.net", n))
		check(t, err)
		device.ID, device.PushName = &id, name
		device.Account = &waAdv.ADVSignedDeviceIdentity{
			Details: []byte{1}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
		}
		check(t, device.Save(t.Context()))
		_, err = device.PreKeys.GetOrGenPreKeys(t.Context(), 3)
		check(t, err)
		check(t, device.SenderKeys.PutSenderKey(t.Context(), "team@g.us", "1:0", []byte("a secret of the team")))
		check(t, device.LIDs.PutManyLIDMappings(t.Context(), []wastore.LIDMapping{
			{LID: types.NewJID(fmt.Sprint(900+n), types.HiddenUserServer), PN: types.NewJID(id.User, types.DefaultUserServer)},
		}))
	}
}

// filledFile is a SQLite file with devices.
func filledFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "main.db")
	db, err := sqlite.OpenPool(t.Context(), path, 1)
	check(t, err)
	fill(t, db, "sqlite3")
	check(t, db.Close())
	return path
}

// change carries out statements on a file.
func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sqlite.OpenPool(t.Context(), path, 1)
	check(t, err)
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		check(t, err)
	}
	check(t, db.Close())
}

func configOf(t *testing.T, from string) movein.Config {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	return movein.Config{From: from, Data: server.StoreConfig(filepath.Join(t.TempDir(), "data"), "", logger), Account: account, Logger: logger, Now: time.Now}
}

// contents are all files of a folder, with what is in them.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	check(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found[path] = string(content)
		return err
	}))
	return found
}

// instancesOf are the instances in the data, by number.
func instancesOf(t *testing.T, config store.Config) map[string]gateway.Instance {
	t.Helper()
	opened, err := store.Open(t.Context(), config)
	check(t, err)
	defer func() { check(t, opened.Close()) }()
	all, err := opened.AllInstances(t.Context())
	check(t, err)
	found := map[string]gateway.Instance{}
	for _, instance := range all {
		if _, known, err := opened.Devices.FindDevice(t.Context(), instance.Device); err != nil || !known {
			t.Errorf("the instance %s has no keys (%v)", instance.Name, err)
		}
		number, _, _ := strings.Cut(string(instance.Profile.JID), "@")
		found[number] = instance
	}
	return found
}

// Instances are called after their accounts; two of one name can be told apart. The source
// stays as it is, also where its last changes are in a log beside it.
func TestSourceIsOnlyRead(t *testing.T) {
	t.Parallel()
	path := filledFile(t)
	left, err := sqlite.OpenPool(t.Context(), path, 1)
	check(t, err)
	_, err = left.ExecContext(t.Context(), "UPDATE whatsmeow_device SET push_name = 'Padaria' WHERE jid LIKE '%0001:%'")
	check(t, err)
	// As a crash leaves it: what has changed is in the log only.
	crashed := filepath.Join(t.TempDir(), "main.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		check(t, err)
		check(t, os.WriteFile(crashed+suffix, content, 0o600))
	}
	check(t, left.Close())
	before := contents(t, filepath.Dir(crashed))

	config := configOf(t, crashed)
	config.DryRun = true
	results, err := collect(t, config)
	check(t, err)
	if len(results) != 3 || results[0].InstanceID != "" || results[0].State() != "would come" || results[1].Name != "Padaria" {
		t.Errorf("a dry run says %+v", results)
	}
	if exists(filepath.Dir(config.Data.Path)) {
		t.Error("a dry run has made the data folder")
	}

	config.DryRun, config.From = false, "file:"+crashed+"?_foreign_keys=on"
	results, err = collect(t, config)
	check(t, err)
	var names []string
	for _, result := range results {
		names = append(names, result.Name)
	}
	if want := []string{"Loja", "Padaria", "Loja 5511999990002"}; !slices.Equal(names, want) {
		t.Errorf("the instances are called %q, want %q", names, want)
	}
	if after := contents(t, filepath.Dir(crashed)); !maps.Equal(before, after) {
		t.Error("the source was changed")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(config.Data.Path), "tmp", "*")); err != nil || len(left) > 0 {
		t.Errorf("a copy of the keys was left behind: %v (%v)", left, err)
	}
	for number, instance := range instancesOf(t, config.Data) {
		if instance.Status != gateway.StatusConnecting || instance.Profile.Name != "Loja" && instance.Profile.Name != "Padaria" {
			t.Errorf("the instance of %s is %+v", number, instance)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// What holds no devices is refused in words, and nothing comes.
func TestSourcesWithoutDevices(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := func(name, content string) string {
		check(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
		return filepath.Join(folder, name)
	}
	noTables, noDevices, newer := filepath.Join(folder, "none.db"), filledFile(t), filledFile(t)
	change(t, noTables, "CREATE TABLE users (id TEXT)")
	change(t, noDevices, "DELETE FROM whatsmeow_device")
	change(t, newer, "UPDATE whatsmeow_version SET compat = 99")
	broken := path("broken.db", "SQLite format 3\x00"+strings.Repeat("?", 4096))
	emptyDatabase := postgres.Start(t)
	for from, want := range cases.Sorted(map[string]string{
		filepath.Join(folder, "missing.db"): "no such file",
		folder:                              "is a directory",
		path("empty.db", ""):                "no SQLite database",
		path("text.txt", strings.Repeat("Oi", 99)): "no SQLite database",
		broken:                                 "open a copy of the file",
		noTables:                               "no tables of whatsmeow",
		emptyDatabase:                          "no tables of whatsmeow",
		noDevices:                              "no linked device",
		newer:                                  "version 99",
		"postgres://u:geheim@/x?host=/nowhere": "open the other program's database",
	}) {
		config := configOf(t, from)
		results, err := collect(t, config)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") || len(results) > 0 {
			t.Errorf("%s: %v, %v; want %q", from, results, err, want)
		}
		if exists(config.Data.Path) && len(instancesOf(t, config.Data)) > 0 {
			t.Errorf("%s: instances were made", from)
		}
	}
}

// A second import is refused with the name of the instance, and changes nothing.
func TestSecondImport(t *testing.T) {
	t.Parallel()
	config := configOf(t, filledFile(t))
	first, err := collect(t, config)
	check(t, err)
	before := instancesOf(t, config.Data)
	second, err := collect(t, config)
	check(t, err)
	for n, result := range second {
		want := fmt.Sprintf("it is here already, as the instance %s (%s)", first[n].Name, first[n].InstanceID)
		if result.Problem != want || result.InstanceID != "" {
			t.Errorf("device %d: %+v, want %q", n, result, want)
		}
	}
	if after := instancesOf(t, config.Data); !maps.Equal(before, after) || len(after) != 3 {
		t.Errorf("the instances are %v, before %v", after, before)
	}
}

// A device with a broken row is left out, and the others come. What is reported holds
// nothing of a key.
func TestBrokenDevice(t *testing.T) {
	t.Parallel()
	path := filledFile(t)
	change(t, path, "PRAGMA ignore_check_constraints = 1",
		"UPDATE whatsmeow_device SET registration_id = 'a secret' WHERE jid LIKE '%0000:%'",
		"DELETE FROM whatsmeow_pre_keys WHERE jid LIKE '%0001:%'",
		"INSERT INTO whatsmeow_sessions (our_jid, their_id, session) SELECT jid, '1:0', 'a secret' FROM whatsmeow_device")
	config := configOf(t, path)
	results, err := collect(t, config)
	check(t, err)
	for n, want := range []string{
		"it can't be read: read whatsmeow's device: a value has another type", "it has no prekeys: its keys are kept somewhere else", "",
	} {
		if results[n].Problem != want || results[n].Number != fmt.Sprint("551199999000", n) || strings.Contains(fmt.Sprint(results[n]), "secret") {
			t.Errorf("device %d: %+v, want %q", n, results[n], want)
		}
	}
	if came := results[2]; came.UnreadableSessions != 1 || came.SenderKeys != 1 || !strings.HasSuffix(came.State(), "can't be read and were left out: 1") {
		t.Errorf("the last device: %+v, %s", came, came.State())
	}
	if all := instancesOf(t, config.Data); len(all) != 1 || all["5511999990002"].ID != results[2].InstanceID {
		t.Errorf("the instances are %v", all)
	}
}

// An import that was interrupted can be run again, wherever it was interrupted.
func TestInterruptedImport(t *testing.T) {
	t.Parallel()
	config := configOf(t, filledFile(t))
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	err := movein.FromWhatsmeow(ctx, config, func(movein.Result) { interrupt() })
	if !errors.Is(err, context.Canceled) || len(instancesOf(t, config.Data)) != 1 {
		t.Fatalf("%v instances, %v", instancesOf(t, config.Data), err)
	}
	// Keys without an instance, as a crash between the two leaves them.
	opened, err := store.Open(t.Context(), config.Data)
	check(t, err)
	_, err = opened.Devices.AddDevice(t.Context(), "5511999990001:7@s.whatsapp.net", []gateway.DeviceKey{{Kind: "device", Value: []byte("half")}})
	check(t, err)
	check(t, opened.Close())

	results, err := collect(t, config)
	check(t, err)
	if len(results) != 3 || results[0].InstanceID != "" || results[1].InstanceID == "" || results[2].InstanceID == "" {
		t.Errorf("the second try says %+v", results)
	}
	if all := instancesOf(t, config.Data); len(all) != 3 {
		t.Errorf("the instances are %v", all)
	}
	opened, err = store.Open(t.Context(), config.Data)
	check(t, err)
	defer func() { check(t, opened.Close()) }()
	number, _, err := opened.Devices.FindDevice(t.Context(), "5511999990001:7@s.whatsapp.net")
	check(t, err)
	if key, err := opened.Devices.FindDeviceKey(t.Context(), number, "device", ""); err != nil || string(key) == "half" {
		t.Errorf("the half of the keys is still there (%v)", err)
	}
}

// A source that another program uses is refused, unless its operator knows better.
func TestSourceInUse(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	database, err := sql.Open("pgx", url+"&application_name=wuzapi")
	check(t, err)
	t.Cleanup(func() { _ = database.Close() })
	fill(t, database, "postgres")
	wal, journal := filledFile(t), filledFile(t)
	walOpen, err := sqlite.OpenPool(t.Context(), wal, 1)
	check(t, err)
	t.Cleanup(func() { _ = walOpen.Close() })
	change(t, journal, "PRAGMA journal_mode = DELETE")
	journalOpen, err := os.Open(journal)
	check(t, err)
	t.Cleanup(func() { _ = journalOpen.Close() })
	sources := map[string]string{url: "other connections use this database (wuzapi)"}
	if runtime.GOOS == "linux" { // docs/moving-in.md says so
		sources[wal], sources[journal] = "locked", "has this file open"
	}
	for from, want := range cases.Sorted(sources) {
		config := configOf(t, from)
		results, err := collect(t, config)
		if inUse, ok := errors.AsType[*movein.InUseError](err); !ok || !strings.Contains(inUse.Why, want) || len(results) > 0 {
			t.Errorf("%s: %v, %v; want %q", from, results, err, want)
		}
		config.Stopped = true
		if results, err := collect(t, config); err != nil || len(results) != 3 || results[2].Problem != "" {
			t.Errorf("%s: %v, %v although it is said to be stopped", from, results, err)
		}
	}
}

// A database that the other program uses is no place for Recado: its next start would
// take the tables for those of an older version of its own, and empty them.
func TestSourceIsNotTheTarget(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	database, err := sql.Open("pgx", url)
	check(t, err)
	t.Cleanup(func() { _ = database.Close() })
	fill(t, database, "postgres")
	config := configOf(t, url)
	config.Data, config.Stopped = server.StoreConfig("", url+"&connect_timeout=30", config.Logger), true
	if results, err := collect(t, config); err == nil || !strings.Contains(err.Error(), "Recado's own") || len(results) > 0 {
		t.Errorf("got %v, %v", results, err)
	}
	var made bool
	if err := database.QueryRowContext(t.Context(), "SELECT to_regclass('device_keys') IS NOT NULL").Scan(&made); err != nil || made {
		t.Errorf("tables were made in the other program's database (%v)", err)
	}
}

// Nothing is imported into data that a gateway works with, nor from Recado's own database.
func TestGatewayMustBeStopped(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	for name, options := range cases.Sorted(map[string]testkit.Options{
		"SQLite": {DataDir: t.TempDir()}, "PostgreSQL": {DataDir: t.TempDir(), DatabaseURL: url},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, options)
			config := configOf(t, filledFile(t))
			config.Data = server.StoreConfig(options.DataDir, options.DatabaseURL, config.Logger)
			if results, err := collect(t, config); !errors.Is(err, movein.ErrGatewayRuns) || len(results) > 0 {
				t.Errorf("beside a gateway: %v, %v", results, err)
			}
			g.Stop()
			if options.DatabaseURL != "" {
				own := config
				own.From = options.DatabaseURL
				if _, err := collect(t, own); err == nil || !strings.Contains(err.Error(), "Recado's own") {
					t.Errorf("from the own database: %v", err)
				}
			}
			if results, err := collect(t, config); err != nil || len(results) != 3 {
				t.Errorf("after the gateway: %v, %v", results, err)
			}
		})
	}
}
