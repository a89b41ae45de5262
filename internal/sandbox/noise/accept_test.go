package noise

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func newAuthority(tb testing.TB) *Authority {
	tb.Helper()
	authority, err := NewAuthority([32]byte{1, 2, 3}, time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	return authority
}

// connect returns both ends of a connection after the handshake.
func connect(t *testing.T) (*client, *Conn) {
	t.Helper()
	authority := newAuthority(t)
	url, results := serve(t, authority)
	payload := &waWa6.ClientPayload{Username: proto.Uint64(5511987654321), Device: proto.Uint32(7)}
	c := dial(t, url, authority.RootKey(), payload)
	result := receive(t, results)
	if result.err != nil {
		t.Fatal(result.err)
	}
	if !proto.Equal(result.conn.Payload(), payload) {
		t.Errorf("payload is %v", result.conn.Payload())
	}
	if result.conn.ClientKey() != *c.static.Pub {
		t.Error("the client's key is another one")
	}
	return c, result.conn
}

func TestAuthorityIsItsSeed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	first, err := NewAuthority([32]byte{1}, now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewAuthority([32]byte{1}, now.AddDate(3, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewAuthority([32]byte{2}, now)
	if err != nil {
		t.Fatal(err)
	}
	if first.RootKey() != again.RootKey() || first.RootKey() == other.RootKey() {
		t.Error("the root key is not a function of the seed")
	}
	static := first.static.PublicKey().Bytes()
	for name, at := range cases.Sorted(map[string]struct {
		time  time.Time
		valid bool
	}{
		"yesterday":       {now.Add(-23 * time.Hour), true},
		"in nine years":   {now.AddDate(9, 11, 0), true},
		"two days ago":    {now.AddDate(0, 0, -2), false},
		"in eleven years": {now.AddDate(11, 0, 0), false},
	}) {
		if err := verifyChain(first.RootKey(), first.chain, static, at.time); (err == nil) != at.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := verifyChain(other.RootKey(), first.chain, static, now); err == nil {
		t.Error("another root vouches for the chain")
	}
}

func TestNodesInBothDirections(t *testing.T) {
	t.Parallel()
	c, conn := connect(t)
	for i := range 3 {
		want := sample()
		want.Attrs["n"] = fmt.Sprint(i)
		c.send(want)
		got, err := conn.ReadNode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("node %d from the client has changed", i)
		}
		if err := conn.WriteNode(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		back, err := c.receive()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*back, want) {
			t.Errorf("node %d from the server has changed", i)
		}
	}
}

func TestConcurrentWritesArriveWhole(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 25
	c, conn := connect(t)
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				if err := conn.WriteNode(t.Context(), waBinary.Node{Tag: "presence", Attrs: waBinary.Attrs{"from": types.ServerJID}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range writers * each {
		if node, err := c.receive(); err != nil || node.Tag != "presence" {
			t.Fatalf("got %v, %v", node, err)
		}
	}
	group.Wait()
}

func TestUnencodableNodeLeavesTheConnection(t *testing.T) {
	t.Parallel()
	c, conn := connect(t)
	for _, bad := range []waBinary.Node{
		{Tag: "iq", Content: 1.5},
		{Tag: "iq", Content: make([]byte, maxFrame)},
	} {
		if err := conn.WriteNode(t.Context(), bad); !errors.Is(err, errEncode) {
			t.Fatalf("writing it: %v, want errEncode", err)
		}
	}
	if err := conn.WriteNode(t.Context(), waBinary.Node{Tag: "success"}); err != nil {
		t.Fatal(err)
	}
	if node, err := c.receive(); err != nil || node.Tag != "success" {
		t.Errorf("got %v, %v", node, err)
	}
}

func TestClosing(t *testing.T) {
	t.Parallel()
	c, conn := connect(t)
	read := make(chan error, 1)
	go func() {
		_, err := conn.ReadNode(t.Context())
		read <- err
	}()
	if err := conn.CloseNow(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, read); err == nil {
		t.Error("reading goes on after the close")
	}
	if _, err := c.receive(); err == nil {
		t.Error("the client does not see the close")
	}
	first := conn.WriteNode(t.Context(), waBinary.Node{Tag: "success"})
	second := conn.WriteNode(t.Context(), waBinary.Node{Tag: "success"})
	if first == nil || second == nil {
		t.Errorf("writing goes on after the close: %v, %v", first, second)
	}
}

func TestWriteWaitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	_, conn := connect(t)
	conn.turn <- struct{}{} // another write is under way
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := conn.WriteNode(ctx, waBinary.Node{Tag: "success"}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for the turn: %v, want context.Canceled", err)
	}
	<-conn.turn
	if err := conn.WriteNode(t.Context(), waBinary.Node{Tag: "success"}); err != nil {
		t.Errorf("the connection did not survive that: %v", err)
	}
}

func TestReadRefusesAForgedFrame(t *testing.T) {
	t.Parallel()
	c, conn := connect(t)
	c.write(nil, make([]byte, 40))
	if _, err := conn.ReadNode(t.Context()); err == nil {
		t.Error("a forged frame was accepted")
	}
}

func TestAcceptRefuses(t *testing.T) {
	t.Parallel()
	hello, err := proto.Marshal(&waWa6.HandshakeMessage{
		ClientHello: &waWa6.HandshakeMessage_ClientHello{Ephemeral: append([]byte{9}, make([]byte, 31)...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	zero, err := proto.Marshal(&waWa6.HandshakeMessage{
		ClientHello: &waWa6.HandshakeMessage_ClientHello{Ephemeral: make([]byte, 32)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, messages := range cases.Sorted(map[string][]string{
		"another protocol":         {"GET / HTTP/1.1\r\n"},
		"an empty hello":           {intro + string(framed(t, ""))},
		"a hello that is no proto": {intro + string(framed(t, "\xff\xff"))},
		"a key of no order":        {intro + string(framed(t, string(zero)))},
		"a frame too large":        {intro + "\xff\xff\xff"},
		"no static key":            {intro + string(framed(t, string(hello))), string(framed(t, ""))},
		"a hello twice":            {intro + string(framed(t, string(hello))), string(framed(t, string(hello)))},
		"a goodbye":                {intro + string(framed(t, string(hello)))},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, results := serve(t, newAuthority(t))
			ws, response, err := websocket.Dial(t.Context(), url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if response.Body != nil {
				defer func() { _ = response.Body.Close() }()
			}
			for _, message := range messages {
				if err := ws.Write(t.Context(), websocket.MessageBinary, []byte(message)); err != nil {
					break // refused already
				}
			}
			if name == "a goodbye" {
				_ = ws.CloseNow()
			}
			if result := receive(t, results); result.err == nil {
				t.Error("it was accepted")
			}
			if _, _, err := ws.Read(t.Context()); err != nil {
				return
			}
			if _, _, err := ws.Read(t.Context()); err == nil {
				t.Error("the websocket is still open")
			}
		})
	}
}

func TestAcceptRefusesText(t *testing.T) {
	t.Parallel()
	url, results := serve(t, newAuthority(t))
	ws, response, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body != nil {
		defer func() { _ = response.Body.Close() }()
	}
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(intro)); err != nil {
		t.Fatal(err)
	}
	if result := receive(t, results); !errors.Is(result.err, errText) {
		t.Errorf("a text message: %v, want errText", result.err)
	}
	_ = ws.CloseNow()
}

func TestAcceptKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	result := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
		defer cancel()
		_, err = Accept(ctx, ws, newAuthority(t))
		result <- err
	}))
	defer server.Close()
	ws, response, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.Body != nil {
		defer func() { _ = response.Body.Close() }()
	}
	defer func() { _ = ws.CloseNow() }()
	if err := receive(t, result); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent client: %v, want the deadline", err)
	}
}

func FuzzHandshake(f *testing.F) {
	authority := newAuthority(f)
	hello, err := proto.Marshal(&waWa6.HandshakeMessage{
		ClientHello: &waWa6.HandshakeMessage_ClientHello{Ephemeral: append([]byte{9}, make([]byte, 31)...)},
	})
	if err != nil {
		f.Fatal(err)
	}
	finish, err := proto.Marshal(&waWa6.HandshakeMessage{
		ClientFinish: &waWa6.HandshakeMessage_ClientFinish{Static: make([]byte, 48), Payload: make([]byte, 32)},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(hello, finish)
	f.Add(finish, hello)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r, err := newResponder(authority)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.answer(first); err != nil {
			return
		}
		if _, _, err := r.finish(second); err == nil {
			t.Fatal("a client without the keys was let in")
		}
	})
}
