package server_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A thief of the data of a gateway with a master key can link nothing with it: no key of
// a device can be read in the files, and no gateway starts on them. The gateway itself goes
// on with the sessions that were linked before it had that key.
func TestStolenDataLinkNothing(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir(), MasterKey: seal.NewKey()}
	plain := options
	plain.MasterKey = nil
	g, shop := testkit.StartLinked(t, plain)
	converse := func() {
		t.Helper()
		g.AwaitStatus(t, shop, gateway.StatusConnected)
		g.Phones.AwaitMessage(t, customerNumber, sendText(t, g, shop, "hello").MessageID)
		awaitMessage(t, g, shop, g.Phones.SendText(t, customerNumber, shopNumber, "hello, too"))
	}
	converse()
	g.Stop()

	file := filepath.Join(options.DataDir, "recado.db")
	values := deviceKeyValues(t, file)
	if !canRead(t, file, values) {
		t.Fatal("without a master key, the keys of the device are not in the file")
	}
	g = testkit.Start(t, options)
	converse()
	testkit.Await(t, "nothing that can be read", func() bool { return !canRead(t, file, values) })
	g.Stop()
	if canRead(t, file, values) {
		t.Error("keys of the device can be read in the file")
	}

	stolen := t.TempDir()
	if err := os.CopyFS(stolen, os.DirFS(options.DataDir)); err != nil {
		t.Fatal(err)
	}
	for name, key := range cases.Sorted(map[string]*seal.Key{"no key": nil, "another key": seal.NewKey()}) {
		config := server.StoreConfig(stolen, "", slog.New(slog.DiscardHandler))
		config.Master = key
		if s, err := store.Open(t.Context(), config); err == nil {
			t.Errorf("the stolen data are opened with %s", name)
			_ = s.Close()
		}
	}
	g = testkit.Start(t, options)
	converse()
}

// deviceKeyValues returns what the database has of the keys of devices.
func deviceKeyValues(t *testing.T, file string) (values [][]byte) {
	t.Helper()
	db, err := sqlite.OpenPool(t.Context(), file, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), "SELECT value FROM device_keys WHERE length(value) >= 16")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	if err := rows.Err(); err != nil || len(values) == 0 {
		t.Fatalf("found %d keys (%v)", len(values), err)
	}
	return values
}

// canRead reports whether one of the values is in the bytes of the database.
func canRead(t *testing.T, file string, values [][]byte) bool {
	t.Helper()
	files, err := filepath.Glob(file + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			if bytes.Contains(content, value) {
				return true
			}
		}
	}
	return false
}
