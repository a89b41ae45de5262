package torture_test

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// world is a sandbox, a gateway on it, and an endpoint for its webhooks.
type world struct {
	t       *testing.T
	program string
	flags   []string // of serve
	keep    []string // flags of every command: where the data are
	address string

	gateway *process.Process
	phones  *phones.API
	client  *client.Client
	sink    *sink.Sink
	second  *sink.Sink            // of a second webhook of every shop, which takes messages alone
	dead    *sink.Sink            // of a third one, which never accepts anything
	formats map[string]*sink.Sink // of one more in each language of other tools
	shops   []shop
}

// shop is an instance, the number that it is linked to, and the platform's form of that.
type shop struct{ id, number, account string }

// newWorld starts everything. databaseURL is empty for SQLite.
func newWorld(t *testing.T, databaseURL string, shops int) *world {
	t.Helper()
	return newWorldIn(t, t.TempDir(), databaseURL, shops)
}

// newWorldIn is newWorld with a folder for the gateway's data.
func newWorldIn(t *testing.T, data, databaseURL string, shops int) *world {
	t.Helper()
	self := process.Program(t)
	w := &world{t: t, program: self, address: process.FreeAddress(t), sink: sink.New(t), second: sink.New(t), dead: sink.New(t)}
	w.formats = map[string]*sink.Sink{}
	for format := range languages() {
		w.formats[format] = sink.New(t)
	}
	w.dead.Answer(func(sink.Delivered) int { return http.StatusInternalServerError })
	box := process.Start(t, self, "sandbox", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "error")
	hint := strings.Fields(box.Await("A gateway on it: recado serve"))
	w.phones = phones.New("http" + strings.TrimPrefix(hint[7], "ws"))
	w.keep = []string{"--data", data}
	if databaseURL != "" {
		w.keep = append(w.keep, "--database-url", databaseURL)
	}
	w.flags = append([]string{
		"serve", "--listen", w.address, "--allow-private-urls", "--log-level", "error",
	}, append(hint[6:], w.keep...)...)
	w.startGateway()
	w.client = client.New("http://"+w.address, w.command(append([]string{"keys", "create", "--name", "test", "--partner"}, w.keep...)...))
	for i := range shops {
		w.link(fmt.Sprintf("55119999901%02d", i))
	}
	t.Cleanup(func() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return w
}

func (w *world) startGateway() {
	w.t.Helper()
	w.gateway = process.Start(w.t, w.program, w.flags...)
	w.gateway.Await("recado ")
}

// command runs the program, waits for its end, and returns what it printed.
func (w *world) command(args ...string) string {
	w.t.Helper()
	output, err := exec.CommandContext(w.t.Context(), w.program, args...).Output()
	if err != nil {
		w.t.Fatalf("recado %s: %v", args[0], err)
	}
	return strings.TrimSpace(string(output))
}

// link makes an instance with a webhook, and links it to a number.
func (w *world) link(number string) {
	w.t.Helper()
	ctx := w.t.Context()
	instance, err := w.client.CreateInstance(ctx, client.NewInstance{Name: number})
	if err != nil {
		w.t.Fatal(err)
	}
	code, err := w.client.GetQRCode(ctx, instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		w.t.Fatal(err)
	}
	w.phones.Scan(w.t, number, code.QRCode)
	w.awaitConnected(instance.InstanceID)
	if instance, err = w.client.GetInstance(ctx, instance.InstanceID); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.SaveWebhookConfig(ctx, instance.InstanceID, client.NewWebhookConfig{WebhookURL: w.sink.URL}); err != nil {
		w.t.Fatal(err)
	}
	webhooks := []client.NewWebhook{{URL: w.second.URL, Events: []string{client.TypeMessageReceived}}, {URL: w.dead.URL}}
	for format, at := range w.formats {
		webhooks = append(webhooks, client.NewWebhook{URL: at.URL, Format: format})
	}
	for _, webhook := range webhooks {
		if _, err := w.client.CreateWebhook(ctx, instance.InstanceID, webhook); err != nil {
			w.t.Fatal(err)
		}
	}
	w.shops = append(w.shops, shop{instance.InstanceID, number, instance.MessengerID})
}

// awaitConnected waits until an instance is connected, even if the gateway is restarted
// meanwhile.
func (w *world) awaitConnected(id string) {
	w.t.Helper()
	await.Until(w.t, "instance "+id+" is connected", func() bool {
		page, err := w.client.ListInstances(w.t.Context(), client.ListInstancesParams{}, 0, 0)
		if err != nil {
			return false
		}
		for _, instance := range page.Data {
			if instance.InstanceID == id {
				return instance.Status == "connected"
			}
		}
		return false
	})
}

// restart kills the gateway and starts it again, and returns how long it took
// until all instances were connected again.
func (w *world) restart() time.Duration {
	w.t.Helper()
	w.gateway.Kill()
	began := time.Now()
	w.startGateway()
	for _, shop := range w.shops {
		w.awaitConnected(shop.id)
	}
	return time.Since(began)
}

// resume tries all webhooks again at once.
func (w *world) resume() {
	w.t.Helper()
	for _, shop := range w.shops {
		await.Until(w.t, "the webhook is resumed", func() bool {
			hook, err := w.client.GetWebhookConfig(w.t.Context(), shop.id)
			return err == nil && w.client.ResumeWebhook(w.t.Context(), shop.id, hook.ID) == nil
		})
	}
}

// awaitEvents waits until that many received messages are in the log.
func (w *world) awaitEvents(id string, count int) {
	w.t.Helper()
	stream, err := w.client.Events(w.t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{"message.received"}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for range count {
		if _, err := stream.Next(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// loseOneEvent removes the third message from the log while the gateway is not running.
func (w *world) loseOneEvent() {
	w.t.Helper()
	ctx := w.t.Context()
	db, err := sqlite.OpenPool(ctx, filepath.Join(w.keep[1], "recado.db"), 1)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = db.ExecContext(ctx, `DELETE FROM events WHERE sequence =
		(SELECT sequence FROM events WHERE kind = 'message.received' ORDER BY sequence LIMIT 1 OFFSET 2)`)
	if err := errors.Join(err, db.Close()); err != nil {
		w.t.Fatal(err)
	}
}
