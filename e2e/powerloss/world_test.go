//go:build linux

package powerloss_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// shop is the number that the instance of a world is linked to.
const shop = "5511999990100"

// world is a gateway whose data are on a disk that forgets. Its sandbox, which is the
// platform, and its endpoint for webhooks are not on that disk.
type world struct {
	t       *testing.T
	program string
	flags   []string // of serve
	data    string
	url     string
	key     string // a partner's

	disk     *disk.Disk
	gateway  *process.Process
	client   *client.Client
	phones   *phones.API
	sink     *sink.Sink
	instance string // that is linked to the shop
}

// newWorld starts everything, with an instance that is linked and has a webhook.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := newEmptyWorld(t)
	w.link()
	if _, err := w.client.SaveWebhookConfig(t.Context(), w.instance, client.NewWebhookConfig{WebhookURL: w.sink.URL}); err != nil {
		t.Fatal(err)
	}
	return w
}

// newEmptyWorld starts everything, with a partner's key and no instance.
func newEmptyWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, program: process.Program(t), disk: disk.Mount(t), sink: sink.New(t)}
	address := process.FreeAddress(t)
	box := process.Start(t, w.program, "sandbox", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	hint := strings.Fields(box.Await("A gateway on it: recado serve"))
	w.phones = phones.New("http" + strings.TrimPrefix(hint[7], "ws"))
	w.data = filepath.Join(w.disk.Path, "recado-data")
	w.flags = append([]string{
		"serve", "--listen", address, "--allow-private-urls", "--data", w.data,
	}, hint[6:]...)
	w.start()
	key, err := exec.CommandContext(t.Context(), w.program, "keys", "create", "--name", "test", "--partner", "--data", w.data).Output()
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	w.key = strings.TrimSpace(string(key))
	w.url = "http://" + address
	w.client = client.New(w.url, w.key)
	t.Cleanup(func() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return w
}

func (w *world) start() {
	w.t.Helper()
	w.gateway = process.Start(w.t, w.program, w.flags...)
	w.gateway.Await("recado ")
}

// restart stops the gateway as an operator does, so that everything is on the disk, and
// starts it again.
func (w *world) restart() {
	w.t.Helper()
	w.gateway.Stop()
	w.start()
	w.awaitConnected()
}

// losePower cuts the power, and starts the gateway with what is left.
func (w *world) losePower(s disk.Survivors) {
	w.t.Helper()
	w.cutPower()
	w.disk.Restart(s)
	w.start()
}

// cutPower cuts the power: data that are not on the disk now never reach it, and the
// gateway is killed.
func (w *world) cutPower() {
	w.t.Helper()
	w.disk.Cut()
	w.gateway.Kill()
}

// link makes an instance and links it to the shop.
func (w *world) link() {
	w.t.Helper()
	made, err := w.client.CreateInstance(w.t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.instance = made.InstanceID
	w.scan()
	w.awaitConnected()
}

// scan makes the shop's phone scan the code of the instance.
func (w *world) scan() {
	w.t.Helper()
	code, err := w.client.GetQRCode(w.t.Context(), w.instance, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		w.t.Fatal(err)
	}
	w.phones.Scan(w.t, shop, code.QRCode)
}

// awaitConnected waits until the instance is connected.
func (w *world) awaitConnected() {
	w.t.Helper()
	await.Until(w.t, "the instance is connected", func() bool {
		page, err := w.client.ListInstances(w.t.Context(), client.ListInstancesParams{}, 0, 0)
		if err != nil {
			return false
		}
		for _, instance := range page.Data {
			if instance.InstanceID == w.instance {
				return instance.Status == "connected"
			}
		}
		return false
	})
}

// send sends a text. The text is also its Idempotency-Key.
func (w *world) send(to, text string) client.Sent {
	w.t.Helper()
	sent, err := w.client.SendText(w.t.Context(), w.instance, client.Text{To: to, Message: text, IdempotencyKey: text})
	if err != nil {
		w.t.Fatalf("send %q: %v", text, err)
	}
	return sent
}

// about returns the message and the chat of an event.
func about(t *testing.T, event client.Event) (messageID, chat string) {
	t.Helper()
	var message struct {
		MessageID string `json:"messageId"`
		Chat      string `json:"chat"`
	}
	if err := json.Unmarshal(event.Data, &message); err != nil {
		t.Fatal(err)
	}
	return message.MessageID, message.Chat
}

func customer(n int) string { return fmt.Sprintf("551198888%02d66", n) }
