package pairing

import (
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/util/random"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"go.mau.fi/whatsmeow/util/keys"

	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/signallog"
)

// patience bounds every wait of these tests.
const patience = 30 * time.Second

func seed() [32]byte { return sha256.Sum256([]byte("pairing tests")) }

// TestMain sets the root key that whatsmeow trusts, which is one per process.
func TestMain(m *testing.M) {
	signallog.Quiet()
	authority, err := noise.NewAuthority(seed(), time.Now())
	if err != nil {
		panic(err)
	}
	whatsmeow.WACertPubKey = authority.RootKey()
	os.Exit(m.Run())
}

// companion is a whatsmeow client that waits to be linked, with the server's end of
// its connection, on which a test acts as the platform.
type companion struct {
	t      *testing.T
	client *whatsmeow.Client
	conn   *noise.Conn
	events chan any
	ids    int
}

func newCompanion(t *testing.T) *companion {
	t.Helper()
	authority, err := noise.NewAuthority(seed(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan *noise.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
			CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true,
		})
		if err != nil {
			t.Error(err)
			return
		}
		conn, err := noise.Accept(r.Context(), ws, authority)
		if err != nil {
			t.Error(err)
			return
		}
		conns <- conn
	}))
	t.Cleanup(server.Close)

	noop := &store.NoopStore{}
	identity := keys.NewKeyPair()
	device := &store.Device{
		NoiseKey: keys.NewKeyPair(), IdentityKey: identity, SignedPreKey: identity.CreateSignedPreKey(1),
		RegistrationID: 7, AdvSecretKey: random.Bytes(32), Container: noop, LIDs: noop,
	}
	device.SetAllStores(noop)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	httpClient := &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
	c := &companion{t: t, client: whatsmeow.NewClient(device, nil), events: make(chan any, 16)}
	c.client.SetPreLoginHTTPClient(httpClient)
	c.client.SetWebsocketHTTPClient(httpClient)
	c.client.AddEventHandler(func(event any) { c.events <- event })
	if err := c.client.ConnectContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Disconnect)
	c.conn = await(t, conns)
	return c
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(patience):
		t.Fatal("nothing came in time")
	}
	panic("unreachable")
}

// ask sends an IQ to the companion and returns its answer.
func (c *companion) ask(child waBinary.Node) *waBinary.Node {
	c.t.Helper()
	c.ids++
	id := string(rune('A' + c.ids))
	c.write(waBinary.Node{
		Tag: "iq", Content: []waBinary.Node{child},
		Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "set", "id": id, "xmlns": "md"},
	})
	for {
		if node := c.read(); node.Attrs["id"] == id {
			return node
		}
	}
}

func (c *companion) write(node waBinary.Node) {
	c.t.Helper()
	if err := c.conn.WriteNode(c.t.Context(), node); err != nil {
		c.t.Fatal(err)
	}
}

func (c *companion) read() *waBinary.Node {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	node, err := c.conn.ReadNode(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return node
}

// codes sends a reference to the companion and returns the QR code that it makes of
// it.
func (c *companion) codes(ref string) string {
	c.t.Helper()
	c.ask(waBinary.Node{Tag: "pair-device", Content: []waBinary.Node{{Tag: "ref", Content: []byte(ref)}}})
	for {
		if event, ok := await(c.t, c.events).(*events.QR); ok {
			return event.Codes[0]
		}
	}
}

// succeed sends pair-success and returns the companion's answer.
func (c *companion) succeed(identity []byte) *waBinary.Node {
	c.t.Helper()
	return c.ask(waBinary.Node{Tag: "pair-success", Content: []waBinary.Node{
		{Tag: "device-identity", Content: identity},
		{Tag: "platform", Attrs: waBinary.Attrs{"name": "android"}},
		{Tag: "device", Attrs: waBinary.Attrs{
			"jid": types.JID{User: "5511987654321", Device: 3, Server: types.DefaultUserServer},
			"lid": types.JID{User: "100000000000001", Device: 3, Server: types.HiddenUserServer},
		}},
	}})
}

func content(t *testing.T, node *waBinary.Node, path ...string) []byte {
	t.Helper()
	child, ok := node.GetOptionalChildByTag(path...)
	if !ok {
		t.Fatalf("no %v in %s", path, node)
	}
	bytes, _ := child.Content.([]byte)
	return bytes
}
