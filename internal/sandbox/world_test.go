package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/scan"
)

// patience bounds every wait of these tests.
const patience = 45 * time.Second

// world is a sandbox under test that can be stopped and started on its file.
type world struct {
	tb      testing.TB
	cfg     sandbox.Config
	server  *sandbox.Server
	web     *httptest.Server
	address atomic.Pointer[string]
	stop    func()
	dial    *http.Client
	allKeys bool // clients upload as many keys as they do at first
}

// newWorld starts a sandbox. Phones read after a short moment, unless set changes
// that.
func newWorld(tb testing.TB, set ...func(*sandbox.Config)) *world {
	tb.Helper()
	w := &world{tb: tb, cfg: sandbox.Config{
		Path: filepath.Join(tb.TempDir(), "sandbox.db"), Seed: seed(), ReadDelay: 30 * time.Millisecond, Logger: testLogger(tb),
	}}
	for _, change := range set {
		change(&w.cfg)
	}
	w.dial = w.client()
	w.start()
	tb.Cleanup(func() {
		w.down()
		w.dial.CloseIdleConnections()
	})
	return w
}

// client returns an HTTP client that reaches the sandbox under every name, wherever
// it listens at the time.
func (w *world) client() *http.Client {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := w.address.Load()
		if address == nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("the sandbox is down")}
		}
		return (&net.Dialer{}).DialContext(ctx, network, *address)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
}

// start starts the sandbox on its file.
func (w *world) start() {
	w.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := sandbox.New(ctx, w.cfg)
	if err != nil {
		w.tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	w.server, w.web = server, httptest.NewServer(server.Handler(scan.None{}))
	address := w.web.Listener.Addr().String()
	w.address.Store(&address)
	w.stop = func() {
		w.address.Store(nil)
		cancel()
		if err := <-ended; err != nil {
			w.tb.Errorf("run: %v", err)
		}
		w.web.CloseClientConnections()
		w.dial.CloseIdleConnections()
		w.web.Close()
		if err := server.Close(); err != nil {
			w.tb.Errorf("close: %v", err)
		}
	}
}

// down stops the sandbox. A second call does nothing.
func (w *world) down() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// call makes a request to the control API and returns its status. It decodes the
// answer into out, if out is not nil.
func (w *world) call(method, path string, body, out any) int {
	w.tb.Helper()
	var payload io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			w.tb.Fatal(err)
		}
		payload = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://sandbox/sandbox/api"+path, payload)
	if err != nil {
		w.tb.Fatal(err)
	}
	response, err := w.dial.Do(request)
	if err != nil {
		w.tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		w.tb.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			w.tb.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return response.StatusCode
}

// do makes a request to the control API that must succeed.
func (w *world) do(method, path string, body, out any) {
	w.tb.Helper()
	var answer json.RawMessage
	target := any(&answer)
	if out == nil {
		target = nil
	}
	if status := w.call(method, path, body, target); status/100 != 2 {
		w.tb.Fatalf("%s %s: %d", method, path, status)
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// messages returns the messages that a phone shows.
func (w *world) messages(number string) []content.Shown {
	w.tb.Helper()
	var list struct{ Data []content.Shown }
	w.do(http.MethodGet, "/phones/"+number+"/messages", nil, &list)
	return list.Data
}

// message waits until the phone shows the message and want accepts it.
func (w *world) message(number, id string, want func(content.Shown) bool) content.Shown {
	w.tb.Helper()
	var last []content.Shown
	var found content.Shown
	w.until(fmt.Sprintf("phone %s shows %s", number, id), func() bool {
		last = w.messages(number)
		for _, m := range last {
			if m.MessageID == id && want(m) {
				found = m
				return true
			}
		}
		return false
	}, func() any { return last })
	return found
}

// activity waits for an entry that want accepts.
func (w *world) activity(number string, want func(account.Activity) bool) {
	w.tb.Helper()
	var list struct{ Data []account.Activity }
	w.until("phone "+number+" saw it", func() bool {
		w.do(http.MethodGet, "/phones/"+number+"/activity", nil, &list)
		return slices.ContainsFunc(list.Data, want)
	}, func() any { return list.Data })
}

// send lets a phone send a text and returns its ID.
func (w *world) send(number, to, text string) string {
	w.tb.Helper()
	var answer struct{ MessageID string }
	w.do(http.MethodPost, "/phones/"+number+"/messages", map[string]string{"to": to, "type": "text", "text": text}, &answer)
	return answer.MessageID
}

// until polls for a condition, because the server does not signal it. It shows
// state if the condition does not become true.
func (w *world) until(what string, ok func() bool, state func() any) {
	w.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			w.tb.Fatalf("waited in vain: %s; last seen: %+v", what, state())
		case <-tick.C:
		}
	}
}

// chatPath is the path of an operation on a message, or of the message itself if
// verb is empty.
func chatPath(number, id, verb string) string {
	path := "/phones/" + number + "/messages/" + url.PathEscape(id)
	if verb == "" {
		return path
	}
	return path + "/" + verb
}
