package server_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"go.mau.fi/whatsmeow/proto/waAdv"
	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/archive"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/store/nodetable"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// A gateway that moves from SQLite to PostgreSQL goes on with its sessions, without a code:
// messages go both ways, also those that were written while it was down, and the webhook
// delivers every event once.
func TestMoveToPostgreSQL(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir(), MasterKey: seal.NewKey()}
	moved := options
	moved.DatabaseURL = postgres.Start(t)
	sink := testkit.NewSink(t)
	g, shop := testkit.StartLinked(t, options)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), shop, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	received := func(messageID string) {
		t.Helper()
		sink.AwaitType("message.received", func(d testkit.Delivered) bool {
			data, err := d.Event.Decode()
			message, ok := data.(client.MessageReceivedEvent)
			return err == nil && ok && message.MessageID == messageID
		})
	}
	before := sendText(t, g, shop, "before")
	g.Phones.AwaitMessage(t, customerNumber, before.MessageID)
	received(g.Phones.SendText(t, customerNumber, shopNumber, "before, too"))
	g.Stop()

	logger := testkit.Logger(t)
	if _, err := copying.Move(t.Context(), server.StoreConfig(options.DataDir, "", logger), server.StoreConfig("", moved.DatabaseURL, logger)); err != nil {
		t.Fatal(err)
	}
	g = testkit.Start(t, moved)
	g.AwaitStatus(t, shop, gateway.StatusConnected)
	received(g.Phones.SendText(t, customerNumber, shopNumber, "after"))
	answer, err := g.Client.SendText(t.Context(), shop, client.Text{To: customerNumber, Message: "after, too", QuoteMessageID: before.ID})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, answer.MessageID); got.Text != "after, too" || got.QuotedMessageID != before.MessageID {
		t.Errorf("the answer is %+v", got)
	}
	sink.AwaitType("message.sent", func(d testkit.Delivered) bool { return idOf(d) == answer.ID })
	taken := sink.Await("no gap", func(taken []testkit.Delivered) bool {
		sequences := sequencesOf(taken)
		return int64(len(slices.Compact(sequences))) == sequences[len(sequences)-1]-sequences[0]+1
	})
	if sequences := sequencesOf(taken); len(slices.Compact(slices.Clone(sequences))) != len(sequences) {
		t.Errorf("the webhook delivered %d", sequences)
	}
}

// idOf is the id of the message that an event is about.
func idOf(d testkit.Delivered) string {
	if data, err := d.Event.Decode(); err == nil {
		if sent, ok := data.(client.MessageSentEvent); ok {
			return sent.ID
		}
	}
	return ""
}

// sequencesOf are those of the events, in order.
func sequencesOf(taken []testkit.Delivered) []int64 {
	sequences := make([]int64, len(taken))
	for i, d := range taken {
		sequences[i] = d.Event.Sequence
	}
	slices.Sort(sequences)
	return sequences
}

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

// While a start waits with its migrations for somebody who reads, its listener says so.
func TestStartThatMigratesSaysSo(t *testing.T) {
	t.Parallel()
	url, admin := postgres.Start(t), process.FreeAddress(t)
	if err := store.MigrateTo(t.Context(), server.StoreConfig("", url, testkit.Logger(t)), 20); err != nil {
		t.Fatal(err)
	}
	others, err := sql.Open("pgx", url+"&application_name=report")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = others.Close() }()
	reading, err := others.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = reading.ExecContext(t.Context(), "LOCK TABLE messages IN ACCESS SHARE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() {
		s, err := server.New(context.WithoutCancel(t.Context()), server.Config{
			Listen: "127.0.0.1:0", AdminListen: admin, DataDir: t.TempDir(), DatabaseURL: url, Version: "test", Logger: testkit.Logger(t),
		})
		if err == nil {
			err = s.Close()
		}
		started <- err
	}()
	get := func(path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+admin+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, ""
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(body)
	}
	testkit.Await(t, "/readyz to say what the start waits for", func() bool {
		status, said := get("/readyz")
		return status == http.StatusServiceUnavailable && strings.HasPrefix(said, `migrating: it waits for "report" (process `)
	})
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz answers %d", status)
	}
	if status, _ := get("/metrics"); status != http.StatusServiceUnavailable {
		t.Errorf("/metrics answers %d", status)
	}
	if err := reading.Rollback(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-started:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it did not start")
	}
	http.DefaultClient.CloseIdleConnections()
}

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

// Two processes with data folders of their own must not share a database: both would
// connect the same sessions.
func TestSecondProcessOnOneDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	testkit.Start(t, testkit.Options{DatabaseURL: url})
	second, err := server.New(t.Context(), server.Config{
		Listen: "127.0.0.1:0", DataDir: t.TempDir(), DatabaseURL: url, Version: "test", Logger: testkit.Logger(t),
	})
	if err == nil {
		_ = second.Close()
	}
	if !errors.Is(err, claim.ErrTaken) {
		t.Errorf("the second process is answered %v", err)
	}
}

// A node does not work beside one that has another secret, and says which node and which setting,
// without a value. A secret that both know while it is changed is none.
func TestNodesAgreeAboutTheSecret(t *testing.T) {
	t.Parallel()
	const old, fresh = "the secret of before", "a secret that is new"
	url, files := postgres.Start(t), "file://"+t.TempDir()
	node := func(address, secret, other string) testkit.Options {
		return testkit.Options{
			DatabaseURL: url, DataDir: t.TempDir(), MediaURL: files,
			Cluster: server.Cluster{Advertise: address, Secret: secret, OtherSecret: other},
		}
	}
	testkit.Start(t, node("http://one.example", old, fresh))
	for _, test := range []struct {
		secret, other string
		refused       bool
	}{
		{secret: old},
		{secret: old, other: fresh},
		{secret: fresh, other: old},
		{secret: fresh, refused: true},
		{secret: "a third secret of others", refused: true},
	} {
		err := testkit.StartError(t, node("http://two.example", test.secret, test.other))
		refusal, refused := errors.AsType[*nodetable.DisagreementError](err)
		switch {
		case refused != test.refused || err != nil && !refused:
			t.Errorf("a node with %q and %q ends with %v", test.secret, test.other, err)
		case !refused:
		case refusal.Setting != gateway.SettingClusterSecret || !strings.Contains(err.Error(), "(http://one.example) has another --cluster-secret") ||
			!strings.Contains(err.Error(), "?") || strings.Contains(err.Error(), old) || strings.Contains(err.Error(), test.secret):
			t.Errorf("the error is %q", err)
		}
	}
}

// Where both sides wrote to each other for the first time in the same moment, each
// had two sessions with the other, and libsignal's search spoiled one of them: from
// then on message after message was unreadable, asked for again, and late. All of
// them arrive in their order.
func TestBothSidesWriteFirst(t *testing.T) {
	t.Parallel()
	const customers, each = 4, 80
	g, id := testkit.StartLinked(t, testkit.Options{})
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{Types: []string{"message.received"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	sent := make(map[string][]string, customers)
	var mu sync.Mutex
	var group sync.WaitGroup
	for c := range customers {
		number := fmt.Sprintf("551198888%02d44", c)
		group.Go(func() {
			for n := range each {
				messageID := g.Phones.SendText(t, number, shopNumber, fmt.Sprint("customer ", n))
				mu.Lock()
				sent[number+"@s.whatsapp.net"] = append(sent[number+"@s.whatsapp.net"], messageID)
				mu.Unlock()
			}
		})
		group.Go(func() {
			for n := range each {
				if _, err := g.Client.SendText(t.Context(), id, client.Text{To: number, Message: fmt.Sprint("shop ", n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	arrived := map[string][]string{}
	for range customers * each {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		var message struct {
			MessageID string `json:"messageId"`
			Chat      string `json:"chat"`
		}
		if err := json.Unmarshal(event.Data, &message); err != nil {
			t.Fatal(err)
		}
		arrived[message.Chat] = append(arrived[message.Chat], message.MessageID)
	}
	for chat, want := range cases.Sorted(sent) {
		if got := arrived[chat]; !slices.Equal(got, want) {
			t.Errorf("in %s came\n%v, want\n%v", chat, got, want)
		}
	}
}

// How long a session has been connecting is known, whatever restarts it meanwhile, and so are the
// attempts that have failed. One that is being linked, or was stopped, is not waited for.
func TestSessionsThatDoNotComeBack(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true})
	if other, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "being linked"}); err != nil {
		t.Fatal(err)
	} else if _, err := g.Client.GetQRCode(t.Context(), other.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	if connected, longest := g.Server.Instances().Sessions(); connected != 1 || longest != 0 {
		t.Errorf("%d are connected, and one connects for %s", connected, longest)
	}
	g.Phones.Faults(t, map[string]any{"refuseLogins": true})
	g.Phones.Disconnect(t, shopNumber)
	metric := func() string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Server.AdminURL()+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }() // it was read
		page, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	testkit.Await(t, "three attempts that fail", func() bool {
		page := metric()
		return !strings.Contains(page, `recado_session_attempts_failed_total{reason="hung_up"} 0`) &&
			!strings.Contains(page, `recado_session_attempts_failed_total{reason="hung_up"} 1`+"\n") &&
			!strings.Contains(page, `recado_session_attempts_failed_total{reason="hung_up"} 2`+"\n")
	})
	connected, before := g.Server.Instances().Sessions()
	if connected != 0 || before <= 0 {
		t.Errorf("%d are connected, and one connects for %s", connected, before)
	}
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, after := g.Server.Instances().Sessions(); after < before {
		t.Errorf("after a restart it connects for %s, and before for %s", after, before)
	}
	stop(t, g, id)
	if _, longest := g.Server.Instances().Sessions(); longest != 0 {
		t.Errorf("it is stopped, and connects for %s", longest)
	}
	g.Phones.Faults(t, map[string]any{})
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, gateway.StatusConnected)
	testkit.Await(t, "nobody connects", func() bool {
		connected, longest := g.Server.Instances().Sessions()
		return connected == 1 && longest == time.Duration(0)
	})
}
