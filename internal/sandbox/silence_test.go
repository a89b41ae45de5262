package sandbox_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/scan"
)

// moment is how long the tests wait to see that a silent server sends nothing.
const moment = 150 * time.Millisecond

// secure also serves the world over TLS.
func (w *world) secure() *httptest.Server {
	web := httptest.NewUnstartedServer(w.server.Handler(scan.None{}))
	web.Listener = w.server.TLSListener(web.Listener)
	web.StartTLS()
	w.tb.Cleanup(web.Close)
	return web
}

// silentThenCut checks that nothing comes on the connection while the fault is on,
// and that the connection ends when it is lifted.
func (w *world) silentThenCut(conn net.Conn) {
	w.tb.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(moment)); err != nil {
		w.tb.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		w.tb.Fatalf("something came: %d bytes, %v", n, err)
	}
	w.do(http.MethodPut, "/faults", map[string]any{}, nil)
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		w.tb.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		w.tb.Errorf("not cut: %v", err)
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// upgrade asks to open a websocket.
func upgrade(t *testing.T, conn net.Conn) {
	t.Helper()
	_, err := io.WriteString(conn, "GET /ws/chat HTTP/1.1\r\nHost: sandbox\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
}

func TestPlatformFallsSilent(t *testing.T) {
	t.Parallel()
	t.Run("before TLS", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		web := w.secure()
		w.do(http.MethodPut, "/faults", map[string]any{"silent": "connection"}, nil)
		conn := dial(t, web.Listener.Addr().String())
		if _, err := conn.Write([]byte{22, 3, 1}); err != nil { // a TLS record begins
			t.Fatal(err)
		}
		w.silentThenCut(conn)
	})
	for _, step := range []string{"connection", "upgrade"} {
		t.Run("before the "+step+" is answered", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.do(http.MethodPut, "/faults", map[string]any{"silent": step}, nil)
			conn := dial(t, *w.address.Load())
			upgrade(t, conn)
			w.silentThenCut(conn)
		})
	}
	t.Run("after TLS", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		web := w.secure()
		w.do(http.MethodPut, "/faults", map[string]any{"silent": "upgrade"}, nil)
		conn := tls.Client(dial(t, web.Listener.Addr().String()), &tls.Config{InsecureSkipVerify: true})
		if err := conn.HandshakeContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		upgrade(t, conn)
		w.silentThenCut(conn)
	})
	t.Run("after the upgrade", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.do(http.MethodPut, "/faults", map[string]any{"silent": "handshake"}, nil)
		conn := dial(t, *w.address.Load())
		upgrade(t, conn)
		response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
		if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("answered %v, %v", response, err)
		}
		_ = response.Body.Close()
		w.silentThenCut(conn)
	})
	t.Run("a hello is not answered", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.do(http.MethodPut, "/faults", map[string]any{"silent": "handshake"}, nil)
		ws, _, err := websocket.Dial(t.Context(), "ws://"+*w.address.Load()+"/ws/chat", nil) //nolint:bodyclose // it has none
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ws.CloseNow() })
		hello, err := proto.Marshal(&waWa6.HandshakeMessage{ClientHello: &waWa6.HandshakeMessage_ClientHello{
			Ephemeral: append(make([]byte, 31), 9),
		}})
		if err != nil {
			t.Fatal(err)
		}
		frame := append([]byte{'W', 'A', 6, 3, 0, 0, byte(len(hello))}, hello...)
		if err := ws.Write(t.Context(), websocket.MessageBinary, frame); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), moment)
		defer cancel()
		if _, answer, err := ws.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answered %d bytes, %v", len(answer), err)
		}
	})
	t.Run("after the handshake", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		c := w.newClient()
		w.do(http.MethodPut, "/faults", map[string]any{"silent": "login"}, nil)
		c.connect() // whatsmeow returns once keys are exchanged
		w.do(http.MethodPut, "/faults", map[string]any{}, nil)
		expect[*events.Disconnected](c, nil)
		if len(seen[*events.QR](c)) != 0 {
			t.Error("it was answered")
		}
	})
}

// A sandbox that stops must not wait for the connections that it keeps silent.
func TestSilentPlatformStops(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"upgrade", "handshake"} {
		w := newWorld(t)
		w.do(http.MethodPut, "/faults", map[string]any{"silent": step}, nil)
		conn := dial(t, *w.address.Load())
		upgrade(t, conn)
		w.down()
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: not ended", step)
		}
	}
}

func TestMediaHostFallsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	up := c.upload(make([]byte, 10_000), whatsmeow.MediaImage)
	message := imageMessage(up, "")
	w.do(http.MethodPut, "/faults", map[string]any{"stallMediaAfterBytes": 100}, nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox"+up.DirectPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.dial.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.ReadFull(response.Body, make([]byte, 100)); err != nil || response.ContentLength < 10_000 {
		t.Fatalf("%d bytes announced, %v", response.ContentLength, err)
	}
	more := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(response.Body)
		more <- err
	}()
	select {
	case err := <-more:
		t.Fatalf("more came: %v", err)
	case <-time.After(moment):
	}
	w.do(http.MethodPut, "/faults", map[string]any{"stallHistoryAfterBytes": 0}, nil)
	if err := <-more; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it ended with %v", err)
	}
	// A history has a limit of its own.
	if _, err := c.Download(t.Context(), message.GetImageMessage()); err != nil {
		t.Errorf("a picture stalled with the histories: %v", err)
	}
}

func TestHistoryFallsSilent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodPut, "/phones/"+gateway+"/history", map[string]any{"chats": 1, "messages": 1, "bytes": appstate.MaxInline}, nil)
	w.do(http.MethodPut, "/faults", map[string]any{"stallHistoryAfterBytes": 10}, nil)
	c := w.newClient()
	c.ManualHistorySyncDownload = true
	c.link(gateway)
	left := expect(c, func(m *events.Message) bool {
		return m.Message.GetProtocolMessage().GetHistorySyncNotification().GetDirectPath() != ""
	}).Message.GetProtocolMessage().GetHistorySyncNotification()
	ctx, cancel := context.WithTimeout(t.Context(), moment)
	defer cancel()
	if _, err := c.Download(ctx, left); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the history came: %v", err)
	}
	w.do(http.MethodPut, "/faults", map[string]any{}, nil)
	if _, err := c.Download(t.Context(), left); err != nil {
		t.Error(err)
	}
}

func TestMediaIsLargerThanItsMessageSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	up := c.upload(make([]byte, 1000), whatsmeow.MediaImage)
	w.do(http.MethodPut, "/faults", map[string]any{"mediaPaddingBytes": 3_000_000}, nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox"+up.DirectPath, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.dial.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || len(body) < 3_001_000 || int64(len(body)) != response.ContentLength {
		t.Errorf("%d bytes, %d announced, %v", len(body), response.ContentLength, err)
	}
	if _, err := c.Download(t.Context(), proto.CloneOf(imageMessage(up, "").GetImageMessage())); err == nil {
		t.Error("the client takes it")
	}
}
