package torture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/sink"
)

const (
	shops     = 3
	customers = 4 // of each shop
	// pace is the time between two messages of a customer: short enough that something
	// is always under way, and long enough for a small machine.
	pace = 50 * time.Millisecond
	// standstill is how long nothing has to arrive until the rest counts as lost.
	standstill = time.Minute
	// lifetime bounds how long a gateway runs until it is killed.
	lifetime = 1500 * time.Millisecond
)

func onBoth(t *testing.T, test func(t *testing.T, databaseURL string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, "")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, postgres.Start(t))
	})
}

// Customers write, shops answer, and the gateway is killed with kill -9 at random moments.
// In the end all messages of the customers have been delivered to both webhooks that work, those of a chat in order,
// and every answer is on its phone once, with the identifier that the API returned.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, databaseURL string) {
		t.Helper()
		w := newWorld(t, databaseURL, shops)
		load := startLoad(w)
		var recoveries []time.Duration
		for range kills {
			<-time.After(100*time.Millisecond + rand.N(lifetime)) // the moment is to be at random
			recoveries = append(recoveries, w.restart())
		}
		load.stop()
		received, second := load.judgeReceived(w.sink), load.judgeReceived(w.second)
		if received.Lost > 0 || received.Reordered > 0 {
			t.Errorf("the messages of the customers: %v", received)
		}
		if second.Lost > 0 || second.Reordered > 0 {
			t.Errorf("the messages of the customers, at the second webhook: %v", second)
		}
		answered := load.judgeAnswers()
		slices.Sort(recoveries)
		t.Logf("%d kills; customers: %v; at the second webhook: %v; answers: %d accepted, all on their phones once; connected again after %v (median), %v (longest)",
			kills, received, second, answered, recoveries[len(recoveries)/2].Round(time.Millisecond), recoveries[len(recoveries)-1].Round(time.Millisecond))
	})
}

// The test of the test: one event is removed from the log while the gateway is not
// running, and the judgement finds that it was lost.
func TestKilledUnderLoadFindsALoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 1)
	w.sink.Answer(func(sink.Delivered) int { return 503 })
	var book ledger
	chat := w.shops[0].id + "/" + customer(0) + "@s.whatsapp.net"
	for n := range 5 {
		book.wrote(chat, w.phones.SendText(t, customer(0), w.shops[0].number, fmt.Sprint(n)))
	}
	w.awaitEvents(w.shops[0].id, 5)
	w.gateway.Kill()
	w.loseOneEvent()
	w.sink.Answer(func(sink.Delivered) int { return 204 })
	w.startGateway()
	w.resume()
	w.sink.Await("the four that are left", func(taken []sink.Delivered) bool {
		return len(arrivals(t, taken, "message.received")[chat]) == 4
	})
	if got := book.judge(arrivals(t, w.sink.Delivered(), "message.received")); got.Lost != 1 || got.Written != 5 {
		t.Errorf("judged %v", got)
	}
}

func customer(n int) string { return fmt.Sprintf("551198888%02d66", n) }

// load is a number of customers that write, and of shops that answer.
type load struct {
	w       *world
	over    atomic.Bool
	running sync.WaitGroup
	book    ledger

	mu      sync.Mutex
	answers []answer
}

// answer is a message that a shop sent, with the response of the API.
type answer struct{ to, text, messageID string }

func startLoad(w *world) *load {
	l := &load{w: w}
	for s, shop := range w.shops {
		for c := range customers {
			l.running.Go(func() { l.write(shop, customer(s*customers+c)) })
		}
		l.running.Go(func() { l.answer(s, shop) })
	}
	return l
}

// advance waits until the customers have written so many messages more.
func (l *load) advance(messages int) {
	l.w.t.Helper()
	before := l.book.count()
	await.Until(l.w.t, "the customers write", func() bool { return l.book.count() >= before+messages })
}

// stop ends the load and waits until all writers have ended.
func (l *load) stop() {
	l.over.Store(true)
	l.running.Wait()
}

// write is one customer.
func (l *load) write(to shop, from string) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; !l.over.Load(); n++ {
		id := l.w.phones.SendText(l.w.t, from, to.number, fmt.Sprintf("%s writes %d", from, n))
		l.book.wrote(to.id+"/"+from+"@s.whatsapp.net", id)
		<-tick.C
	}
}

// answer is one shop: it sends one message after another, and repeats each until the API
// answers that it was sent.
func (l *load) answer(s int, from shop) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; !l.over.Load(); n++ {
		a := answer{to: customer(s * customers), text: fmt.Sprintf("%s answers %d", from.number, n)}
		for {
			sent, err := l.w.client.SendText(l.w.t.Context(), from.id, client.Text{
				To: a.to, Message: a.text, IdempotencyKey: a.text,
			})
			if err == nil {
				a.messageID = sent.MessageID
				l.mu.Lock()
				l.answers = append(l.answers, a)
				l.mu.Unlock()
				break
			}
			<-tick.C
		}
	}
}

// judgeReceived waits until a sink has all messages of the customers, or no more of them
// arrive.
func (l *load) judgeReceived(at *sink.Sink) verdict {
	l.w.t.Helper()
	var v verdict
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for last, since := -1, time.Now(); time.Since(since) < standstill; <-look.C {
		v = l.book.judge(arrivals(l.w.t, at.Delivered(), "message.received"))
		if v.Lost == 0 {
			break
		}
		if v.Lost != last {
			last, since = v.Lost, time.Now()
		}
	}
	return v
}

// judgeAnswers checks the answers on the phones, and returns how many there are.
func (l *load) judgeAnswers() int {
	l.w.t.Helper()
	shown := map[string][]string{} // the identifiers of each text
	for s := range l.w.shops {
		for _, message := range l.w.phones.Messages(l.w.t, customer(s*customers), "") {
			shown[message.Text] = append(shown[message.Text], message.MessageID)
		}
	}
	for _, a := range l.answers {
		if ids := shown[a.text]; len(ids) != 1 || ids[0] != a.messageID {
			l.w.t.Errorf("%q was sent as %s; the phone shows it as %v", a.text, a.messageID, ids)
		}
	}
	return len(l.answers)
}
