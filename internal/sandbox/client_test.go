package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sqlite"
)

// client is a real whatsmeow client with its own key file.
type client struct {
	*whatsmeow.Client

	w         *world
	container *sqlstore.Container
	number    string

	mu      sync.Mutex
	events  []any
	changed chan struct{} // closed and replaced at each event
}

// newClient returns a client that is not linked yet.
func (w *world) newClient() *client {
	w.tb.Helper()
	pool, err := sqlite.OpenPool(context.Background(), filepath.Join(w.tb.TempDir(), "client.db"), 1)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { _ = pool.Close() })
	// These keys are not worth a slow write to disk.
	if _, err := pool.ExecContext(context.Background(), "PRAGMA synchronous = OFF"); err != nil {
		w.tb.Fatal(err)
	}
	container := sqlstore.NewWithDB(pool, "sqlite3", waLog.Noop)
	if err := container.Upgrade(context.Background()); err != nil {
		w.tb.Fatal(err)
	}
	c := &client{w: w, container: container, changed: make(chan struct{})}
	c.use(container.NewDevice())
	return c
}

// keptKeys keeps whatsmeow from deleting a device, because whatsmeow empties it
// while its own goroutines still read it.
type keptKeys struct {
	*sqlstore.Container
}

var errKeysKept = errors.New("the test keeps the keys")

func (keptKeys) DeleteDevice(context.Context, *store.Device) error { return errKeysKept }

// PutDevice saves a device. The container knows the device from the first time on.
func (k keptKeys) PutDevice(ctx context.Context, device *store.Device) error {
	err := k.Container.PutDevice(ctx, device)
	if device.Container != k {
		device.Container = k
	}
	return err
}

// use starts a whatsmeow client for a device, as at the start of a process.
func (c *client) use(device *store.Device) {
	device.Container = keptKeys{c.container}
	cli := whatsmeow.NewClient(device, waLog.Noop)
	cli.SetWebsocketHTTPClient(c.w.dial)
	cli.SetPreLoginHTTPClient(c.w.dial)
	cli.SetMediaHTTPClient(c.w.dial)
	cli.AddEventHandler(func(event any) {
		if _, paired := event.(*events.PairSuccess); paired && !c.w.allKeys {
			// A client that has keys already uploads a small batch at first.
			_, _ = cli.Store.PreKeys.GenOnePreKey(context.Background())
		}
		c.record(event)
	})
	c.Client = cli
	c.w.tb.Cleanup(cli.Disconnect)
}

// reconnectItself lets the test reconnect the client when its connection is lost.
// whatsmeow's own reconnecting has a data race with a send at the same time.
func (c *client) reconnectItself() *client {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.w.tb.Cleanup(func() {
		cancel()
		running.Wait()
	})
	cli := c.Client
	cli.EnableAutoReconnect = false
	cli.AddEventHandler(func(event any) {
		if _, lost := event.(*events.Disconnected); !lost || ctx.Err() != nil {
			return
		}
		running.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for cli.Connect() != nil && ctx.Err() == nil {
				select {
				case <-tick.C:
				case <-ctx.Done():
				}
			}
		})
	})
	return c
}

// restart stops the client and starts it again on its key file.
func (c *client) restart() {
	c.w.tb.Helper()
	c.Disconnect()
	device, err := c.container.GetFirstDevice(context.Background())
	if err != nil {
		c.w.tb.Fatal(err)
	}
	c.forget()
	c.use(device)
	c.connect()
}

func (c *client) record(event any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, event)
	close(c.changed)
	c.changed = make(chan struct{})
}

// forget drops the recorded events.
func (c *client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = nil
}

// seen returns the recorded events of a type.
func seen[E any](c *client) []E {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []E
	for _, event := range c.events {
		if e, ok := event.(E); ok {
			list = append(list, e)
		}
	}
	return list
}

// expect waits for an event of a type that want accepts, or for any if want is nil.
func expect[E any](c *client, want func(E) bool) E {
	c.w.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for next := 0; ; {
		c.mu.Lock()
		list, changed := c.events, c.changed
		c.mu.Unlock()
		for ; next < len(list); next++ {
			if e, ok := list[next].(E); ok && (want == nil || want(e)) {
				return e
			}
		}
		select {
		case <-changed:
		case <-deadline.C:
			var names []string
			for _, event := range list {
				names = append(names, fmt.Sprintf("%T", event))
			}
			var e E
			c.w.tb.Fatalf("waited in vain for %T; saw %v", e, names)
		}
	}
}

func (c *client) connect() {
	c.w.tb.Helper()
	if err := c.Connect(); err != nil {
		c.w.tb.Fatal(err)
	}
}

// link links the client to a phone by QR code, and waits until it is online and has
// its name.
func (c *client) link(number string) *client {
	c.w.tb.Helper()
	c.number = number
	c.connect()
	codes := expect[*events.QR](c, nil)
	c.w.do(http.MethodPost, "/phones/"+number+"/scan", map[string]string{"qrCode": codes.Codes[0]}, nil)
	expect[*events.Connected](c, nil)
	return c
}

// online waits until the client is logged in.
func (c *client) online() {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if c.IsLoggedIn() && c.IsConnected() {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			return
		}
	}
}

// text sends a text and returns its ID.
func (c *client) text(to, text string) string {
	c.w.tb.Helper()
	id, err := c.tryText(to, text)
	if err != nil {
		c.w.tb.Fatalf("send: %v", err)
	}
	return id
}

func (c *client) tryText(to, text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := c.SendMessage(ctx, types.NewJID(to, types.DefaultUserServer), textMessage(text))
	return response.ID, err
}

// got waits for a message with the text.
func (c *client) got(text string) *events.Message {
	c.w.tb.Helper()
	return expect(c, func(m *events.Message) bool { return m.Message.GetConversation() == text })
}

// receipt waits for a receipt of a type for a message.
func (c *client) receipt(id string, kind types.ReceiptType) *events.Receipt {
	c.w.tb.Helper()
	return expect(c, func(r *events.Receipt) bool {
		for _, about := range r.MessageIDs {
			if about == id && r.Type == kind {
				return true
			}
		}
		return false
	})
}

// internals gives access to methods that only a misbehaving client calls.
func (c *client) internals() *whatsmeow.DangerousInternalClient {
	return c.DangerousInternals() //nolint:staticcheck // it is marked as deprecated to warn applications off
}

// encryptFor encrypts a text for one device, as SendMessage does.
func (c *client) encryptFor(to types.JID, text string) (*waBinary.Node, bool, error) {
	plaintext, err := proto.Marshal(textMessage(text))
	if err != nil {
		return nil, false, err
	}
	return c.internals().EncryptMessageForDevice(context.Background(), plaintext, to, nil, nil, nil)
}

// node sends a raw node.
func (c *client) node(n waBinary.Node) {
	c.w.tb.Helper()
	if err := c.internals().SendNode(context.Background(), n); err != nil {
		c.w.tb.Fatal(err)
	}
}

func textMessage(text string) *waE2E.Message { return &waE2E.Message{Conversation: new(text)} }

// pin is the change of the app state that pins a chat.
func pin(number string) appstate.PatchInfo {
	return appstate.BuildPin(types.NewJID(number, types.DefaultUserServer), true)
}

// named waits until the client has its name, and returns it.
func (c *client) named() string {
	c.w.tb.Helper()
	expect(c, func(e *events.AppStateSyncComplete) bool { return e.Name == appstate.WAPatchCriticalBlock })
	stored, err := c.container.GetFirstDevice(context.Background())
	if err != nil {
		c.w.tb.Fatal(err)
	}
	return stored.PushName
}

// synchronised waits until the client has fetched everything that a new device
// fetches. whatsmeow has data races if it is logged out earlier.
func (c *client) synchronised() *client {
	c.w.tb.Helper()
	for _, name := range appstate.AllPatchNames {
		expect(c, func(e *events.AppStateSyncComplete) bool { return e.Name == name })
	}
	expect(c, func(e *events.HistorySync) bool { return e.Data.GetSyncType() == waHistorySync.HistorySync_RECENT })
	return c
}
