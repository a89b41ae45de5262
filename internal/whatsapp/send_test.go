package whatsapp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

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
		if receipt.Status != want || receipt.MessageIDs[0] != id || !receipt.Chat.Is(gateway.JID(peerNumber+"@"+gateway.PersonalSuffix)) {
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

// A message that could not be kept is not sent, to a person or a group, and the next one
// can be read.
func TestNothingIsSentThatIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	team, err := w.box.Groups.Create(t.Context(), group.Draft{
		Subject: "Team", Owner: peerNumber, Members: []group.NewMember{{Number: ownNumber}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	send := func(chat gateway.JID, text string, kept error) (id string, err error) {
		payload, err := w.connector.Encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		id = w.connector.Encoder.NewMessageID()
		_, err = session.Messages().Send(t.Context(), gateway.Outgoing{
			PlatformID: id, Chat: chat, Payload: payload, Stored: func(context.Context) error { return kept },
		})
		return id, err
	}
	full := errors.New("the disk is full")
	for n, chat := range []gateway.JID{gateway.JID(peerNumber + "@" + gateway.PersonalSuffix), gateway.JID(team.ID)} {
		if _, err := send(chat, "not kept", full); err == nil {
			t.Errorf("a message to %s that was not kept was sent", chat)
		}
		id, err := send(chat, "kept", nil)
		if err != nil {
			t.Fatal(err)
		}
		for e.await(t, "receipt").receipt.MessageIDs[0] != id { // those of the one before may come behind
		}
		shown, err := w.box.Phones.Messages(t.Context(), peerNumber, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(shown) != n+1 || slices.ContainsFunc(shown, func(m content.Shown) bool { return m.Text != "kept" }) {
			t.Errorf("after the sends to %s the phone shows %+v", chat, shown)
		}
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
		if party.JID != gateway.JID(peerNumber+"@"+gateway.PersonalSuffix) || !party.LID.IsLID() {
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

func TestSendSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		faults fault.Faults
		kind   gateway.Kind
		code   string
	}{
		"restricted": {fault.Faults{SendError: 463}, gateway.RateLimited, gateway.CodeRecipientRestricted},
		"too many":   {fault.Faults{SendError: 429}, gateway.RateLimited, gateway.CodeRateLimited},
		"refused":    {fault.Faults{SendError: 479}, gateway.PlatformFailed, gateway.CodePlatformError},
		"no answer":  {fault.Faults{DropAcks: 1}, gateway.PlatformTimeout, gateway.CodePlatformTimeout},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := whatsapp.Config{}
			if c.kind == gateway.PlatformTimeout { // the others are answered, however busy the machine is
				config.SendTimeout = 500 * time.Millisecond
			}
			w := newWorld(t, config)
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
	got, err := session.People().Resolve(t.Context(), numbers)
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
	const messages, talker = 40, "5511988880001" // answers every text with the same text
	send := func(text string) {
		payload, err := w.connector.Encoder.Encode(gateway.Content{Type: gateway.TypeText, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		out := gateway.Outgoing{PlatformID: w.connector.Encoder.NewMessageID(), Chat: gateway.JID(talker + "@" + gateway.PersonalSuffix), Payload: payload}
		if _, err := session.Messages().Send(t.Context(), out); err != nil {
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
	var both sync.WaitGroup
	defer both.Wait()
	for range 4 {
		both.Go(func() {
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
