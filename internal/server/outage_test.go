package server_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/whatsapp"
)

// alarm is a log that notices a line with the text.
type alarm struct {
	text []byte
	seen atomic.Bool
}

func newAlarm(text string) *alarm { return &alarm{text: []byte(text)} }

func (a *alarm) Write(line []byte) (int, error) {
	if bytes.Contains(line, a.text) {
		a.seen.Store(true)
	}
	return len(line), nil
}

func (a *alarm) rang() bool { return a.seen.Load() }

// A status that changes while the database is away is stored and reported when it is back.
func TestStatusOutlivesAnOutageOfTheDatabase(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		action string // on the phone
		status gateway.Status
		reason string
	}{
		"unlinked": {"unlink", gateway.StatusStopped, "unlinked_on_phone"},
		"banned":   {"ban", gateway.StatusError, "banned"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed, url := newAlarm("instance status not written"), postgres.Start(t)
			g, id := testkit.StartLinked(t, testkit.Options{DatabaseURL: url, Log: failed})
			end := postgres.Outage(t, url)
			g.Phones.Do(t, shopNumber, c.action)
			testkit.Await(t, "a write that fails", failed.rang)
			end()
			testkit.Await(t, "status "+string(c.status), func() bool {
				page, err := g.Client.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0) // the first after an outage may still fail
				return err == nil && page.Data[0].Status == string(c.status)
			})
			testkit.Await(t, "the event", func() bool { return reportsReason(t, g, id, c.reason) })
		})
	}
}

// reportsReason reports whether the stream of an instance's events has a status
// with that reason; false where the stream breaks before.
func reportsReason(t *testing.T, g *testkit.Gateway, id, reason string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := g.Client.Events(ctx, id, client.EventsParams{After: new(int64(0)), Types: []string{"instance.status"}})
	if err != nil {
		return false
	}
	defer func() { _ = stream.Close() }()
	for {
		event, err := stream.Next()
		if err != nil {
			return false
		}
		var data struct {
			Reason string `json:"reason"`
		}
		if err := json.Unmarshal(event.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.Reason == reason {
			return true
		}
	}
}

// While the database is away, clients are told to come back: nothing was done.
func TestRequestsWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	g, id := testkit.StartLinked(t, testkit.Options{DatabaseURL: url})
	end := postgres.Outage(t, url)
	text := client.Text{To: customerNumber, Message: "Oi!"}
	for range 20 { // more than there are connections
		_, err := g.Client.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0)
		refusedForNow(t, err)
		_, err = g.Client.SendText(t.Context(), id, text)
		refusedForNow(t, err)
		_, err = g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "another"})
		refusedForNow(t, err)
	}
	end()
	var sent client.Sent
	testkit.Await(t, "a send when it is back", func() bool {
		var err error
		sent, err = g.Client.SendText(t.Context(), id, text)
		return err == nil
	})
	g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if kept := g.Phones.Messages(t, customerNumber, ""); len(kept) != 1 {
		t.Errorf("the phone has %d messages, want 1: those that were refused must not be sent", len(kept))
	}
}

// refusedForNow fails the test unless err says that a repeat is without harm, and when.
func refusedForNow(t *testing.T, err error) {
	t.Helper()
	testkit.Refused(t, err, http.StatusServiceUnavailable, gateway.CodeUnavailable)
	if refusal, _ := errors.AsType[*client.Error](err); refusal.RetryAfter <= 0 {
		t.Error("the answer does not say when to try again")
	}
}

// A message that the platform has is not answered as if a repeat did no harm, even if the
// database goes away when it is to be written that the platform has it; but under a key it does none.
func TestDatabaseGoesAwayAfterASend(t *testing.T) {
	t.Parallel()
	url := postgres.Start(t)
	g, id := testkit.StartLinked(t, testkit.Options{DatabaseURL: url})
	postgres.Load(t, url, `
		CREATE FUNCTION away() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); RETURN NEW; END $$;
		CREATE TRIGGER away BEFORE UPDATE OF status ON messages FOR EACH ROW WHEN (NEW.status = 2) EXECUTE FUNCTION away()`)
	text := client.Text{To: customerNumber, Message: "Oi!"}
	_, err := g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusGatewayTimeout, gateway.CodePlatformTimeout) // it may have been done
	text.IdempotencyKey = "once"
	_, err = g.Client.SendText(t.Context(), id, text)
	refusedForNow(t, err)
	postgres.Load(t, url, "DROP FUNCTION away CASCADE")
	testkit.Await(t, "the answer to a repeat", func() bool {
		_, err := g.Client.SendText(t.Context(), id, text)
		return err == nil
	})
	testkit.Await(t, "the second message", func() bool { return len(g.Phones.Messages(t, customerNumber, "")) > 1 })
	if kept := g.Phones.Messages(t, customerNumber, ""); len(kept) != 2 {
		t.Errorf("the phone has %d messages, want 2", len(kept))
	}
}

// A database that is away for a moment does not make the program unready, so that no balancer takes all nodes
// out at once: requests are answered 503, with when to come back. One that stays away does, until it takes a
// write again.
func TestReadinessFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		patience time.Duration
		ready    bool // while it is away
	}{"for a moment": {time.Hour, true}, "for long": {time.Millisecond, false}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := postgres.Start(t)
			g, id := testkit.StartLinked(t, testkit.Options{DatabaseURL: url, Admin: true, DatabasePatience: c.patience})
			isReady := func() bool {
				response, err := http.Get(g.Server.AdminURL() + "/readyz")
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				return response.StatusCode == http.StatusOK
			}
			if !isReady() || measured(t, g, "recado_ready") != 1 {
				t.Fatal("it is not ready to begin with")
			}
			end := postgres.Outage(t, url)
			_, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "Oi!"})
			refusedForNow(t, err)
			for range 3 { // the first finds out
				if c.ready && (!isReady() || measured(t, g, "recado_ready") != 1) {
					t.Error("it is not ready because the database is away for a moment")
				}
			}
			if !c.ready {
				testkit.Await(t, "it to be no longer ready", func() bool { return !isReady() && measured(t, g, "recado_ready") == 0 })
			}
			end()
			testkit.Await(t, "it to be ready again", func() bool {
				return isReady() && measured(t, g, "recado_ready") == 1 && measured(t, g, "recado_database_up") == 1
			})
		})
	}
}

// What can't be read any more in the database is shown as that, and takes nothing along: not its
// chat, not its list, not what is delivered after it.
func TestDamageTakesNothingAlong(t *testing.T) {
	t.Parallel()
	for name, url := range cases.Sorted(map[string]func(testing.TB) string{
		"SQLite":     func(testing.TB) string { return "" },
		"PostgreSQL": postgres.Start,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testDamage(t, testkit.Options{DataDir: t.TempDir(), DatabaseURL: url(t)})
		})
	}
}

func testDamage(t *testing.T, options testkit.Options) {
	t.Helper()
	ctx := t.Context()
	g := testkit.Start(t, options)
	id := g.Link(t, shopNumber)
	text := func(words string) string {
		return awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, words)).ID
	}
	before, damaged, after := text("before the apple"), text("the apple"), text("after the apple")
	picture := awaitMessage(t, g, id, g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "image", "media": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "mimeType": "image/png", "caption": "a picture",
	})).ID
	poll := awaitMessage(t, g, id, g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "poll", "text": "When?", "options": []string{"today", "tomorrow"}, "maxAnswers": 1,
	}))
	endpoint := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(ctx, id, client.NewWebhookConfig{WebhookURL: endpoint.URL}); err != nil {
		t.Fatal(err)
	}
	broken := testkit.NewSink(t)
	second, err := g.Client.CreateWebhook(ctx, id, client.NewWebhook{URL: broken.URL, Headers: map[string]string{"X-Token": "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	restricted, err := g.Partner.CreateAPIKey(ctx, client.NewKey{Name: "restricted", InstanceIDs: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	g.Stop()

	half := []byte(`{"half":`)
	damage(t, options, map[string]string{
		"UPDATE webhooks SET headers = $1 WHERE id = $2":      second.ID,
		"UPDATE api_keys SET instance_ids = $1 WHERE id = $2": restricted.ID,
	}, string(half))
	damage(t, options, map[string]string{
		"UPDATE messages SET payload = $1 WHERE id = $2": damaged,
	}, []byte{0x0a, 0xff, 0xff})
	damage(t, options, map[string]string{
		"UPDATE messages SET payload = $1 WHERE id = $2": picture,
	}, []byte{0x1a, 0xff})
	damage(t, options, map[string]string{
		"UPDATE messages SET payload = $1 WHERE id = $2": poll.ID,
	}, []byte{0xff})
	damage(t, options, map[string]string{
		"UPDATE events SET data = $1 WHERE instance_id = $2 AND sequence = 3": id,
	}, half)

	g = testkit.Start(t, options)
	g.AwaitStatus(t, id, "connected")
	messages, err := g.Client.ListChatMessages(ctx, id, customerNumber+"@s.whatsapp.net", client.ListChatMessagesParams{}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]client.StoredMessage{}
	for _, message := range messages.Data {
		found[message.ID] = message
	}
	for _, one := range []string{before, damaged, after, picture, poll.ID} {
		if _, ok := found[one]; !ok {
			t.Errorf("the list lacks %s", one)
		}
	}
	if is := found[damaged]; is.Unsupported == nil || *is.Unsupported != "damaged" || is.Type != "text" || is.Text == nil || *is.Text != "the apple" {
		t.Errorf("the damaged one is %+v", is)
	}
	if is := found[before]; is.Unsupported != nil {
		t.Errorf("its neighbour is %+v", is)
	}
	for what, ask := range cases.Sorted(map[string]func(context.Context) error{
		"list of chats": func(ctx context.Context) error {
			_, err := g.Client.ListChats(ctx, id, client.ListChatsParams{}, 0, 0)
			return err
		},
		"search": func(ctx context.Context) error {
			page, err := g.Client.ListChatMessages(ctx, id, customerNumber+"@s.whatsapp.net", client.ListChatMessagesParams{Search: "apple"}, 0, 0)
			if len(page.Data) != 3 {
				t.Errorf("the search finds %d", len(page.Data))
			}
			return err
		},
		"list of webhooks": func(ctx context.Context) error {
			page, err := g.Client.ListWebhooks(ctx, id, 0, 0)
			if len(page.Data) != 2 {
				t.Errorf("there are %d webhooks", len(page.Data))
			}
			return err
		},
		"list of keys": func(ctx context.Context) error { _, err := g.Partner.ListAPIKeys(ctx, 0, 0); return err },
		"a message":    func(ctx context.Context) error { _, err := g.Client.GetMessage(ctx, id, damaged); return err },
		"vote":         func(context.Context) error { g.Phones.Vote(t, customerNumber, poll.PlatformID, "today"); return nil },
		"a text after it": func(ctx context.Context) error {
			_, err := g.Client.SendText(ctx, id, client.Text{To: customerNumber, Message: "hello"})
			return err
		},
	}) {
		if err := ask(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, ask := range cases.Sorted(map[string]func() error{
		"forward": func() error {
			_, err := g.Client.ForwardMessage(ctx, id, client.Forward{To: customerNumber, MessageID: damaged})
			return err
		},
		"download": func() error { _, err := g.Client.GetMediaDownloadLink(ctx, id, picture); return err },
	}) {
		if err := ask(); codeOf(err) != "MESSAGE_NOT_FOUND" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := client.New(g.BaseURL, restricted.Key).GetInstance(ctx, id); codeOf(err) == "" {
		t.Errorf("a key whose instances can't be read any more: %v", err)
	}
	testkit.Await(t, "all events", func() bool {
		for _, delivered := range endpoint.Delivered() {
			if strings.Contains(string(delivered.Body), "hello") {
				return true
			}
		}
		return false
	})
	if taken := broken.Delivered(); len(taken) > 0 {
		for _, one := range taken {
			if strings.Contains(string(one.Body), "hello") {
				t.Error("a webhook whose headers can't be read was delivered to")
			}
		}
	}
}

// damage writes a value into rows of a gateway's database that is stopped: a statement for each, by
// the value of its second argument.
func damage(t *testing.T, options testkit.Options, statements map[string]string, value any) {
	t.Helper()
	var db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		Close() error
	}
	var err error
	if options.DatabaseURL != "" {
		db, err = sql.Open("pgx", options.DatabaseURL)
	} else {
		db, err = sqlite.OpenPool(t.Context(), filepath.Join(options.DataDir, "recado.db"), 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for statement, id := range cases.Sorted(statements) {
		result, err := db.ExecContext(t.Context(), statement, value, id)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := result.RowsAffected(); err != nil || changed != 1 {
			t.Fatalf("%s: %d rows, %v", statement, changed, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// From the moment at which the program is told to stop, nothing is begun that was not begun, and
// everything is answered: a send that waits for its turn is refused at once, with the word that nothing was
// done, one that the platform has is answered, and a body that is still being sent is given up.
func TestStopAnswersEveryRequest(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	text := client.Text{To: customerNumber, Message: "Oi!"}
	if _, err := g.Client.SendText(t.Context(), id, text); err != nil {
		t.Fatal(err)
	}
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 3000})
	const sends = 8
	outcomes := make(chan error, sends+1)
	var asking sync.WaitGroup
	from, to := io.Pipe()
	asking.Go(func() {
		// The client of the tests reads a body before it sends it.
		_, err := g.Client.WithHTTPClient(http.DefaultClient).SendImage(t.Context(), id, client.Image{To: customerNumber, File: &client.File{Content: from}})
		_ = from.Close()
		outcomes <- err
	})
	// More than the buffers on the way hold: the gateway has begun to read it. That takes a while on a busy
	// machine, so the sends, of which some have to wait still when it stops, begin after it.
	if _, err := to.Write([]byte(strings.Repeat("a", 16<<20))); err != nil {
		t.Fatal(err)
	}
	for range sends {
		asking.Go(func() {
			_, err := g.Client.SendText(t.Context(), id, text)
			outcomes <- err
		})
	}
	testkit.Await(t, "a send that the platform has", func() bool { return len(g.Phones.Messages(t, customerNumber, "")) >= 2 })
	g.Stop()
	_ = to.Close()
	asking.Wait()
	close(outcomes)
	answered, refused := 0, 0
	for err := range outcomes {
		refusal, known := errors.AsType[*client.Error](err)
		switch {
		case err == nil:
			answered++
		case known && refusal.StatusCode == http.StatusServiceUnavailable && refusal.Code == gateway.CodeUnavailable && refusal.RetryAfter > 0:
			refused++
		default:
			t.Errorf("a request ended with %v", err)
		}
	}
	if answered == 0 || refused < sends/2 {
		t.Errorf("%d were answered, %d refused", answered, refused)
	}
}

// A send that the platform does not acknowledge in time is answered before the program ends: it may have
// been done.
func TestStopWaitsForThePlatformOnlySoLong(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{LastAnswer: 50 * time.Millisecond})
	text := client.Text{To: customerNumber, Message: "Oi!"}
	if _, err := g.Client.SendText(t.Context(), id, text); err != nil {
		t.Fatal(err)
	}
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 25_000})
	outcome := make(chan error, 1)
	go func() {
		_, err := g.Client.SendText(t.Context(), id, text)
		outcome <- err
	}()
	testkit.Await(t, "a send that the platform has", func() bool { return len(g.Phones.Messages(t, customerNumber, "")) == 2 })
	g.Stop()
	testkit.Refused(t, <-outcome, http.StatusGatewayTimeout, gateway.CodePlatformTimeout)
}

const (
	// warmUp is for what is made once: pools, prepared statements, buffers.
	warmUp = 50
	// heapSlack is the noise of a heap that is measured after a collection, slack
	// that of pools which grow to their bound when two things happen at once. One
	// of anything left behind by each cut would be twice as much, and fifty times in
	// the long run.
	heapSlack = 2 << 20
	slack     = 20
)

// A connection that is lost and made anew many times, a thousand in the long run,
// leaves nothing behind: no goroutine, no database connection or socket, no memory.
//
//nolint:paralleltest // it counts what the whole process has
func TestCutsLeaveNothingBehind(t *testing.T) {
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{
		ReconnectMin: time.Millisecond, ReconnectMax: time.Millisecond,
	}})
	id := g.Link(t, shopNumber)
	sendText(t, g, id, "before")
	for range warmUp {
		cut(t, g, id)
	}
	before := measure(t)
	for range amount.Of(40, 1000) {
		cut(t, g, id)
	}
	var after usage
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("before %+v, after %+v", before, after)
		}
	})
	testkit.Await(t, "goroutines and files to end", func() bool {
		after = measure(t)
		return after.goroutines <= before.goroutines+slack && after.files <= before.files+slack
	})
	t.Logf("before %+v, after %+v", before, after)
	if after.heap > before.heap+heapSlack {
		t.Errorf("the heap grew from %d to %d bytes", before.heap, after.heap)
	}
	sendText(t, g, id, "after")
}

// cut cuts the connection and waits until the session is back.
func cut(t *testing.T, g *testkit.Gateway, id string) {
	t.Helper()
	get := func() gateway.Instance {
		instance, err := g.Server.Instances().Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return instance
	}
	before := get()
	if err := g.Server.Sandbox().Sessions.Disconnect(t.Context(), shopNumber); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the connection to come back", func() bool {
		now := get()
		return now.Status == gateway.StatusConnected && now.UpdatedAt.After(before.UpdatedAt)
	})
}

// usage is what a process holds.
type usage struct {
	goroutines int
	files      int // open descriptors: sockets and database files
	heap       uint64
}

func measure(t *testing.T) usage {
	t.Helper()
	runtime.GC()
	runtime.GC() // the second one collects what finalisers held
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	u := usage{goroutines: runtime.NumGoroutine(), heap: memory.HeapAlloc}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}

// A platform that takes the connection and then says nothing must not keep an
// operator from stopping, restarting or deleting an instance.
func TestSilentPlatformHoldsNoCommand(t *testing.T) {
	t.Parallel()
	for _, silent := range []string{"upgrade", "handshake", "login"} {
		t.Run(silent, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, testkit.Options{})
			id := g.Link(t, "5511999990700")
			g.Phones.Faults(t, map[string]any{"silent": silent})
			g.Phones.Disconnect(t, "")
			g.AwaitStatus(t, id, gateway.StatusConnecting)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for what, command := range cases.Sorted(map[string]func() error{
				"restart": func() error { return g.Client.RestartInstance(ctx, id) },
				"stop":    func() error { return g.Partner.StopInstance(ctx, id) },
			}) {
				if err := command(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			g.Phones.Faults(t, map[string]any{})
			if err := g.Client.RestartInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			g.AwaitStatus(t, id, gateway.StatusConnected)
		})
	}
}

// It is given up after a while, and said so, and tried again.
func TestSilentPlatformIsGivenUp(t *testing.T) {
	t.Parallel()
	var log lockedLog
	g := testkit.Start(t, testkit.Options{
		Log: &log, Platform: whatsapp.Config{ConnectTimeout: time.Second, ReconnectMin: time.Millisecond, ReconnectMax: time.Millisecond},
	})
	id := g.Link(t, "5511999990701")
	g.Phones.Faults(t, map[string]any{"silent": "upgrade"})
	g.Phones.Disconnect(t, "")
	testkit.Await(t, "the platform to be given up twice", func() bool {
		return strings.Count(log.String(), "platform not reached") > 1
	})
	g.Phones.Faults(t, map[string]any{})
	g.AwaitStatus(t, id, gateway.StatusConnected)
}

// A media host that stalls, or sends more than was announced, ends in an answer.
func TestMediaHostMisbehaves(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{
		Blobs: media.BlobsConfig{MaxFile: 1 << 20}, Platform: whatsapp.Config{SilenceTimeout: 2 * time.Second},
	})
	id := g.Link(t, "5511999990702")
	for fault, want := range cases.Sorted(map[string]struct {
		value  any
		status int
		code   string
	}{
		"stallMediaAfterBytes": {10, http.StatusGatewayTimeout, gateway.CodePlatformTimeout},
		"mediaPaddingBytes":    {2 << 20, http.StatusRequestEntityTooLarge, gateway.CodePayloadTooLarge},
	}) {
		messageID := g.Phones.Send(t, "5511988880702", map[string]any{
			"to": "5511999990702", "type": "document", "media": "data:text/plain;base64,b2ksIHR1ZG8gYmVtPw==", "fileName": "a.txt",
		})
		g.Phones.Faults(t, map[string]any{fault: want.value})
		testkit.Await(t, "the message to be kept", func() bool {
			_, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID)
			return err == nil || !strings.Contains(err.Error(), gateway.CodeMessageNotFound)
		})
		_, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID)
		testkit.Refused(t, err, want.status, want.code)
		g.Phones.Faults(t, map[string]any{})
		if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID); err != nil {
			t.Errorf("after %s: %v", fault, err)
		}
	}
}

// lockedLog is a log that is read while it is written.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The program keeps its promises on both databases, and over a restart.
func TestProgramComesBackWithEverything(t *testing.T) {
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
			linked, stopped := before.Link(t, shopNumber), before.Link(t, otherNumber)
			shown, err := before.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "code is shown"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := before.Client.GetQRCode(t.Context(), shown.InstanceID, client.GetQRCodeParams{}); err != nil {
				t.Fatal(err)
			}
			sent := sendText(t, before, linked, "before")
			testkit.Await(t, "status read", func() bool {
				return find(t, before, linked, sent.ID).Status == gateway.MessageRead
			})
			answer := before.Phones.SendText(t, customerNumber, shopNumber, "an answer")
			awaitMessage(t, before, linked, answer)
			if err := before.Partner.StopInstance(t.Context(), stopped); err != nil {
				t.Fatal(err)
			}
			before.Stop()

			after := testkit.Start(t, o)
			// What arrives while it was away is not lost either.
			missed := after.Phones.SendText(t, customerNumber, shopNumber, "are you there?")
			after.AwaitStatus(t, linked, gateway.StatusConnected)
			after.AwaitStatus(t, shown.InstanceID, gateway.StatusQRTimeout)
			if status := after.Instance(t, stopped).Status; status != "manually_stopped" {
				t.Errorf("the stopped instance is %s", status)
			}
			awaitMessage(t, after, linked, missed)
			sendText(t, after, linked, "after")
			if text := find(t, after, linked, answer).Text; text != "an answer" {
				t.Errorf("the answer of before is %q", text)
			}
		})
	}
}
