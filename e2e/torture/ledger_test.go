package torture_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// ledger records which messages were written in each chat, in order. It is safe for
// concurrent use.
type ledger struct {
	mu    sync.Mutex
	chats map[string][]string
}

func (l *ledger) wrote(chat, messageID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.chats == nil {
		l.chats = map[string][]string{}
	}
	l.chats[chat] = append(l.chats[chat], messageID)
}

// count is how many messages were written.
func (l *ledger) count() (all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, messages := range l.chats {
		all += len(messages)
	}
	return all
}

// verdict says what happened to the messages.
type verdict struct {
	Written, Lost, Reordered, Repeated, Doubled int
}

// wrong reports whether something happened that must not.
func (v verdict) wrong() bool { return v.Lost > 0 || v.Reordered > 0 || v.Doubled > 0 }

func (v verdict) String() string {
	return fmt.Sprintf("%d written, %d lost, %d reordered, %d doubled, %d delivered more than once", v.Written, v.Lost, v.Reordered, v.Doubled, v.Repeated)
}

// arrival is a message that has arrived, under what brought it: the identifier of an event, which may be
// delivered again, or a place on a phone, which is its own.
type arrival struct{ message, by string }

// judge compares the written messages with those that have arrived in each chat, in the order of arrival.
func (l *ledger) judge(arrived map[string][]arrival) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	var v verdict
	for chat, written := range l.chats {
		v.Written += len(written)
		known, first := map[string]bool{}, map[string]int{} // place of the first delivery
		for _, id := range written {
			known[id] = true
		}
		for n, came := range arrived[chat] {
			before, again := first[came.message]
			switch {
			case !known[came.message]:
				v.Doubled++ // under an identifier that nobody was told
			case !again:
				first[came.message] = n
			case arrived[chat][before].by == came.by:
				v.Repeated++
			default:
				v.Doubled++
			}
		}
		last := -1
		for _, id := range written {
			place, ok := first[id]
			switch {
			case !ok:
				v.Lost++
			case place < last:
				v.Reordered++
			default:
				last = place
			}
		}
	}
	return v
}

// arrivals returns the events of one type that an endpoint accepted, by chat.
func arrivals(t *testing.T, delivered []sink.Delivered, kind string) map[string][]arrival {
	t.Helper()
	chats := map[string][]arrival{}
	for _, d := range delivered {
		if d.Event.Type != kind {
			continue
		}
		var message struct {
			MessageID string `json:"messageId"`
			Chat      string `json:"chat"`
		}
		if err := json.Unmarshal(d.Event.Data, &message); err != nil {
			t.Fatal(err)
		}
		chat := d.Event.InstanceID + "/" + message.Chat
		chats[chat] = append(chats[chat], arrival{message.MessageID, d.Event.ID})
	}
	return chats
}

// judge itself finds messages that are lost, reordered, doubled or repeated.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		arrived string
		want    verdict
	}{
		"all in order":     {"a b c d", verdict{Written: 4}},
		"one lost":         {"a b d", verdict{Written: 4, Lost: 1}},
		"all lost":         {"", verdict{Written: 4, Lost: 4}},
		"two swapped":      {"a c b d", verdict{Written: 4, Reordered: 1}},
		"repeated":         {"a b a b c d", verdict{Written: 4, Repeated: 2}},
		"repeated too far": {"a b c b d", verdict{Written: 4, Repeated: 1}},
		"doubled":          {"a b c d b'", verdict{Written: 4, Doubled: 1}},
		"nobody's":         {"a b c d e", verdict{Written: 4, Doubled: 1}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l ledger
			for id := range strings.FieldsSeq("a b c d") {
				l.wrote("chat", id)
			}
			arrived := map[string][]arrival{"other": {{"x", "x"}}}
			for by := range strings.FieldsSeq(c.arrived) {
				arrived["chat"] = append(arrived["chat"], arrival{strings.TrimSuffix(by, "'"), by})
			}
			if got := l.judge(arrived); got != c.want {
				t.Errorf("judged %v, want %v", got, c.want)
			}
		})
	}
}
