package server_test

import (
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/archive"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// A gateway that goes on from a backup talks to everybody again, although its conversations
// went on for many messages after the backup: in both directions, alone and in a group, each
// message is read, and shown once. No key that the device had is used again.
func TestRestoredDevicesConverse(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		restores(t, testkit.Options{MasterKey: seal.NewKey()}, testkit.Options{})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		restores(t, testkit.Options{DatabaseURL: postgres.Start(t)}, testkit.Options{DatabaseURL: postgres.Start(t)})
	})
	t.Run("from SQLite to PostgreSQL", func(t *testing.T) {
		t.Parallel()
		restores(t, testkit.Options{}, testkit.Options{DatabaseURL: postgres.Start(t)})
	})
}

func restores(t *testing.T, before, after testkit.Options) {
	t.Helper()
	before.DataDir, after.DataDir, after.MasterKey = t.TempDir(), t.TempDir(), before.MasterKey
	g, shop := testkit.StartLinked(t, before)
	group := g.Phones.CreateGroup(t, "Padaria", customerNumber, shopNumber, memberNumber)
	texts := 0
	says := func(from, to string) {
		t.Helper()
		text := fmt.Sprintf("from a phone: %d", texts)
		if got := awaitMessage(t, g, shop, g.Phones.SendText(t, from, to, text)); got.Text != text {
			t.Errorf("%q came as %q", text, got.Text)
		}
	}
	hears := func(to, phone string) {
		t.Helper()
		text := fmt.Sprintf("to a phone: %d", texts)
		sent, err := g.Client.SendText(t.Context(), shop, client.Text{To: to, Message: text})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "a text that can be read", func() bool {
			return g.Phones.AwaitMessage(t, phone, sent.MessageID).Text == text
		})
	}
	// With one person the phone begins, with the other one the gateway; in the group both.
	converse := func(rounds int) {
		t.Helper()
		for range rounds {
			texts++
			says(customerNumber, shopNumber)
			hears(customerNumber, customerNumber)
			hears(memberNumber, memberNumber)
			says(memberNumber, shopNumber)
			hears(group.ID, memberNumber)
			says(customerNumber, group.ID)
			says(memberNumber, group.ID)
		}
	}
	converse(2)
	file := filepath.Join(t.TempDir(), "backup.tar.gz")
	config := archive.Config{
		Data: server.StoreConfig(before.DataDir, before.DatabaseURL, slog.New(slog.DiscardHandler)), Folder: before.DataDir, Program: "test", Now: time.Now,
	}
	if _, err := archive.Write(t.Context(), config, file); err != nil {
		t.Fatal(err)
	}
	converse(10)
	g.Stop()

	to := server.StoreConfig(after.DataDir, after.DatabaseURL, slog.New(slog.DiscardHandler))
	if _, err := archive.Restore(t.Context(), file, to, after.DataDir, nil, nil); err != nil {
		t.Fatal(err)
	}
	beginsAnew(t, to)
	platform, err := filepath.Glob(filepath.Join(before.DataDir, "sandbox.db*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range platform {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(after.DataDir, filepath.Base(name)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g = testkit.Start(t, after)
	g.AwaitStatus(t, shop, gateway.StatusConnected)
	converse(3)
	shown := map[string]int{}
	for _, message := range append(g.Phones.Messages(t, customerNumber, ""), g.Phones.Messages(t, memberNumber, shopNumber)...) {
		shown[message.MessageID]++
		if message.Text == "" {
			t.Errorf("the phone can't read %+v", message)
		}
	}
	for id, times := range cases.Sorted(shown) {
		if times != 1 {
			t.Errorf("the message %s is shown %d times", id, times)
		}
	}
	g.Stop()
	if before.DatabaseURL == "" && after.DatabaseURL == "" {
		noKeyTwice(t, before.DataDir, after.DataDir)
	}
}

// beginsAnew fails the test unless the restored device has its identity, and nothing that it
// may have used since the backup.
func beginsAnew(t *testing.T, config store.Config) {
	t.Helper()
	source, err := copying.OpenSource(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close(t.Context()) }()
	kinds := map[string]int{}
	for row, err := range source.Rows(t.Context(), "device_keys", []copying.Column{{Name: "kind", Kind: copying.Text}}) {
		if err != nil {
			t.Fatal(err)
		}
		kinds[row[0].(string)]++
	}
	if kinds["device"] != 1 || kinds["identity"] == 0 || kinds["session"]+kinds["sender key"]+kinds["prekey"] > 0 {
		t.Errorf("the restored device has %v", kinds)
	}
}

// noKeyTwice fails the test if a one-time key of the one gateway is one of the other.
func noKeyTwice(t *testing.T, folders ...string) {
	t.Helper()
	seen := map[string]bool{}
	for _, folder := range folders {
		db, err := sqlite.OpenPool(t.Context(), filepath.Join(folder, "recado.db"), 1)
		if err != nil {
			t.Fatal(err)
		}
		names := namesOf(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if len(names) < 20 {
			t.Errorf("there are only %d one-time keys", len(names))
		}
		for _, name := range names {
			if seen[name] {
				t.Errorf("the one-time key %s is there twice", name)
			}
			seen[name] = true
		}
	}
}

func namesOf(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT name FROM device_keys WHERE kind = 'prekey'")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.Clone(name))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}
