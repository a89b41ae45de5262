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
	Written, Lost, Reordered, Repeated int
}

func (v verdict) String() string {
	return fmt.Sprintf("%d written, %d lost, %d reordered, %d delivered more than once", v.Written, v.Lost, v.Reordered, v.Repeated)
}

// judge compares the written messages with those that an endpoint accepted: their
// identifiers in each chat, in the order of arrival.
func (l *ledger) judge(arrived map[string][]string) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	var v verdict
	for chat, written := range l.chats {
		v.Written += len(written)
		first := map[string]int{} // place of the first delivery
		for n, id := range arrived[chat] {
			if _, again := first[id]; again {
				v.Repeated++
				continue
			}
			first[id] = n
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
func arrivals(t *testing.T, delivered []sink.Delivered, kind string) map[string][]string {
	t.Helper()
	chats := map[string][]string{}
	for _, d := range delivered {
		if d.Type != kind {
			continue
		}
		var message struct {
			MessageID string `json:"messageId"`
			Chat      string `json:"chat"`
		}
		if err := json.Unmarshal(d.Data, &message); err != nil {
			t.Fatal(err)
		}
		chat := d.InstanceID + "/" + message.Chat
		chats[chat] = append(chats[chat], message.MessageID)
	}
	return chats
}

// judge itself finds messages that are lost, reordered or repeated.
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
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l ledger
			for id := range strings.FieldsSeq("a b c d") {
				l.wrote("chat", id)
			}
			if got := l.judge(map[string][]string{"chat": strings.Fields(c.arrived), "other": {"x"}}); got != c.want {
				t.Errorf("judged %v, want %v", got, c.want)
			}
		})
	}
}
