package sandbox_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// Connections are cut and the sandbox is stopped. Every accepted message is shown
// once, and every message of a phone arrives. It may arrive twice only if the
// client's acknowledgement was cut off.
func TestNothingIsLostWhileConnectionsBreak(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().reconnectItself().link(gateway)
	c.text(friend, "first")
	const count = 60
	accepted := map[string]bool{}
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range count {
			c.online()
			text := fmt.Sprint("out ", i)
			if _, err := c.tryText(friend, text); err == nil {
				accepted[text] = true
			}
		}
	})
	for i := range count {
		w.send(other, gateway, fmt.Sprint("in ", i))
		switch i {
		case 15, 45:
			w.do(http.MethodPost, "/faults/disconnect", nil, nil)
		case 30:
			w.down()
			w.start()
		}
	}
	sending.Wait()
	for i := range count {
		c.got(fmt.Sprint("in ", i))
	}
	times := map[string]int{}
	for _, m := range seen[*events.Message](c) {
		times[m.Message.GetConversation()]++
	}
	for i := range count {
		if text := fmt.Sprint("in ", i); times[text] < 1 || times[text] > 2 {
			t.Errorf("%q came %d times", text, times[text])
		}
	}
	// Messages that were not acknowledged may be shown too, so that counting them
	// proves nothing.
	w.until("the phone shows what was accepted", func() bool {
		shown := texts(w.messages(friend))
		return !slices.ContainsFunc(slices.Collect(maps.Keys(accepted)), func(text string) bool { return !slices.Contains(shown, text) })
	}, func() any { return texts(w.messages(friend)) })
	shown := map[string]int{}
	for _, text := range texts(w.messages(friend)) {
		shown[text]++
	}
	for text := range cases.Sorted(accepted) {
		if shown[text] != 1 {
			t.Errorf("%q is shown %d times", text, shown[text])
		}
	}
	if len(accepted) < count/2 {
		t.Errorf("only %d of %d were accepted", len(accepted), count)
	}
}

func TestEchoingPhonesDoNotAnswerEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send("4915100000001", "4915200000001", "hello")
	id := w.send(friend, "4915200000001", "and you")
	w.message("4915200000001", id, anyMessage)
	w.until("the answer is there", func() bool { return len(w.messages(friend)) == 2 }, func() any { return nil })
	if list := texts(w.messages("4915200000001")); len(list) != 3 {
		t.Errorf("it shows %v", list)
	}
}
