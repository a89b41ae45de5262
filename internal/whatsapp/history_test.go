package whatsapp_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// awaitHistory collects messages from before the link until there are so many.
func (e *recorder) awaitHistory(t *testing.T, count int) []gateway.Message {
	t.Helper()
	var messages []gateway.Message
	for len(messages) < count {
		messages = append(messages, e.await(t, "history").history...)
	}
	return messages
}

// What the phone had before the link is handed over: the newest messages of each
// chat, under both addresses, as if they had arrived.
func TestHistoryIsHandedOver(t *testing.T) {
	t.Parallel()
	const chats, made, perChat = 3, 40, 10 // too long to come along with its notification
	w := newWorld(t, whatsapp.Config{HistoryPerChat: perChat})
	received := w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "before"})
	w.awaitPhone(t, ownNumber, received)
	sent := w.say(t, ownNumber, content.Outgoing{To: peerNumber, Type: "image", Media: png(t), MimeType: "image/png", Caption: "look"})
	if err := w.box.Phones.SetHistory(t.Context(), ownNumber, account.MadeUpHistory{Chats: chats, Messages: made, Bytes: 1000}); err != nil {
		t.Fatal(err)
	}
	session, e, _ := w.link(t)
	messages := e.awaitHistory(t, 2+chats*perChat)
	byID := map[string]gateway.Message{}
	var last gateway.Message
	for _, message := range messages {
		if message.Chat == last.Chat && message.SentAt.Before(last.SentAt) {
			t.Errorf("%s is older than what came before it", message.PlatformID)
		}
		if message.Chat.JID == "" || message.Chat.LID == "" || message.WireKey == "" || len(message.Payload) == 0 {
			t.Errorf("%+v is incomplete", message)
		}
		byID[message.PlatformID], last = message, message
	}
	if len(byID) != 2+chats*perChat {
		t.Errorf("%d messages were handed over, and %d of them are different", len(messages), len(byID))
	}
	if m := byID[received]; m.Text != "before" || m.FromMe || m.Source != gateway.SourcePeer || !w.isPerson(t, m.Sender, peerNumber) ||
		m.Status != gateway.MessageDelivered {
		t.Errorf("received before: %+v", m)
	}
	if m := byID[sent]; m.Text != "look" || !m.FromMe || m.Source != gateway.SourceDevice || m.Type != gateway.TypeImage ||
		!w.isPerson(t, m.Chat, peerNumber) || !w.isPerson(t, m.Sender, ownNumber) || m.Status < gateway.MessageSent {
		t.Errorf("sent before: %+v", m)
	}
	for _, id := range []string{"OLD0-40", "OLD2-31"} {
		if _, ok := byID[id]; !ok {
			t.Errorf("%s is missing", id)
		}
	}
	session.Close()
	for len(e.calls) > 0 {
		if call := <-e.calls; call.what == "history" {
			t.Errorf("%d messages more", len(call.history))
		}
	}
}

// awaitPhone waits until a phone shows the message.
func (w world) awaitPhone(t *testing.T, number, id string) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		shown, err := w.box.Phones.Messages(t.Context(), number, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, message := range shown {
			if message.MessageID == id {
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("the phone shows %+v", shown)
		}
	}
}

// A history that is too big, or not wanted, is left, and nothing else suffers.
func TestHistoryIsLeftWhereItIs(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]whatsapp.Config{
		"too big":    {HistoryMaxBytes: 1000},
		"not wanted": {HistoryPerChat: -1},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log lockedBuffer
			config.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			w := newWorld(t, config)
			if err := w.box.Phones.SetHistory(t.Context(), ownNumber, account.MadeUpHistory{Chats: 1, Messages: 50, Bytes: 1000}); err != nil {
				t.Fatal(err)
			}
			_, e, _ := w.link(t)
			id := w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "now"})
			if message := e.await(t, "message").message; message.PlatformID != id {
				t.Errorf("arrived as %+v", message)
			}
			deadline := time.NewTimer(patience)
			defer deadline.Stop()
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			said := "history read" // of the first, which is the big one
			if config.HistoryMaxBytes > 0 {
				said = "history not read"
			}
			for !strings.Contains(log.String(), said) {
				select {
				case <-tick.C:
				case <-deadline.C:
					t.Fatalf("nobody was got; the log: %s", log.String())
				}
			}
			if strings.Contains(log.String(), "messages=50") {
				t.Error("it was handed over")
			}
		})
	}
}

// A history that can't be kept is not acknowledged, and breaks nothing.
func TestHistoryThatIsNotKeptBreaksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	if err := w.box.Phones.SetHistory(t.Context(), ownNumber, account.MadeUpHistory{Chats: 2, Messages: 10, Bytes: 10}); err != nil {
		t.Fatal(err)
	}
	session, e := w.open(t, "")
	e.refuseNext("history")
	if err := w.box.Linking.Scan(t.Context(), ownNumber, e.await(t, "code").code.Code); err != nil {
		t.Fatal(err)
	}
	e.await(t, "history refused")
	if _, err := w.send(t, session, "still here"); err != nil {
		t.Error(err)
	}
}

// scale measures the heap while a history is handed over.
type scale struct {
	*recorder
	base     uint64
	peak     atomic.Uint64
	messages atomic.Int64
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func (s *scale) Receive(ctx context.Context, incoming gateway.Incoming) error {
	history, ok := incoming.(gateway.History)
	if !ok {
		return s.recorder.Receive(ctx, incoming)
	}
	s.messages.Add(int64(len(history)))
	if grown := int64(heapInUse()) - int64(s.base); grown > int64(s.peak.Load()) {
		s.peak.Store(uint64(grown))
	}
	return s.recorder.Receive(ctx, history)
}

// A history of tens of megabytes needs a few of them at a time. Nothing runs
// beside this test: it weighs the whole process.
func TestHistoryIsBounded(t *testing.T) { //nolint:paralleltest // see above
	const chats, made, size, perChat = 16, 2000, 1000, 50 // 32 MB of text
	const bound = 16 << 20
	w := newWorld(t, whatsapp.Config{})
	if err := w.box.Phones.SetHistory(t.Context(), ownNumber, account.MadeUpHistory{Chats: chats, Messages: made, Bytes: size}); err != nil {
		t.Fatal(err)
	}
	s := &scale{recorder: newRecorder()}
	session, err := w.connector.Open(t.Context(), gateway.Instance{ID: instanceID}, s, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	session.Start()
	code := s.await(t, "code").code.Code
	s.base = heapInUse()
	if err := w.box.Linking.Scan(t.Context(), ownNumber, code); err != nil {
		t.Fatal(err)
	}
	// The messages are dropped at once: the gateway writes them to its database. The
	// sandbox takes its time to make up a history of that size.
	deadline := time.NewTimer(10 * patience)
	defer deadline.Stop()
	for s.messages.Load() < chats*perChat {
		select {
		case <-s.calls:
		case <-deadline.C:
			t.Fatalf("%d messages were handed over", s.messages.Load())
		}
	}
	if got := s.messages.Load(); got != chats*perChat {
		t.Errorf("%d messages were handed over, want %d", got, chats*perChat)
	}
	t.Logf("a history of %d MiB added %.1f MiB", chats*made*size>>20, float64(s.peak.Load())/(1<<20))
	if peak := s.peak.Load(); peak > bound {
		t.Errorf("the heap grew by %d bytes", peak)
	}
}
