package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// needle stands in everything that people have written, and needleName in what they are called.
const (
	needle     = "vermilion"
	needleName = "Marina Oliveira"
)

// with returns the lines that have all of the words.
func (l *lockedLog) with(words ...string) (found []string) {
	for line := range strings.Lines(l.String()) {
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(line, word)
		}
		if !missing {
			found = append(found, line)
		}
	}
	return found
}

// one returns the only line that has all of the words.
func (l *lockedLog) one(t *testing.T, words ...string) string {
	t.Helper()
	found := l.with(words...)
	if len(found) != 1 {
		t.Fatalf("%d lines have %q, want one: %q", len(found), words, found)
	}
	return found[0]
}

// wantNoNeedle fails if the log has what people have written, or are called, or their numbers.
func (l *lockedLog) wantNoNeedle(t *testing.T, more ...string) {
	t.Helper()
	for _, secret := range append([]string{needle, needleName, shopNumber, customerNumber}, more...) {
		for _, line := range l.with(secret) {
			t.Errorf("the log has %q: %s", secret, line)
		}
	}
}

// What comes in and goes out in many ways, losses of the connection and refusals: the log names the
// instance, the message and the code, and nobody. That also lines of the finest level do is held by
// the logger of testkit.
func TestLogOfARunNamesNobody(t *testing.T) {
	t.Parallel()
	var log lockedLog
	g, id := testkit.StartLinked(t, testkit.Options{Log: &log})
	g.Phones.Update(t, customerNumber, map[string]any{"name": needleName})
	g.Phones.NameContact(t, shopNumber, customerNumber, needleName)
	lids := []string{strings.SplitN(g.Phones.Get(t, shopNumber).LID, "@", 2)[0], strings.SplitN(g.Phones.Get(t, customerNumber).LID, "@", 2)[0]}
	group := g.Phones.CreateGroup(t, needle+" group", customerNumber, shopNumber).ID
	endpoint := testkit.NewSink(t)
	endpoint.Answer(func(testkit.Delivered) int { return http.StatusInternalServerError })
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: endpoint.URL + "/" + needle + "?token=" + needle}); err != nil {
		t.Fatal(err)
	}

	asked := g.Phones.SendText(t, customerNumber, shopNumber, "about "+needle)
	awaitMessage(t, g, id, asked)
	awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, group, needle))
	g.Phones.Edit(t, customerNumber, asked, needle+" again")
	sent := sendText(t, g, id, needle)
	g.Phones.React(t, customerNumber, sent.MessageID, "👍")
	later := leave(t, g, id, client.Text{To: customerNumber, Message: needle})
	awaitLeft(t, g, id, later)
	if _, err := g.Client.SendPoll(t.Context(), id, client.Poll{To: customerNumber, Question: needle, Options: []string{needle + " 1", needle + " 2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.MessageID, Message: needle + " edited"}); err != nil {
		t.Fatal(err)
	}
	g.Phones.EndCall(t, customerNumber, g.Phones.Call(t, customerNumber, shopNumber, false), "hangup")
	_, err := g.Client.SendText(t.Context(), id, client.Text{To: "5511000000000", Message: needle})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeNotRegistered)
	_, err = client.New(g.BaseURL, "not a key").GetInstance(t.Context(), id)
	testkit.Refused(t, err, http.StatusUnauthorized, gateway.CodeUnauthorized)
	cut(t, g, id)
	g.Phones.Faults(t, map[string]any{"sendError": 463})
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: needle})
	testkit.Refused(t, err, http.StatusTooManyRequests, gateway.CodeRecipientRestricted)
	g.Phones.Faults(t, map[string]any{})
	g.Phones.Do(t, shopNumber, "unlink")
	g.AwaitStatus(t, id, gateway.StatusStopped)
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: needle})
	testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected)
	testkit.Await(t, "the line about the endpoint", func() bool { return len(log.with("the endpoint of a webhook fails")) > 0 })
	g.Stop()

	log.wantNoNeedle(t, lids...)
	about := []string{"msg=request", "instance_id=" + id, "/text"}
	for _, accepted := range []client.Sent{sent, later} {
		log.one(t, append(about, "message_id="+accepted.ID, "platform_id="+accepted.MessageID)...)
	}
	log.one(t, "msg=request", "status=401", "code="+gateway.CodeUnauthorized, "client=127.0.0.1")
	log.one(t, append(about, "status=429", "code="+gateway.CodeRecipientRestricted, "client=127.0.0.1")...)
	log.one(t, append(about, "status=409", "code="+gateway.CodeNotConnected)...)
	if line := log.one(t, append(about, "code="+gateway.CodeNotRegistered)...); strings.Contains(line, "client=") {
		t.Errorf("the address is in a line about a mistake: %s", line)
	}
	for _, line := range log.with("level=ERROR") {
		t.Errorf("nothing is wrong, and the log says %s", line)
	}
}

// The library writes whole nodes when one takes long to handle, which happens with every message while
// the database is slow. It has no setting for how long that is.
func TestSlowDatabaseShowsNobodyInTheLog(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), postgres.Start(t)
	var log lockedLog
	g, id := testkit.StartLinked(t, testkit.Options{Log: &log, DatabaseURL: url})
	g.Phones.Update(t, customerNumber, map[string]any{"name": needleName})
	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
	if _, err := other.Exec(ctx, "BEGIN; LOCK TABLE messages IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	message := g.Phones.SendText(t, customerNumber, shopNumber, needle)
	testkit.Await(t, "the message waits for the table", func() bool {
		var waits bool
		err := other.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'messages'::regclass AND NOT granted)").Scan(&waits)
		return err == nil && waits
	})
	if _, err := other.Exec(ctx, "SELECT pg_sleep(5.2)"); err != nil { // the library names what takes longer than 5 s
		t.Fatal(err)
	}
	if _, err := other.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	awaitMessage(t, g, id, message)
	testkit.Await(t, "the library's line", func() bool { return len(log.with("Node handling took")) > 0 })
	g.Stop()
	log.one(t, "level=WARN", "Node handling took", "message "+message, "instance_id="+id)
	log.wantNoNeedle(t)
}

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

// Programs find an instance by the name that they have given it, and no other instance of the account has it.
func TestInstancesHaveExternalNames(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	made := map[string]client.Instance{}
	for _, name := range []string{"Loja 17 – São José", "loja 17 – São José", ""} {
		var err error
		if made[name], err = g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop", ExternalName: name}); err != nil || made[name].ExternalName != name {
			t.Fatalf("made %+v (%v)", made[name], err)
		}
	}
	const name = "Loja 17 – São José"
	key, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "other", InstanceIDs: []string{made[""].InstanceID}})
	if err != nil {
		t.Fatal(err)
	}
	found := func(c *client.Client, name string, page int) (ids []string) {
		t.Helper()
		listed, err := c.ListInstances(t.Context(), client.ListInstancesParams{ExternalName: name}, page, 1)
		if err != nil || listed.TotalCount > 1 {
			t.Fatalf("%q: %+v (%v)", name, listed, err)
		}
		for _, one := range listed.Data {
			ids = append(ids, one.InstanceID)
		}
		return ids
	}
	if ids := found(g.Client, name, 1); !slices.Equal(ids, []string{made[name].InstanceID}) {
		t.Errorf("found %v, want %s", ids, made[name].InstanceID)
	}
	for what, ids := range cases.Sorted(map[string][]string{
		"on the second page": found(g.Client, name, 2), "an unknown name": found(g.Client, "Loja 17", 1),
		"beyond the scope of the key": found(client.New(g.BaseURL, key.Key), name, 1),
	}) {
		if len(ids) > 0 {
			t.Errorf("%s: found %v", what, ids)
		}
	}
	_, err = g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop", ExternalName: name})
	testkit.Refused(t, err, http.StatusConflict, client.CodeExternalNameTaken)
	_, err = g.Client.ChangeInstance(t.Context(), made[""].InstanceID, client.InstanceChange{Name: new("other"), ExternalName: client.Set(name)})
	testkit.Refused(t, err, http.StatusConflict, client.CodeExternalNameTaken)
	if still := g.Instance(t, made[""].InstanceID); still != made[""] {
		t.Errorf("after the refusal it is %+v, want %+v", still, made[""])
	}
	if changed, err := g.Client.ChangeInstance(t.Context(), made[name].InstanceID, client.InstanceChange{ExternalName: client.Null[string]()}); err != nil || changed.ExternalName != "" {
		t.Errorf("removed: %+v (%v)", changed, err)
	}
	if changed, err := g.Client.ChangeInstance(t.Context(), made[""].InstanceID, client.InstanceChange{ExternalName: client.Set(name)}); err != nil || changed.ExternalName != name {
		t.Errorf("given to another: %+v (%v)", changed, err)
	}
}

// Who moves in from another gateway keeps the key that the programs have.
func TestAPIKeyOfOnesOwnChoosing(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	const own = "B6D711FC-DE4D-4FD5-9365-44120E713976"
	made, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "moved", Value: own})
	if err != nil || made.Key != own {
		t.Fatalf("made %+v (%v)", made, err)
	}
	with := client.New(g.BaseURL, own)
	if _, err := with.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0); err != nil {
		t.Error(err)
	}
	if err := g.Partner.RevokeAPIKey(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = with.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0)
	testkit.Refused(t, err, http.StatusUnauthorized, client.CodeUnauthorized)
	_, err = g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "again", Value: own}) // what was revoked stays so
	testkit.Refused(t, err, http.StatusConflict, client.CodeKeyValueTaken)
	for _, unfit := range []string{"fifteen-letters", strings.Repeat("a", 256), "with blanks in between", "não-é-ascii-visível", "rcd_with-a-wrong-checksum"} {
		_, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "unfit", Value: unfit})
		testkit.Refused(t, err, http.StatusBadRequest, client.CodeValidationError)
	}
}

// An instance that is requested by its id is the same as in the list, however many
// there are.
func TestClientFindsInstances(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	for range 101 {
		if _, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	var last client.Instance
	for instance, err := range g.Client.Instances(t.Context(), client.ListInstancesParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		last = instance
		count++
	}
	if count != 101 {
		t.Errorf("%d instances are listed", count)
	}
	got, err := g.Client.GetInstance(t.Context(), last.InstanceID)
	if err != nil || got != last {
		t.Errorf("got %+v (%v), want %+v", got, err, last)
	}
	_, err = g.Client.GetInstance(t.Context(), "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11")
	testkit.Refused(t, err, http.StatusNotFound, client.CodeInstanceNotFound)
}

// The list of deliveries has the state of the delivery and its reason.
func TestDeliveryState(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, otherNumber)
	sink := testkit.NewSink(t)
	var hookID string
	save := func(active bool) {
		t.Helper()
		saved, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL, IsActive: &active})
		if err != nil {
			t.Fatal(err)
		}
		hookID = saved.ID
	}
	await := func(states ...string) client.DeliveryState {
		t.Helper()
		var state client.DeliveryState
		testkit.Await(t, "the delivery to be "+states[0], func() bool {
			page, err := g.Client.ListWebhookDeliveries(t.Context(), id, hookID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			state = page.Delivery
			return slices.Contains(states, state.State)
		})
		return state
	}
	save(true)
	if state := await(client.StateFlowing); state.Since != nil || state.Until != nil || state.PendingEvents != 0 {
		t.Errorf("it flows: %+v", state)
	}
	sink.Answer(func(testkit.Delivered) int { return http.StatusGone })
	g.Phones.SendText(t, customerNumber, otherNumber, "Alguém aí?")
	if state := await(client.StateSuspended); state.Since == nil || state.Reason == nil || state.PendingEvents == 0 || state.OldestPendingAt == nil {
		t.Errorf("it is suspended: %+v", state)
	}
	save(false)
	await(client.StateInactive)
}

// Who holds a phone of the sandbox is shown the codes that wait to be scanned, and no
// longer than they can be.
func TestShownCodesAreThoseOfInstancesThatAreLinked(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	codes := func() (names []string, pairing, number string) {
		t.Helper()
		shown, err := g.Server.Instances().ShownCodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range shown {
			names = append(names, code.Instance.Name)
			pairing, number = code.Pairing.Code, code.Number
		}
		return names, pairing, number
	}
	idle, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "idle"})
	if err != nil {
		t.Fatal(err)
	}
	shop, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if names, _, _ := codes(); len(names) != 0 {
		t.Errorf("nobody asked for a code, but shown are those of %v", names)
	}
	if _, err := g.Client.GetQRCode(t.Context(), shop.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	if names, pairing, _ := codes(); len(names) != 1 || names[0] != "shop" || pairing != "" {
		t.Errorf("shown are the codes of %v, with the pairing code %q", names, pairing)
	}
	asked, err := g.Client.GetPairingCode(t.Context(), shop.InstanceID, client.NewPairingCode{Phone: shopNumber})
	if err != nil {
		t.Fatal(err)
	}
	if _, pairing, number := codes(); pairing == "" || pairing != asked.PairingCode || number != shopNumber {
		t.Errorf("shown is the pairing code %q for %s, want %q", pairing, number, asked.PairingCode)
	}
	g.Scan(t, shop.InstanceID, shopNumber)
	if names, _, _ := codes(); len(names) != 0 {
		t.Errorf("all is linked, but shown are the codes of %v", names)
	}
	if g.Instance(t, idle.InstanceID).Status != string(gateway.StatusCreated) {
		t.Error("the list of codes has started a linking")
	}
}
