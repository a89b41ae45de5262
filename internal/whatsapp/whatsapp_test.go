package whatsapp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/testkit/leak"
	"github.com/recado-project/recado/internal/whatsapp"
)

func TestMain(m *testing.M) {
	leak.Check(m)
}

const patience = 30 * time.Second

// recorded is one call of a session to its lifecycle or its receiver.
type recorded struct {
	what    string
	code    gateway.QRCode
	device  string
	profile gateway.Profile
	reason  gateway.Reason
	message gateway.Message
	change  gateway.Change
	vote    gateway.PollVote
	receipt gateway.Receipt

	presence    gateway.ContactPresence
	group       gateway.GroupChange
	contact     gateway.ContactChange
	call        gateway.Call
	callEnd     gateway.CallEnd
	restriction gateway.Restriction
	history     []gateway.Message
	why         error
}

// recorder takes the calls of a session and passes them on, in order.
type recorder struct {
	calls chan recorded

	mu sync.Mutex
	// refuse is how many calls of a kind are to be refused before one is kept.
	refuse map[string]int
	// sent are the payloads that SentPayload finds.
	sent map[string][]byte
}

func newRecorder() *recorder {
	return &recorder{calls: make(chan recorded, 10_000), refuse: map[string]int{}, sent: map[string][]byte{}}
}

// refuseNext lets the next call of that kind fail.
func (e *recorder) refuseNext(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse[what]++
}

// keep passes a call on, or refuses it.
func (e *recorder) keep(call recorded) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refuse[call.what] > 0 {
		e.refuse[call.what]--
		call.what += " refused"
		e.calls <- call
		return errors.New("the disk is full")
	}
	e.calls <- call
	return nil
}

func (e *recorder) CodeShown(_ context.Context, code gateway.QRCode) {
	e.calls <- recorded{what: "code", code: code}
}
func (e *recorder) CodesExpired(context.Context) { e.calls <- recorded{what: "codes expired"} }

func (e *recorder) PasskeyChanged(_ context.Context, question gateway.PasskeyQuestion) {
	e.calls <- recorded{what: "passkey " + string(question.State)}
}

func (e *recorder) Pairing(_ context.Context, device string) error {
	e.calls <- recorded{what: "pairing", device: device}
	return nil
}
func (e *recorder) Paired(context.Context)        { e.calls <- recorded{what: "paired"} }
func (e *recorder) PairingFailed(context.Context) { e.calls <- recorded{what: "pairing failed"} }
func (e *recorder) Connected(_ context.Context, profile gateway.Profile) error {
	e.calls <- recorded{what: "connected", profile: profile}
	return nil
}

func (e *recorder) ProfileChanged(_ context.Context, profile gateway.Profile) {
	e.calls <- recorded{what: "profile", profile: profile}
}
func (e *recorder) PictureChanged(context.Context, string) { e.calls <- recorded{what: "picture"} }
func (e *recorder) ConnectionLost(context.Context, error)  { e.calls <- recorded{what: "lost"} }
func (e *recorder) Refused(_ context.Context, reason gateway.Reason) {
	e.calls <- recorded{what: "refused", reason: reason}
}

func (e *recorder) Outdated(_ context.Context, why error) {
	e.calls <- recorded{what: "outdated", why: why}
}
func (e *recorder) LoggedOut(context.Context) { e.calls <- recorded{what: "logged out"} }

func (e *recorder) Receive(_ context.Context, incoming gateway.Incoming) error {
	switch incoming := incoming.(type) {
	case gateway.Message:
		return e.keep(recorded{what: "message", message: incoming})
	case gateway.Change:
		return e.keep(recorded{what: "change", change: incoming})
	case gateway.PollVote:
		return e.keep(recorded{what: "vote", vote: incoming})
	case gateway.Receipt:
		return e.keep(recorded{what: "receipt", receipt: incoming})
	case gateway.ContactPresence:
		return e.keep(recorded{what: "presence", presence: incoming})
	case gateway.GroupChange:
		return e.keep(recorded{what: "group", group: incoming})
	case gateway.ContactChange:
		return e.keep(recorded{what: "contact", contact: incoming})
	case gateway.Call:
		return e.keep(recorded{what: "call", call: incoming})
	case gateway.CallEnd:
		return e.keep(recorded{what: "end of a call", callEnd: incoming})
	case gateway.Restriction:
		return e.keep(recorded{what: "restricted", restriction: incoming})
	case gateway.History:
		return e.keep(recorded{what: "history", history: incoming})
	case gateway.ChatUpdate, gateway.ChatArrangements:
		return nil // the tests of the whole program look at them
	default:
		return fmt.Errorf("received a %T", incoming)
	}
}

func (e *recorder) SentPayload(_ context.Context, chat gateway.JID, platformID string) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	payload, ok := e.sent[string(chat)+"/"+platformID]
	return payload, ok
}

// next returns the next call, whatever it is.
func (e *recorder) next(t *testing.T) recorded {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case call := <-e.calls:
		return call
	case <-timer.C:
		t.Fatal("waited in vain for anything")
		return recorded{}
	}
}

// await returns the next call of that kind; others before it are passed over.
func (e *recorder) await(t *testing.T, what string) recorded {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case call := <-e.calls:
			if call.what == what {
				return call
			}
		case <-timer.C:
			t.Fatalf("waited in vain for %q", what)
		}
	}
}

// testOutput is the test's own, until it is over: goroutines of whatsmeow may
// still say something afterwards, for which there is no place any more.
type testOutput struct {
	mu   sync.Mutex
	to   io.Writer
	over bool
}

func newTestOutput(t *testing.T) *testOutput {
	t.Helper()
	output := &testOutput{to: t.Output()}
	t.Cleanup(func() {
		output.mu.Lock()
		defer output.mu.Unlock()
		output.over = true
	})
	return output
}

func (o *testOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return len(p), nil
	}
	return o.to.Write(p)
}

// world is a sandbox and a connector on it.
type world struct {
	box       *sandbox.Server
	connector *whatsapp.Connector
	conns     *atomic.Int64 // that the platform got
	keys      *store.Store
}

func newWorld(t *testing.T, config whatsapp.Config) world {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(newTestOutput(t), nil))
	box, err := sandbox.New(t.Context(), sandbox.Config{
		Path: filepath.Join(t.TempDir(), "sandbox.db"), Seed: &[32]byte{1}, ReadDelay: time.Millisecond, Logger: quiet,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- box.Run(ctx) }()
	conns := new(atomic.Int64)
	web := httptest.NewUnstartedServer(box.Handler(scan.None{}))
	web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	web.Start()
	t.Cleanup(func() {
		cancel()
		web.Close()
		if err := errors.Join(<-ran, box.Close()); err != nil {
			t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})

	kept, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	rootKey := box.RootKey()
	config.PlatformURL, config.RootKey = "ws://"+web.Listener.Addr().String(), &rootKey
	config.ReconnectMin, config.ReconnectMax = time.Millisecond, 50*time.Millisecond
	if config.Logger == nil {
		config.Logger = quiet
	}
	config.Keys = kept.Devices
	connector, err := whatsapp.New(config)
	if err != nil {
		t.Fatal(err)
	}
	looking := make(chan error, 1)
	go func() { looking <- connector.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-looking; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(connector.Close)
	return world{box: box, connector: connector, conns: conns, keys: kept}
}

// open opens a session and starts it.
func (w world) open(t *testing.T, device string) (gateway.SupervisedSession, *recorder) {
	t.Helper()
	e := newRecorder()
	session, err := w.connector.Open(t.Context(), gateway.Instance{ID: instanceID, Device: device}, e, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	session.Start()
	return session, e
}

const (
	instanceID = "0199a0c4-7f6e-7000-8000-000000000001"

	ownNumber  = "5511999990100"
	peerNumber = "5511988887766"
)

// link opens a session and links it to the phone of ownNumber.
func (w world) link(t *testing.T) (session gateway.SupervisedSession, e *recorder, device string) {
	t.Helper()
	session, e = w.open(t, "")
	if err := w.box.Linking.Scan(t.Context(), ownNumber, e.await(t, "code").code.Code); err != nil {
		t.Fatal(err)
	}
	device = e.await(t, "pairing").device
	e.await(t, "paired")
	e.await(t, "connected")
	return session, e, device
}

func (w world) send(t *testing.T, session gateway.SupervisedSession, text string) (id string, err error) {
	t.Helper()
	return w.sendTo(t, session, peerNumber, text)
}

func (w world) sendTo(t *testing.T, session gateway.SupervisedSession, number, text string) (id string, err error) {
	t.Helper()
	payload, err := w.connector.Encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	id = w.connector.Encoder.NewMessageID()
	_, err = session.Messages().Send(t.Context(), gateway.Outgoing{
		PlatformID: id, Chat: gateway.JID(number + "@" + gateway.PersonalSuffix), Payload: payload,
	})
	return id, err
}
