package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/node"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/whatsapp"
)

// Two nodes whose clocks are ten minutes apart believe each other to be alive for longer than a lease,
// and a client can use both for the same instance.
func TestClocksOfNodesDiffer(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second // long enough for a busy machine
	url, box := postgres.Start(t), testkit.Start(t, testkit.Options{})
	root := box.Server.Sandbox().RootKey()
	start := func(ahead time.Duration) (address string, s *server.Server) {
		t.Helper()
		address = process.FreeAddress(t)
		s, err := server.New(t.Context(), server.Config{
			Listen: address, DataDir: t.TempDir(), DatabaseURL: url, Version: "test", Logger: testkit.Logger(t),
			Cluster: server.Cluster{
				Advertise: "http://" + address, Secret: "a secret of the nodes alone",
				Timing: node.Timing{Lease: lease, Grace: lease / 4, Renew: lease / 10, Look: lease / 20, Patience: lease / 2},
			},
			Platform: whatsapp.Config{PlatformURL: "ws" + box.BaseURL[len("http"):], RootKey: &root},
			Media:    media.Config{AllowPrivate: true}, AllowPrivateURLs: true,
			Now: func() time.Time { return time.Now().Add(ahead) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		stop := sync.OnceFunc(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(stop)
		return "http://" + address, s
	}
	slow, first := start(-5 * time.Minute)
	account, err := first.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := first.Access().CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "test", Partner: true})
	if err != nil {
		t.Fatal(err)
	}
	fast, _ := start(5 * time.Minute)
	nodes := []*client.Client{client.New(slow, key), client.New(fast, key)}
	var ids []string
	for i, number := range []string{"5511999990001", "5511999990002"} {
		instance, err := nodes[i].CreateInstance(t.Context(), client.NewInstance{Name: number})
		if err != nil {
			t.Fatal(err)
		}
		code, err := nodes[i].GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
		if err != nil {
			t.Fatal(err)
		}
		box.Phones.Scan(t, number, code.QRCode)
		ids = append(ids, instance.InstanceID)
	}
	shared, err := store.Open(t.Context(), store.Config{URL: url, Logger: testkit.Logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.Close() })
	owners := func() (found [2]gateway.Tenure) {
		t.Helper()
		for i, id := range ids {
			owner, _, err := shared.Nodes.FindOwner(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			found[i] = owner.Tenure
		}
		return found
	}
	for _, id := range ids {
		testkit.Await(t, "the instance is connected", func() bool {
			one, err := nodes[0].GetInstance(t.Context(), id)
			two, err2 := nodes[1].GetInstance(t.Context(), id)
			return err == nil && err2 == nil && one.Status == client.StatusConnected && two.Status == client.StatusConnected
		})
	}
	before := owners()
	for began := time.Now(); time.Since(began) < 2*lease; {
		for _, id := range ids {
			for _, at := range nodes {
				sent, err := at.SendText(t.Context(), id, client.Text{To: "5511988887766", Message: "olá"})
				if err != nil {
					t.Fatal(err)
				}
				box.Phones.AwaitMessage(t, "5511988887766", sent.MessageID)
			}
		}
		if now := owners(); now != before {
			t.Fatalf("the owners are %+v, and were %+v", now, before)
		}
	}
}

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
