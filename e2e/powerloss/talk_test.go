//go:build linux

package powerloss_test

import (
	"fmt"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// The power fails right after each message that was acknowledged, in a conversation whose
// keys change with every message. If a key was used twice, the phone could not read the
// message.
func TestConversation(t *testing.T) {
	t.Parallel()
	const rounds = 2
	w := newWorld(t)
	to := customer(0)
	w.phones.AwaitMessage(t, to, w.send(to, "before").MessageID)
	w.receive(to, "before")
	w.restart() // the current keys of the conversation are on the disk

	for n := range rounds {
		text := fmt.Sprintf("answer %d", n)
		sent := w.send(to, text)
		w.cutPower()
		// The gateway can't encrypt it again, so the phone has read what was sent first.
		w.phones.AwaitMessage(t, to, sent.MessageID)
		w.disk.Restart(disk.Survivors{})
		w.start()
		w.awaitConnected()
		again := w.send(to, text)
		if !again.IdempotencyReplayed || again.MessageID != sent.MessageID || again.ID != sent.ID {
			t.Errorf("%q was sent as %+v, and known as %+v after the loss", text, sent, again)
		}
		if n%2 == 1 { // otherwise the next message uses the same chain of keys
			w.receive(to, fmt.Sprintf("question %d", n))
			w.losePower(disk.Survivors{})
			w.awaitConnected()
		}
	}
	last := w.send(to, "with a misteak")
	w.losePower(disk.Survivors{})
	w.awaitConnected()
	if _, err := w.client.EditMessage(t.Context(), w.instance, client.EditMessage{MessageID: last.MessageID, Message: "with a mistake"}); err != nil {
		t.Errorf("edit a message of before the loss: %v", err)
	}
	w.losePower(disk.Survivors{})
	w.awaitConnected()
	await.Until(t, "the edited message", func() bool {
		return w.phones.AwaitMessage(t, to, last.MessageID).Text == "with a mistake"
	})
	w.checkLog()
}

// receive makes a customer write, and waits until the webhook has it.
func (w *world) receive(from, text string) {
	w.t.Helper()
	w.awaitReceived(w.phones.SendText(w.t, from, shop, text))
}

// awaitReceived waits until the webhook has a message.
func (w *world) awaitReceived(messageID string) {
	w.t.Helper()
	w.sink.AwaitType("message.received", func(d sink.Delivered) bool {
		id, _ := about(w.t, d.Event)
		return id == messageID
	})
}

// checkLog reads the whole log: its sequence has no gap, and every event that
// was delivered is in it under its own number.
func (w *world) checkLog() {
	w.t.Helper()
	delivered := w.sink.Delivered()
	var last int64
	for _, d := range delivered {
		last = max(last, d.Event.Sequence)
	}
	stream, err := w.client.Events(w.t.Context(), w.instance, client.EventsParams{After: new(int64(0))})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	log := map[int64]string{}
	for n := int64(1); n <= last; n++ {
		event, err := stream.Next()
		if err != nil {
			w.t.Fatalf("after event %d of %d: %v", n-1, last, err)
		}
		if event.Sequence != n {
			w.t.Fatalf("event %d follows event %d", event.Sequence, n-1)
		}
		log[n] = event.ID
	}
	for _, d := range delivered {
		if log[d.Event.Sequence] != d.Event.ID {
			w.t.Errorf("%s was delivered as event %d, which is %s in the log", d.Event.ID, d.Event.Sequence, log[d.Event.Sequence])
		}
	}
}
