package server_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// refusedAsNew fails the test unless err is the refusal of a message to a new chat, to be
// tried again after about that time.
func refusedAsNew(t *testing.T, err error, after time.Duration) {
	t.Helper()
	testkit.Refused(t, err, http.StatusTooManyRequests, client.CodeRecipientRestricted)
	if refusal, ok := errors.AsType[*client.Error](err); ok && (refusal.RetryAfter > after || refusal.RetryAfter < after-10*time.Minute) {
		t.Errorf("to be tried again after %s, want about %s", refusal.RetryAfter, after)
	}
}

// restrictions counts the events of restrictions: those that the platform announced, and
// those that a refused message has caused.
func restrictions(t *testing.T, g *testkit.Gateway, id string) (announced, refused int) {
	t.Helper()
	// The last event ends the reading.
	stop := g.Phones.SendText(t, otherNumber, shopNumber, "so far")
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{
		After: new(int64(0)), Types: []string{client.TypeInstanceRestricted, client.TypeMessageReceived},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := event.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch data := decoded.(type) {
		case client.MessageReceivedEvent:
			if data.MessageID == stop {
				return announced, refused
			}
		case client.InstanceRestrictedEvent:
			if data.Recipient == nil {
				announced++
			} else {
				refused++
			}
		}
	}
}

// While the platform restricts the account, a message to a new chat does not leave the
// gateway, also after a restart; everything else does. An answer makes the chat known, and
// the lift ends it.
func TestRestrictedAccountWritesToNoNewChat(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testkit.Options{DataDir: t.TempDir(), DatabaseURL: database(t)}
			g, id := testkit.StartLinked(t, options)
			const known, lookedUp, nobody = "5511977776600", "5511955550200", "5511955550101"
			g.Phones.Update(t, nobody, map[string]any{"registered": false})
			answered := g.Phones.SendText(t, known, shopNumber, "Olá")
			awaitMessage(t, g, id, answered)
			if _, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{lookedUp}}); err != nil {
				t.Fatal(err)
			}
			group := g.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber).ID
			g.Phones.Restrict(t, shopNumber, int(time.Hour.Seconds()))
			testkit.Await(t, "the restriction", func() bool {
				_, active := restricted(t, g, id)
				return active
			})
			// What comes later is received only after the platform has been told that this was.
			awaitMessage(t, g, id, g.Phones.SendText(t, known, shopNumber, "E aí?"))
			g.Stop()

			g = testkit.Start(t, options)
			g.AwaitStatus(t, id, gateway.StatusConnected)
			var fetched atomic.Int64
			files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fetched.Add(1)
				_, _ = io.WriteString(w, "no picture")
			}))
			t.Cleanup(files.Close)
			lid := g.Phones.Get(t, customerNumber).LID
			// Nobody's number would be found out by a look-up, and a refusal by the platform is an
			// event with the recipient.
			for _, to := range []string{customerNumber, customerNumber + "@s.whatsapp.net", lid, lookedUp, nobody} {
				_, err := g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "Oi!"})
				refusedAsNew(t, err, time.Hour)
			}
			_, err := g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: files.URL + "/a.png"})
			refusedAsNew(t, err, time.Hour)
			if n := fetched.Load(); n != 0 {
				t.Errorf("the picture was fetched %d times", n)
			}
			for _, to := range []string{known, known + "@s.whatsapp.net", group} {
				if _, err := g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "Oi!"}); err != nil {
					t.Errorf("to %s: %v", to, err)
				}
			}

			awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, "are you there?"))
			sendText(t, g, id, "yes")
			if announced, refused := restrictions(t, g, id); announced != 1 || refused != 0 {
				t.Errorf("the platform has announced %d restrictions and refused %d messages, want 1 and none", announced, refused)
			}
			g.Phones.Restrict(t, shopNumber, 0)
			testkit.Await(t, "the lift", func() bool {
				_, active := restricted(t, g, id)
				return !active
			})
			if _, err := g.Client.SendText(t.Context(), id, client.Text{To: lookedUp, Message: "Oi!"}); err != nil {
				t.Errorf("after the lift: %v", err)
			}
		})
	}
}

// restricted says until when the store takes the account for restricted.
func restricted(t *testing.T, g *testkit.Gateway, id string) (until time.Time, active bool) {
	t.Helper()
	instance, err := g.Server.Instances().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return instance.Restricted.Active(time.Now())
}

// A refusal that does not say until when holds for an hour: then the next message tries.
func TestRestrictionWithoutEndIsTriedAfterAnHour(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	g, id := testkit.StartLinked(t, testkit.Options{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	g.Phones.Faults(t, map[string]any{"sendError": 463})
	_, err := trySend(t, g, id, "Oi!")
	testkit.Refused(t, err, http.StatusTooManyRequests, client.CodeRecipientRestricted)
	g.Phones.Faults(t, map[string]any{})
	testkit.Await(t, "the restriction", func() bool {
		_, active := restricted(t, g, id)
		return active
	})
	_, err = trySend(t, g, id, "Oi!")
	refusedAsNew(t, err, time.Hour)
	if shown := g.Phones.Messages(t, customerNumber, ""); len(shown) != 0 {
		t.Errorf("the phone shows %+v", shown)
	}
	later.Store(int64(time.Hour + time.Minute))
	sendText(t, g, id, "Oi!")
}
