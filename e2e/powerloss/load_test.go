//go:build linux

package powerloss_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/sink"
)

const (
	customers = 2
	// pace is between two messages of one writer.
	pace = 50 * time.Millisecond
	// maxAhead is how many messages of a customer may be on their way. Where a machine is slow,
	// customers wait for it: they would write more than it can deliver in the time of the test.
	maxAhead = 40
	// lifetime bounds how long a gateway runs until the power fails, after an answer was
	// acknowledged.
	lifetime = 400 * time.Millisecond
)

// The power fails at random moments, while customers write and the shop answers.
// In the end all messages of the customers were delivered, those of a chat in
// their order; each answer that was acknowledged is on its phone once; and the
// log has no gap and no event twice.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := startLoad(w)
	for _, survivors := range losses() {
		before := l.answered.Load()
		await.Until(t, "one answer more", func() bool { return l.answered.Load() > before })
		<-time.After(rand.N(lifetime)) // the moment is to be at random
		w.losePower(survivors)
		w.awaitConnected()
	}
	l.stop()
	l.judge()
	w.checkLog()
}

// losses says what survives each loss of power: nothing; names and sizes, as with usual
// file systems; a random part; most of it.
func losses() []disk.Survivors {
	return []disk.Survivors{{}, {Names: 1, Sizes: 1}, {Names: 0.7, Sizes: 0.5, Pages: 0.5}, {Names: 1, Sizes: 1, Pages: 0.9}, {}}
}

// load is customers that write, and a shop that answers.
type load struct {
	w       *world
	over    atomic.Bool
	running sync.WaitGroup
	written [customers][]string // identifiers, in their order
	answers []client.Sent       // the n-th has the text of answerText(n)

	answered atomic.Int64 // how many answers there are

	mu    sync.Mutex
	taken map[string]map[string]bool // by customer, the messages that were delivered
}

func startLoad(w *world) *load {
	l := &load{w: w, taken: map[string]map[string]bool{}}
	for c := range customers {
		l.taken[customer(c)] = map[string]bool{}
	}
	w.sink.Answer(l.take)
	for c := range customers {
		l.running.Go(func() { l.write(c) })
	}
	l.running.Go(l.answer)
	return l
}

// stop ends the load and waits until all writers have ended.
func (l *load) stop() {
	l.over.Store(true)
	l.running.Wait()
}

func (l *load) write(c int) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; !l.over.Load(); <-tick.C {
		if n-l.delivered(customer(c)) < maxAhead {
			l.written[c] = append(l.written[c], l.w.phones.SendText(l.w.t, customer(c), shop, fmt.Sprint(n)))
			n++
		}
	}
}

// take counts the messages that the shop gets.
func (l *load) take(d sink.Delivered) int {
	if d.Event.Type == "message.received" {
		id, from := received(l.w.t, d)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.taken[from][id] = true
	}
	return http.StatusNoContent
}

// delivered returns how many messages of a customer were delivered.
func (l *load) delivered(from string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.taken[from])
}

func answerText(n int) string { return fmt.Sprintf("answer %d", n) }

// answer sends one message after another to the first customer, and repeats each with the
// same key until the API answers that it was sent.
func (l *load) answer() {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; !l.over.Load(); {
		text := client.Text{To: customer(0), Message: answerText(n), IdempotencyKey: answerText(n)}
		sent, err := l.w.client.SendText(l.w.t.Context(), l.w.instance, text)
		if err == nil {
			l.answers = append(l.answers, sent)
			n++
			l.answered.Add(1)
		}
		<-tick.C
	}
}

func (l *load) judge() {
	l.w.t.Helper()
	t := l.w.t
	chats := map[string][]string{}
	t.Cleanup(func() {
		for c, written := range l.written {
			for n, id := range written {
				if t.Failed() && !slices.Contains(chats[customer(c)], id) {
					t.Logf("message %d of customer %s did not arrive: %s", n, customer(c), id)
				}
			}
		}
	})
	l.w.sink.Await("all that customers wrote", func(taken []sink.Delivered) bool {
		chats = arrived(t, taken)
		for c, written := range l.written {
			if len(chats[customer(c)]) < len(written) {
				return false
			}
		}
		return true
	})
	total := 0
	for c, written := range l.written {
		total += len(written)
		if got := chats[customer(c)]; !slices.Equal(got, written) {
			t.Errorf("customer %d wrote %v; first delivered were %v", c, written, got)
		}
	}
	shown := map[string][]string{} // the identifiers of each text
	for _, message := range l.w.phones.Messages(t, customer(0), "") {
		shown[message.Text] = append(shown[message.Text], message.MessageID)
	}
	for n, sent := range l.answers {
		if ids := shown[answerText(n)]; len(ids) != 1 || ids[0] != sent.MessageID {
			t.Errorf("answer %d was sent as %s; the phone shows it as %v", n, sent.MessageID, ids)
		}
		if again := l.w.send(customer(0), answerText(n)); !again.IdempotencyReplayed || again.MessageID != sent.MessageID {
			t.Errorf("answer %d was sent as %s; its key now knows %+v", n, sent.MessageID, again)
		}
	}
	t.Logf("%d messages of customers, %d answers, %d losses of power", total, len(l.answers), len(losses()))
}

// arrived returns which messages of each customer were delivered, in the order of their
// first delivery.
func arrived(t *testing.T, taken []sink.Delivered) map[string][]string {
	t.Helper()
	chats, seen := map[string][]string{}, map[string]bool{}
	for _, d := range taken {
		if d.Event.Type != "message.received" || seen[d.Event.ID] {
			continue
		}
		seen[d.Event.ID] = true
		id, from := received(t, d)
		chats[from] = append(chats[from], id)
	}
	return chats
}

// received returns the message of an event, and the number of who wrote it.
func received(t *testing.T, d sink.Delivered) (id, from string) {
	t.Helper()
	id, chat := about(t, d.Event)
	return id, strings.TrimSuffix(chat, "@s.whatsapp.net")
}
