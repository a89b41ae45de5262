//go:build linux

package bench_test

import (
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
)

// costs is what one message costs, counted when these numbers were last set. One instance
// sends one message after another, and what phones answer comes in between; or it receives
// one after another, so that no two of them share a transaction.
// A change that makes the program cheaper lowers them; none is raised without a reason. Of what
// is written, one entry of an index and the row of the chat are for reading (store/chattable).
//
//nolint:gochecknoglobals // a table
var costs = map[string]float64{
	"syncs of a message sent":     3.9,
	"writes of a message sent":    4.0,
	"KB written of one sent":      30.5,
	"syncs of a message received": 1.03,
	"writes of one received":      1.05,
	"KB written of one received":  19.2,
	"round trips of one sent":     5.4,
}

// slack is how much more than in the table a message may cost: checkpoints of the database
// and work in the background come sooner or later, however fast the machine is.
const slack = 1.1

const (
	countedMessages = 100
	// firstMessages are sent or received before; until then statements are prepared, and
	// the session becomes steady.
	firstMessages = 20
)

// TestCosts bounds what a message costs in calls, which, unlike time, are the same on
// every machine.
func TestCosts(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		d := disk.Mount(t)
		w := startCountedWorld(t, filepath.Join(d.Path, "recado-data"), "")
		var read, received atomic.Int64
		w.followCosts(t, &read, &received)
		counted := func(do func(messages int)) disk.Counts {
			do(firstMessages)
			before := d.Counts()
			do(countedMessages)
			return d.Counts().Minus(before)
		}
		sent := counted(func(messages int) {
			want := read.Load() + int64(messages)
			for range messages {
				w.sendOne(t)
			}
			await.Until(t, "the phone has read them", func() bool { return read.Load() >= want })
		})
		within(t, "syncs of a message sent", sent.Syncs)
		within(t, "writes of a message sent", sent.Writes)
		within(t, "KB written of one sent", sent.Bytes/1000)
		came := counted(func(messages int) {
			for range messages {
				want := received.Load() + 1
				if err := crowd.SendText(t.Context(), w.sandbox.address, crowd.Recipient(0), crowd.Owner(0), "a message"); err != nil {
					t.Fatal(err)
				}
				await.Until(t, "it is in the log", func() bool { return received.Load() >= want })
			}
		})
		within(t, "syncs of a message received", came.Syncs)
		within(t, "writes of one received", came.Writes)
		within(t, "KB written of one received", came.Bytes/1000)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		database := postgres.Start(t)
		through, trips := postgres.RoundTrips(t, database)
		w := startCountedWorld(t, t.TempDir(), through)
		// The test looks into the database directly: what it asks is not counted.
		direct, err := store.Open(t.Context(), store.Config{URL: database, Conns: 1, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := direct.Close(); err != nil {
				t.Error(err)
			}
		}()
		send := func(messages int) {
			var sent []string
			for range messages {
				sent = append(sent, w.sendOne(t).ID)
			}
			await.Until(t, "the phone has read them", func() bool {
				found, err := direct.MessagesByID(t.Context(), w.instances[0], sent)
				return err == nil && len(found) == messages &&
					!slices.ContainsFunc(found, func(m gateway.Message) bool { return m.Status != gateway.MessageRead })
			})
		}
		send(firstMessages)
		before := trips()
		send(countedMessages)
		within(t, "round trips of one sent", trips()-before)
	})
}

// within fails the test if a message has cost more than the table says.
func within(t *testing.T, what string, counted int64) {
	t.Helper()
	each, limit := float64(counted)/countedMessages, costs[what]*slack
	t.Logf("%s: %.2f", what, each)
	if each > limit || counted == 0 {
		t.Errorf("%s: %.2f, the limit is %.2f", what, each, limit)
	}
}

// startCountedWorld starts a gateway with one instance, on a sandbox in this process whose
// phones read at once.
func startCountedWorld(t *testing.T, data, database string) *world {
	t.Helper()
	box, err := sandbox.New(t.Context(), sandbox.Config{Path: filepath.Join(t.TempDir(), "sandbox.db"), ReadDelay: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(box.Handler(scan.None{}))
	ended := make(chan error, 1)
	go func() { ended <- box.Run(t.Context()) }()
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		if err := <-ended; err != nil {
			t.Errorf("the sandbox ended with %v", err)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{
		sandbox: &server{address: strings.TrimPrefix(web.URL, "http://")},
		program: process.Build(t, "counted"), data: data, database: database,
	}
	w.startGateway(t)
	w.link(t, 0)
	w.awaitConnected(t)
	return w
}

// sendOne sends a message.
func (w *world) sendOne(t *testing.T) client.Sent {
	t.Helper()
	sent, err := w.client.SendText(t.Context(), w.instances[0], client.Text{To: crowd.Recipient(0), Message: "a message"})
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

// followCosts counts the messages that phones have read, and those that were received. It
// only reads, so it adds nothing to what is counted.
func (w *world) followCosts(t *testing.T, read, received *atomic.Int64) {
	t.Helper()
	stream, err := w.client.Events(t.Context(), w.instances[0], client.EventsParams{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = stream.Close() // it ends with the test
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			event, err := stream.Next()
			if err != nil {
				return
			}
			if event.Type == client.TypeMessageReceived {
				received.Add(1)
				continue
			}
			decoded, err := event.Decode()
			if status, ok := decoded.(client.MessageStatusEvent); err == nil && ok && status.Status == "read" {
				read.Add(1)
			}
		}
	}()
}
