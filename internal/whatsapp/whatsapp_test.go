package whatsapp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/whatsapp"
)

func TestMain(m *testing.M) {
	// whatsmeow leaves its reader behind where a frame arrives in the moment in
	// which the connection is closed from this side.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"))
}

const patience = 30 * time.Second

// heard is one call of a session to its lifecycle or its receiver.
type heard struct {
	what    string
	code    gateway.QRCode
	device  string
	profile gateway.Profile
	reason  gateway.Reason
	message gateway.Message
	change  gateway.Change
	receipt gateway.Receipt

	presence    gateway.ContactPresence
	group       gateway.GroupChange
	contact     gateway.ContactChange
	call        gateway.Call
	restriction gateway.Restriction
	history     []gateway.Message
}

// ear hears a session and passes on what it hears, in order.
type ear struct {
	calls chan heard

	mu sync.Mutex
	// refuse is how many calls of a kind are to be refused before one is kept.
	refuse map[string]int
	// sent are the payloads that SentPayload finds.
	sent map[string][]byte
}

func newEar() *ear {
	return &ear{calls: make(chan heard, 10_000), refuse: map[string]int{}, sent: map[string][]byte{}}
}

// refuseNext lets the next call of that kind fail.
func (e *ear) refuseNext(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse[what]++
}

// keep passes a call on, or refuses it.
func (e *ear) keep(call heard) error {
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

func (e *ear) CodeShown(_ context.Context, code gateway.QRCode) {
	e.calls <- heard{what: "code", code: code}
}
func (e *ear) CodesExpired(context.Context) { e.calls <- heard{what: "codes expired"} }
func (e *ear) Pairing(_ context.Context, device string) error {
	e.calls <- heard{what: "pairing", device: device}
	return nil
}
func (e *ear) Paired(context.Context)        { e.calls <- heard{what: "paired"} }
func (e *ear) PairingFailed(context.Context) { e.calls <- heard{what: "pairing failed"} }
func (e *ear) Connected(_ context.Context, profile gateway.Profile) error {
	e.calls <- heard{what: "connected", profile: profile}
	return nil
}

func (e *ear) ProfileChanged(_ context.Context, profile gateway.Profile) {
	e.calls <- heard{what: "profile", profile: profile}
}
func (e *ear) PictureChanged(context.Context, string) { e.calls <- heard{what: "picture"} }
func (e *ear) ConnectionLost(context.Context, error)  { e.calls <- heard{what: "lost"} }
func (e *ear) Refused(_ context.Context, reason gateway.Reason) {
	e.calls <- heard{what: "refused", reason: reason}
}
func (e *ear) LoggedOut(context.Context) { e.calls <- heard{what: "logged out"} }

func (e *ear) Receive(_ context.Context, incoming gateway.Incoming) error {
	switch incoming := incoming.(type) {
	case gateway.Message:
		return e.keep(heard{what: "message", message: incoming})
	case gateway.Change:
		return e.keep(heard{what: "change", change: incoming})
	case gateway.Receipt:
		return e.keep(heard{what: "receipt", receipt: incoming})
	case gateway.ContactPresence:
		return e.keep(heard{what: "presence", presence: incoming})
	case gateway.GroupChange:
		return e.keep(heard{what: "group", group: incoming})
	case gateway.ContactChange:
		return e.keep(heard{what: "contact", contact: incoming})
	case gateway.Call:
		return e.keep(heard{what: "call", call: incoming})
	case gateway.Restriction:
		return e.keep(heard{what: "restricted", restriction: incoming})
	case gateway.History:
		return e.keep(heard{what: "history", history: incoming})
	default:
		return fmt.Errorf("received a %T", incoming)
	}
}

func (e *ear) SentPayload(_ context.Context, chat gateway.JID, platformID string) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	payload, ok := e.sent[string(chat)+"/"+platformID]
	return payload, ok
}

// next returns the next call, whatever it is.
func (e *ear) next(t *testing.T) heard {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case call := <-e.calls:
		return call
	case <-timer.C:
		t.Fatal("waited in vain for anything")
		return heard{}
	}
}

// await returns the next call of that kind; others before it are passed over.
func (e *ear) await(t *testing.T, what string) heard {
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
	web := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		cancel()
		web.Close()
		if err := errors.Join(<-ran, box.Close()); err != nil {
			t.Error(err)
		}
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})

	db, err := sqlite.OpenPool(t.Context(), filepath.Join(t.TempDir(), "sessions.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	rootKey := box.RootKey()
	config.PlatformURL, config.RootKey = "ws://"+web.Listener.Addr().String(), &rootKey
	config.ReconnectMin, config.ReconnectMax = time.Millisecond, 50*time.Millisecond
	if config.Logger == nil {
		config.Logger = quiet
	}
	config.DB, config.Dialect = db, whatsapp.SQLite
	connector, err := whatsapp.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connector.Close)
	return world{box: box, connector: connector}
}

// open opens a session and starts it.
func (w world) open(t *testing.T, device string) (gateway.Session, *ear) {
	t.Helper()
	e := newEar()
	session, err := w.connector.Open(t.Context(), device, e, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	session.Start()
	return session, e
}

const (
	ownNumber  = "5511999990100"
	peerNumber = "5511988887766"
)

// link opens a session and links it to the phone of ownNumber.
func (w world) link(t *testing.T) (session gateway.Session, e *ear, device string) {
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

func (w world) send(t *testing.T, session gateway.Session, text string) (id string, err error) {
	t.Helper()
	return w.sendTo(t, session, peerNumber, text)
}

func (w world) sendTo(t *testing.T, session gateway.Session, number, text string) (id string, err error) {
	t.Helper()
	payload, err := w.connector.Encode(gateway.Content{Type: gateway.TypeText, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	id = session.NewMessageID()
	_, err = session.Send(t.Context(), gateway.Outgoing{
		PlatformID: id, Chat: gateway.PersonalJID(number), Payload: payload,
	})
	return id, err
}

func TestSessionLinksByScan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e := w.open(t, "")
	if session.Linked() {
		t.Error("linked before anybody scanned")
	}
	shown := e.await(t, "code").code
	if shown.Attempt != 1 || time.Until(shown.ExpiresAt) < 50*time.Second {
		t.Errorf("first code: attempt %d, expires in %s", shown.Attempt, time.Until(shown.ExpiresAt))
	}
	if err := w.box.Linking.Scan(t.Context(), ownNumber, shown.Code); err != nil {
		t.Fatal(err)
	}
	e.await(t, "pairing")
	e.await(t, "paired")
	profile := e.await(t, "connected").profile
	if profile.JID != gateway.PersonalJID(ownNumber) || !profile.LID.IsLID() {
		t.Errorf("profile %+v", profile)
	}
	if !session.Linked() || session.Self().JID != profile.JID {
		t.Errorf("linked %v, self %+v", session.Linked(), session.Self())
	}
	if name := e.await(t, "profile").profile.Name; name == "" {
		t.Error("the account's name did not arrive")
	}
}

func TestSessionLinksByPairingCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e := w.open(t, "")
	e.await(t, "code")
	code, err := session.PairingCode(t.Context(), ownNumber)
	if err != nil {
		t.Fatal(err)
	}
	if len(code.Code) != 8 || time.Until(code.ExpiresAt) < 2*time.Minute {
		t.Errorf("code of %d characters, expires in %s", len(code.Code), time.Until(code.ExpiresAt))
	}
	if err := w.box.Linking.EnterCode(t.Context(), ownNumber, code.Code); err != nil {
		t.Fatal(err)
	}
	if profile := e.await(t, "connected").profile; profile.JID != gateway.PersonalJID(ownNumber) {
		t.Errorf("profile %+v", profile)
	}
}

func TestSessionShowsCodesUntilTheyRunOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{FirstCode: time.Millisecond, NextCodes: time.Millisecond})
	_, e := w.open(t, "")
	for attempt := 1; attempt <= 6; attempt++ {
		if got := e.await(t, "code").code.Attempt; got != attempt {
			t.Fatalf("attempt %d, want %d", got, attempt)
		}
	}
	e.await(t, "codes expired")
}

func TestSessionComesBackWithItsKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, device := w.link(t)
	session.Close()
	again, e := w.open(t, device)
	if !again.Linked() {
		t.Fatal("the keys are gone")
	}
	if profile := e.await(t, "connected").profile; profile.JID != gateway.PersonalJID(ownNumber) {
		t.Errorf("profile %+v", profile)
	}
}

func TestForgottenKeysAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, device := w.link(t)
	session.Close()
	for range 2 { // twice is no error
		if err := w.connector.Forget(t.Context(), device); err != nil {
			t.Fatal(err)
		}
	}
	again, e := w.open(t, device)
	if again.Linked() {
		t.Error("the keys are still there")
	}
	e.await(t, "code")
}

func TestTextReachesThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	id, err := w.send(t, session, "Oi, tudo bem?")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []gateway.MessageStatus{gateway.MessageDelivered, gateway.MessageRead} {
		receipt := e.await(t, "receipt").receipt
		if receipt.Status != want || receipt.MessageIDs[0] != id || !receipt.Chat.Is(gateway.PersonalJID(peerNumber)) {
			t.Errorf("receipt %+v, want %s", receipt, want)
		}
	}
	messages, err := w.box.Phones.Messages(t.Context(), peerNumber, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(messages) != 1 || messages[0].MessageID != id || messages[0].Text != "Oi, tudo bem?" {
		t.Errorf("the phone has %+v", messages)
	}
}

func TestTextOfAPhoneArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	id, err := w.box.Phones.SendMessage(t.Context(), peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "Bom dia"})
	if err != nil {
		t.Fatal(err)
	}
	message := e.await(t, "message").message
	if message.PlatformID != id || message.Text != "Bom dia" || message.Type != gateway.TypeText || message.FromMe {
		t.Errorf("message %+v", message)
	}
	for _, party := range []gateway.Party{message.Chat, message.Sender} {
		if party.JID != gateway.PersonalJID(peerNumber) || !party.LID.IsLID() {
			t.Errorf("party %+v", party)
		}
	}
}

// The platform is told "received" only after the message was kept: one that
// could not be comes again, with its text, over the next connection.
func TestMessageThatWasNotKeptComesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	e.refuseNext("message")
	id, err := w.box.Phones.SendMessage(t.Context(), peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "Bom dia"})
	if err != nil {
		t.Fatal(err)
	}
	first := e.await(t, "message refused").message
	second := e.await(t, "message").message
	if second.PlatformID != id || second.Text != "Bom dia" || second.WireKey != first.WireKey {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

func TestSessionComesBackAfterACut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	for range 3 {
		if err := w.box.Sessions.Disconnect(t.Context(), ownNumber); err != nil {
			t.Fatal(err)
		}
		e.await(t, "lost")
		e.await(t, "connected")
	}
	if _, err := w.send(t, session, "still here"); err != nil {
		t.Error(err)
	}
}

func TestSessionHearsWhyItIsRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		do     func(ctx context.Context, box *sandbox.Server) error
		reason gateway.Reason
	}{
		"replaced": {func(ctx context.Context, box *sandbox.Server) error {
			return box.Sessions.Replace(ctx, ownNumber)
		}, gateway.ReasonReplaced},
		"banned for a while": {func(ctx context.Context, box *sandbox.Server) error {
			return box.Sessions.Ban(ctx, ownNumber, time.Hour)
		}, gateway.ReasonBanned},
		"banned for good": {func(ctx context.Context, box *sandbox.Server) error {
			return box.Sessions.Ban(ctx, ownNumber, 0)
		}, gateway.ReasonBanned},
		"client outdated": {func(ctx context.Context, box *sandbox.Server) error {
			return errors.Join(box.Faults.Set(fault.Faults{Outdated: true}), box.Sessions.Disconnect(ctx, ""))
		}, gateway.ReasonClientOutdated},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, whatsapp.Config{})
			_, e, _ := w.link(t)
			if err := c.do(t.Context(), w.box); err != nil {
				t.Fatal(err)
			}
			if got := e.await(t, "refused").reason; got != c.reason {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
		})
	}
}

func TestSessionIsUnlinkedOnThePhone(t *testing.T) {
	t.Parallel()
	t.Run("while it is up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, whatsapp.Config{})
		_, e, _ := w.link(t)
		if err := w.box.Linking.Unlink(t.Context(), ownNumber); err != nil {
			t.Fatal(err)
		}
		e.await(t, "logged out")
	})
	t.Run("while it is away", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, whatsapp.Config{})
		session, _, device := w.link(t)
		session.Close()
		if err := w.box.Linking.Unlink(t.Context(), ownNumber); err != nil {
			t.Fatal(err)
		}
		_, e := w.open(t, device)
		e.await(t, "logged out")
	})
}

func TestLogoutRemovesTheDeviceFromThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, _ := w.link(t)
	if err := session.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	phone, err := w.box.Profiles.Get(t.Context(), ownNumber)
	if err != nil {
		t.Fatal(err)
	}
	if len(phone.Devices) != 0 {
		t.Errorf("the phone still lists %v", phone.Devices)
	}
}

func TestSendSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		faults fault.Faults
		kind   gateway.Kind
		code   string
	}{
		"restricted": {fault.Faults{SendError: 463}, gateway.RateLimited, gateway.CodeRecipientRestricted},
		"too many":   {fault.Faults{SendError: 429}, gateway.RateLimited, gateway.CodeRateLimited},
		"refused":    {fault.Faults{SendError: 479}, gateway.PlatformFailed, gateway.CodePlatformError},
		"no answer":  {fault.Faults{DropAcks: 1}, gateway.PlatformTimeout, gateway.CodePlatformTimeout},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, whatsapp.Config{SendTimeout: 500 * time.Millisecond})
			session, _, _ := w.link(t)
			if err := w.box.Faults.Set(c.faults); err != nil {
				t.Fatal(err)
			}
			_, err := w.send(t, session, "Oi")
			refusal, ok := errors.AsType[*gateway.Error](err)
			if !ok || refusal.Kind != c.kind || refusal.Code != c.code {
				t.Errorf("answered %v, want %s", err, c.code)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, whatsapp.Config{})
		session, _, _ := w.link(t)
		session.Close()
		if _, err := w.send(t, session, "Oi"); gateway.KindOf(err) != gateway.Conflict {
			t.Errorf("answered %v", err)
		}
	})
}

func TestResolveKeepsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, _ := w.link(t)
	numbers := []string{"5511988887766", "5511988880000", "551188887766", "5511977776655"}
	got, err := session.Resolve(t.Context(), numbers)
	if err != nil {
		t.Fatal(err)
	}
	// The last digit decides which form a Brazilian account exists under: even
	// with the ninth digit, odd without.
	want := []gateway.JID{
		"5511988887766@s.whatsapp.net", "", "5511988887766@s.whatsapp.net", "551177776655@s.whatsapp.net",
	}
	for i, registration := range got {
		if registration.Number != numbers[i] || registration.JID != want[i] || registration.Exists != (want[i] != "") {
			t.Errorf("%d: %+v, want %q", i, registration, want[i])
		}
	}
}

// Writing to somebody while that somebody writes: whatsmeow would let a message
// that is decrypted put back the key that the one being encrypted has used, and
// then two messages carry the same key and one of them can't be read.
func TestSendingWhileReceivingKeepsEveryMessageReadable(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	w := newWorld(t, whatsapp.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	session, e, _ := w.link(t)
	const messages, talker = 150, "5511988880001" // answers every text with the same text
	send := func(text string) {
		payload, err := w.connector.Encode(gateway.Content{Type: gateway.TypeText, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		out := gateway.Outgoing{PlatformID: session.NewMessageID(), Chat: gateway.PersonalJID(talker), Payload: payload}
		if _, err := session.Send(t.Context(), out); err != nil {
			t.Fatal(err)
		}
	}
	// One exchange first: two sides that both start a session are another story.
	send("hello")
	e.await(t, "message")
	go func() {
		for {
			select {
			case <-e.calls: // nobody else listens
			case <-t.Context().Done():
				return
			}
		}
	}()
	var group sync.WaitGroup
	defer group.Wait()
	for range 4 {
		group.Go(func() {
			for n := range messages {
				text := content.Outgoing{To: ownNumber, Type: "text", Text: strconv.Itoa(n)}
				if _, err := w.box.Phones.SendMessage(t.Context(), talker, text); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range messages {
		send(strconv.Itoa(n))
	}
	deadline := time.Now().Add(patience)
	for {
		shown, err := w.box.Phones.Messages(t.Context(), talker, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(shown) == 2+6*messages { // ours, their echoes, and four times what it says by itself
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the phone shows %d messages, want %d; the log: %s", len(shown), 2+6*messages, log.String())
		}
	}
	if strings.Contains(log.String(), "could not decrypt") {
		t.Error("a message was sent twice, because the phone could not decrypt it")
	}
}

// lockedBuffer is a buffer that several goroutines write to.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
