package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
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
				page, err := g.Client.ListInstances(t.Context(), 0, 0) // the first after an outage may still fail
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
		_, err := g.Client.ListInstances(t.Context(), 0, 0)
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
