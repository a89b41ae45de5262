//go:build linux

package powerloss_test

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The gateway is killed in the one transaction that a message takes: what it has written
// waits for the disk, which loses all of it, or keeps all of it although nobody was told.
// Message and keys are there together, or neither is: the conversation goes on in both
// directions, and every message is there once.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	const (
		received = "a message that is being kept"
		sent     = "a message that is being sent"
	)
	for name, middle := range cases.Sorted(map[string]func(w *world, to string){
		"of a message that is received": func(w *world, to string) {
			w.phones.SendText(w.t, to, shop, received)
		},
		"of a message that is sent": func(w *world, to string) {
			w.sendInVain(to, sent)
		},
		"of both, with one person": func(w *world, to string) {
			w.phones.SendText(w.t, to, shop, received)
			w.sendInVain(to, sent)
		},
		"of both, the other way round": func(w *world, to string) {
			w.sendInVain(to, sent)
			w.phones.SendText(w.t, to, shop, received)
		},
	}) {
		for survival, survivors := range cases.Sorted(map[string]disk.Survivors{
			"the disk loses it": {}, "the disk keeps it": {Names: 1, Sizes: 1, Pages: 1},
		}) {
			t.Run(name+", "+survival, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				to := customer(0)
				w.phones.AwaitMessage(t, to, w.send(to, "before").MessageID)
				w.receive(to, "an answer from before")
				w.restart() // the current keys of the conversation are on the disk

				w.disk.Cut()
				middle(w, to)
				await.Until(t, "the gateway waits for the disk", func() bool { return w.disk.Held() > 0 })
				w.gateway.Kill()
				if n := w.shown(to, sent); n > 0 {
					t.Errorf("the phone has %q although it was not kept", sent)
				}
				w.disk.Restart(survivors)
				w.start()
				w.awaitConnected()

				// The client repeats its request, and the platform what was not acknowledged.
				w.phones.AwaitMessage(t, to, w.send(to, sent).MessageID)
				w.receive(to, "an answer from after")
				w.phones.AwaitMessage(t, to, w.send(to, "after").MessageID)
				if n := w.shown(to, sent); n != 1 {
					t.Errorf("the phone has %q %d times", sent, n)
				}
				if got, want := w.reported(received), w.shown(to, received); got != want {
					t.Errorf("%q was reported %d times, want %d", received, got, want)
				}
				w.checkLog()
			})
		}
	}
}

// sendInVain sends a text in the background: its request is not answered, because the
// gateway is killed before.
func (w *world) sendInVain(to, text string) {
	go func() {
		_, err := w.client.SendText(w.t.Context(), w.instance, client.Text{To: to, Message: text, IdempotencyKey: text})
		if err == nil {
			w.t.Errorf("%q was answered before it was kept", text)
		}
	}()
}

// shown counts the messages with a text that a phone shows.
func (w *world) shown(number, text string) int {
	w.t.Helper()
	messages := w.phones.Messages(w.t, number, "")
	return len(slices.DeleteFunc(messages, func(m content.Shown) bool { return m.Text != text }))
}

// reported counts the events of messages with a text that were received; an event that was
// delivered twice counts once.
func (w *world) reported(text string) int {
	w.t.Helper()
	events := map[string]bool{}
	for _, d := range w.sink.Delivered() {
		decoded, err := d.Event.Decode()
		if err != nil {
			w.t.Fatal(err)
		}
		if message, ok := decoded.(client.MessageReceivedEvent); ok && message.Text != nil && *message.Text == text {
			events[d.Event.ID] = true
		}
	}
	return len(events)
}
