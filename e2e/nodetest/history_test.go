package nodetest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// history records what clients and customers did, and what became of it. It is safe for
// concurrent use.
type history struct {
	mu       sync.Mutex
	accepted map[string][]string // by chat: messages that a node has accepted, in order
	written  map[string][]string // by chat: messages that a customer has sent, in order
}

func newHistory() *history {
	return &history{accepted: map[string][]string{}, written: map[string][]string{}}
}

func (h *history) accept(chat, messageID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.accepted[chat] = append(h.accepted[chat], messageID)
}

func (h *history) write(chat, messageID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written[chat] = append(h.written[chat], messageID)
}

// count is how many messages a chat has.
type count struct{ accepted, written int }

// counts returns how many messages there are by chat.
func (h *history) counts() map[string]count {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := map[string]count{}
	for chat, messages := range h.accepted {
		counts[chat] = count{len(messages), len(h.written[chat])}
	}
	return counts
}

// outcome is what there is in the end, by chat and in order.
type outcome struct {
	phones   map[string][]string // messages on the customers' phones
	sent     map[string][]string // events message.sent that the endpoint has got
	received map[string][]string // events message.received
}

// judge returns what is wrong with an outcome; nothing if all is well. Events may come more
// than once: what counts is their order when they come first.
func (h *history) judge(got outcome) (wrong []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for chat, messages := range h.accepted {
		wrong = append(wrong, missing(chat, "an accepted message is not on the phone", messages, got.phones[chat])...)
		wrong = append(wrong, missing(chat, "an accepted message has no event", messages, got.sent[chat])...)
		if once := firsts(got.phones[chat]); len(once) < len(got.phones[chat]) {
			wrong = append(wrong, fmt.Sprintf("%s: %d messages are on the phone more than once", chat, len(got.phones[chat])-len(once)))
		}
		wrong = append(wrong, reordered(chat, "on the phone", messages, got.phones[chat])...)
		wrong = append(wrong, reordered(chat, "events of sent messages", messages, got.sent[chat])...)
	}
	for chat, messages := range h.written {
		wrong = append(wrong, missing(chat, "a customer's message has no event", messages, got.received[chat])...)
		wrong = append(wrong, reordered(chat, "events of received messages", messages, got.received[chat])...)
	}
	return wrong
}

// firsts returns the values without repetitions.
func firsts(values []string) (once []string) {
	seen := map[string]bool{}
	for _, value := range values {
		if !seen[value] {
			seen[value] = true
			once = append(once, value)
		}
	}
	return once
}

func missing(chat, what string, want, got []string) (wrong []string) {
	for _, message := range want {
		if !slices.Contains(got, message) {
			wrong = append(wrong, chat+": "+what+": "+message)
		}
	}
	return wrong
}

func reordered(chat, what string, want, got []string) []string {
	common := func(of, in []string) []string {
		return slices.DeleteFunc(firsts(of), func(value string) bool { return !slices.Contains(in, value) })
	}
	if a, b := common(want, got), common(got, want); !slices.Equal(a, b) {
		return []string{fmt.Sprintf("%s: %s are in another order: %v instead of %v", chat, what, b, a)}
	}
	return nil
}

// events returns the messages of an endpoint's events of a kind, by chat: each instance has one.
func events(t *testing.T, delivered []sink.Delivered, kind string) map[string][]string {
	t.Helper()
	chats := map[string][]string{}
	for _, d := range delivered {
		if d.Type != kind {
			continue
		}
		var message struct {
			MessageID string `json:"messageId"`
		}
		if err := json.Unmarshal(d.Data, &message); err != nil {
			t.Fatal(err)
		}
		chats[d.InstanceID] = append(chats[d.InstanceID], message.MessageID)
	}
	return chats
}

// The judge finds each thing that can be wrong, and nothing where all is well.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, plant := range cases.Sorted(map[string]struct {
		change func(o *outcome)
		want   string
	}{
		"nothing":                    {func(*outcome) {}, ""},
		"an event comes twice":       {func(o *outcome) { o.sent["a"] = []string{"1", "2", "1", "3"} }, ""},
		"lost on the way":            {func(o *outcome) { o.phones["a"] = []string{"1", "3"} }, "a: an accepted message is not on the phone: 2"},
		"sent twice":                 {func(o *outcome) { o.phones["a"] = []string{"1", "2", "2", "3"} }, "a: 1 messages are on the phone more than once"},
		"another order on the phone": {func(o *outcome) { o.phones["a"] = []string{"2", "1", "3"} }, "a: on the phone are in another order: [2 1 3] instead of [1 2 3]"},
		"an event is lost":           {func(o *outcome) { o.sent["a"] = []string{"1", "2"} }, "a: an accepted message has no event: 3"},
		"events swapped":             {func(o *outcome) { o.sent["a"] = []string{"1", "3", "2"} }, "a: events of sent messages are in another order: [1 3 2] instead of [1 2 3]"},
		"a received event is lost":   {func(o *outcome) { o.received["b"] = []string{"8"} }, "b: a customer's message has no event: 9"},
		"received events swapped":    {func(o *outcome) { o.received["b"] = []string{"9", "8"} }, "b: events of received messages are in another order: [9 8] instead of [8 9]"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory()
			for _, message := range []string{"1", "2", "3"} {
				h.accept("a", message)
			}
			h.write("b", "8")
			h.write("b", "9")
			all := []string{"1", "2", "3"}
			o := outcome{
				phones: map[string][]string{"a": all}, sent: map[string][]string{"a": all}, received: map[string][]string{"b": {"8", "9"}},
			}
			plant.change(&o)
			if got := strings.Join(h.judge(o), "; "); got != plant.want {
				t.Errorf("judged %q, want %q", got, plant.want)
			}
		})
	}
}
