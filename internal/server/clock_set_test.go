package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// The clock of the machine is set by eight days, forwards or backwards, and put right again. Nothing
// that waits is lost, late or overtaken: neither messages that are sent at once, through the
// queue or while the instance is stopped, nor events that an endpoint does not take, nor answers to
// repeated requests.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		for direction, by := range cases.Sorted(map[string]time.Duration{"ahead": 8 * 24 * time.Hour, "behind": -8 * 24 * time.Hour}) {
			t.Run(name+" "+direction, func(t *testing.T) {
				t.Parallel()
				clockIsSet(t, database(t), by)
			})
		}
	}
}

func clockIsSet(t *testing.T, database string, by time.Duration) {
	t.Helper()
	var set atomic.Int64
	var log lockedLog
	began := time.Now()
	o := testkit.Options{
		DataDir: t.TempDir(), DatabaseURL: database, KeepMessages: 30 * time.Hour, Log: &log,
		Now:     func() time.Time { return time.Now().Round(0).Add(time.Duration(set.Load())) },
		Elapsed: func() time.Duration { return time.Since(began) },
	}
	g, id := testkit.StartLinked(t, o)
	endpoint := testkit.NewSink(t)
	endpoint.Answer(func(testkit.Delivered) int { return http.StatusServiceUnavailable })
	hook, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: endpoint.URL, Events: []string{client.TypeMessageReceived}})
	if err != nil {
		t.Fatal(err)
	}
	var want, incoming []string
	text := func() client.Sent {
		t.Helper()
		sent := leave(t, g, id, client.Text{To: customerNumber, Message: fmt.Sprint(len(want)), IdempotencyKey: fmt.Sprint("order-", len(want))})
		want = append(want, sent.MessageID)
		return sent
	}
	sweep := func() {
		t.Helper()
		if err := g.Server.SweepAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	receive := func() {
		t.Helper()
		message := g.Phones.SendText(t, customerNumber, shopNumber, "an order")
		awaitMessage(t, g, id, message)
		incoming = append(incoming, message)
	}
	first := text()
	receive()
	set.Store(int64(by))
	sweep()
	receive()
	g.Phones.AwaitMessage(t, customerNumber, text().MessageID) // it is not late
	if err := g.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		text()
	}
	if again := leave(t, g, id, client.Text{To: customerNumber, Message: "0", IdempotencyKey: "order-0"}); again.ID != first.ID || !again.IdempotencyReplayed {
		t.Errorf("a repeat is %+v", again)
	}
	sweep()
	set.Store(0)
	for range 3 {
		text()
	}
	sweep()
	g.Stop()

	g = testkit.Start(t, o)
	sweep()
	text()
	for _, waiting := range queueOf(t, g, id) {
		if waiting.State == "scheduled" {
			t.Errorf("what is to be sent at once is %+v", waiting)
		}
	}
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	awaitEmptyQueue(t, g, id)
	g.Phones.AwaitMessage(t, customerNumber, want[len(want)-1])
	var got []string
	for _, message := range g.Phones.Messages(t, customerNumber, "") {
		if slices.Contains(want, message.MessageID) {
			got = append(got, message.MessageID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the phone has %v, want %v", got, want)
	}
	endpoint.Answer(func(testkit.Delivered) int { return http.StatusNoContent })
	if err := g.Client.ResumeWebhook(t.Context(), id, hook.ID); err != nil {
		t.Fatal(err)
	}
	for _, message := range incoming {
		endpoint.AwaitType(client.TypeMessageReceived, func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), message) })
		find(t, g, id, message)
	}
	// The database's clock was not set.
	if said := strings.Contains(log.String(), "level=ERROR msg=\"the clock was set"); said != (database == "") {
		t.Errorf("that the clock was set is said: %t", said)
	}
}
