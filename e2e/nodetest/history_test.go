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

// judge returns what is wrong with an outcome; nothing if all is well.
func (h *history) judge(got outcome) (wrong []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for chat, messages := range h.accepted {
		wrong = append(wrong, missing(chat, "an accepted message is not on the phone", messages, got.phones[chat])...)
		wrong = append(wrong, missing(chat, "an accepted message has no event", messages, got.sent[chat])...)
		wrong = append(wrong, doubled(chat, "messages are on the phone more than once", got.phones[chat])...)
		wrong = append(wrong, doubled(chat, "messages have two events that they were sent", got.sent[chat])...)
		wrong = append(wrong, foreign(chat, "on the phone is what nobody was told of", messages, got.phones[chat])...)
		wrong = append(wrong, reordered(chat, "on the phone", messages, got.phones[chat])...)
		wrong = append(wrong, reordered(chat, "events of sent messages", messages, got.sent[chat])...)
	}
	for chat, messages := range h.written {
		wrong = append(wrong, missing(chat, "a customer's message has no event", messages, got.received[chat])...)
		wrong = append(wrong, doubled(chat, "messages have two events that they were received", got.received[chat])...)
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

func setOf(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}

func doubled(chat, what string, got []string) []string {
	if more := len(got) - len(firsts(got)); more > 0 {
		return []string{fmt.Sprintf("%s: %d %s", chat, more, what)}
	}
	return nil
}

// foreign finds what nobody has sent under that identifier.
func foreign(chat, what string, sent, got []string) (wrong []string) {
	known := setOf(sent)
	for _, message := range got {
		if !known[message] {
			wrong = append(wrong, chat+": "+what+": "+message)
		}
	}
	return wrong
}

func missing(chat, what string, want, got []string) (wrong []string) {
	there := setOf(got)
	for _, message := range want {
		if !there[message] {
			wrong = append(wrong, chat+": "+what+": "+message)
		}
	}
	return wrong
}

func reordered(chat, what string, want, got []string) []string {
	common := func(of, in []string) []string {
		known := setOf(in)
		return slices.DeleteFunc(firsts(of), func(value string) bool { return !known[value] })
	}
	if a, b := common(want, got), common(got, want); !slices.Equal(a, b) {
		return []string{fmt.Sprintf("%s: %s are in another order: %v instead of %v", chat, what, b, a)}
	}
	return nil
}

// events returns the messages of an endpoint's events of a kind, by chat: each instance has one, and one for
// what went by way of its queue. An event that is delivered again counts once.
func (h *history) events(t *testing.T, delivered []sink.Delivered, kind string) map[string][]string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	byQueue := map[string]map[string]bool{}
	for chat, messages := range h.accepted {
		byQueue[chat] = setOf(messages)
	}
	chats, known := map[string][]string{}, map[string]bool{}
	for _, d := range delivered {
		if d.Event.Type != kind || known[d.Event.ID] {
			continue
		}
		known[d.Event.ID] = true
		var message struct {
			MessageID string `json:"messageId"`
		}
		if err := json.Unmarshal(d.Event.Data, &message); err != nil {
			t.Fatal(err)
		}
		chat := d.Event.InstanceID
		if byQueue[queued(chat)][message.MessageID] {
			chat = queued(chat)
		}
		chats[chat] = append(chats[chat], message.MessageID)
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
		"two events":                 {func(o *outcome) { o.sent["a"] = []string{"1", "2", "1", "3"} }, "a: 1 messages have two events that they were sent"},
		"two events of received":     {func(o *outcome) { o.received["b"] = []string{"8", "8", "9"} }, "b: 1 messages have two events that they were received"},
		"sent under another name":    {func(o *outcome) { o.phones["a"] = []string{"1", "2", "3", "4"} }, "a: on the phone is what nobody was told of: 4"},
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
