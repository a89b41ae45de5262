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
	"github.com/recado-project/recado/internal/testkit/cases"
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

// Customers write, shops send texts, pictures, and both by way of the queue, and the gateway is killed with
// kill -9 at random moments. In the end all messages of the customers have been delivered to both webhooks that
// work and in every language of other tools, those of a chat in order and under one event each; and every message of a shop is on its phone once, under
// the identifier that the API returned, in order, and so are the events that it was sent.
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
		load.judge()
		slices.Sort(recoveries)
		t.Logf("%d kills; connected again after %v (median), %v (longest)",
			kills, recoveries[len(recoveries)/2].Round(time.Millisecond), recoveries[len(recoveries)-1].Round(time.Millisecond))
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

// load is a number of customers that write, and of shops that send.
type load struct {
	w       *world
	over    atomic.Bool
	running sync.WaitGroup
	book    ledger // what customers wrote
	sent    ledger // what shops sent: what the API has accepted
}

// way is one that messages of a shop go, each to a customer of its own.
type way struct {
	name  string
	later bool // by way of the queue
	// picture says whether the n-th message is one; else it is a text.
	picture func(n int) bool
	pace    time.Duration
}

// ways are as many as a shop has customers, at most.
func ways() []way {
	return []way{
		{name: "answer", picture: func(int) bool { return false }, pace: pace},
		{name: "picture", picture: func(int) bool { return true }, pace: 4 * pace},
		{name: "queue", later: true, picture: func(n int) bool { return n%5 == 4 }, pace: 2 * pace},
	}
}

func startLoad(w *world) *load {
	l := &load{w: w}
	for s, shop := range w.shops {
		for c := range customers {
			l.running.Go(func() { l.write(shop, customer(s*customers+c)) })
		}
		for c, way := range ways() {
			l.running.Go(func() { l.send(shop, way, customer(s*customers+c)) })
		}
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

// send is one way of a shop: it sends one message after another, and repeats each until the API answers that
// it was accepted.
func (l *load) send(from shop, by way, to string) {
	tick, again := time.NewTicker(by.pace), time.NewTicker(pace)
	defer tick.Stop()
	defer again.Stop()
	prefer := ""
	if by.later {
		prefer = client.RespondAsync
	}
	for n := 0; !l.over.Load(); n++ {
		text := fmt.Sprintf("%s, %s %d", from.number, by.name, n)
		for {
			var sent client.Sent
			var err error
			if by.picture(n) {
				sent, err = l.w.client.SendImage(l.w.t.Context(), from.id, client.Image{
					To: to, Image: picture, Caption: text, Prefer: prefer, IdempotencyKey: text,
				})
			} else {
				sent, err = l.w.client.SendText(l.w.t.Context(), from.id, client.Text{To: to, Message: text, Prefer: prefer, IdempotencyKey: text})
			}
			if err == nil {
				l.sent.wrote(from.id+"/"+to+"@s.whatsapp.net", sent.MessageID)
				break
			}
			<-again.C
		}
		<-tick.C
	}
}

// picture is a PNG of one pixel.
const picture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// judge waits until everything has arrived, and fails the test if something is lost, doubled or out of order.
func (l *load) judge() {
	l.w.t.Helper()
	arrived := func(at *sink.Sink, kind string) map[string][]arrival { return arrivals(l.w.t, at.Delivered(), kind) }
	judges := map[string]func() verdict{
		"customers":                func() verdict { return l.book.judge(arrived(l.w.sink, "message.received")) },
		"at the second webhook":    func() verdict { return l.book.judge(arrived(l.w.second, "message.received")) },
		"shops, on the phones":     func() verdict { return l.sent.judge(l.shown()) },
		"shops, by their webhooks": func() verdict { return l.sent.judge(arrived(l.w.sink, "message.sent")) },
	}
	for format, language := range languages() {
		at := l.w.formats[format]
		judges["customers, in the language "+format] = func() verdict { return l.book.judge(l.w.spoken(at, language.received)) }
		judges["shops, in the language "+format] = func() verdict { return l.sent.judge(l.w.spoken(at, language.sent)) }
	}
	for whose, judge := range cases.Sorted(judges) {
		v := settle(judge)
		l.w.t.Logf("%s: %v", whose, v)
		if v.wrong() || v.Written == 0 {
			l.w.t.Errorf("%s: %v", whose, v)
		}
	}
}

// settle waits until nothing is wrong any more, or nothing changes for long, and returns the verdict.
func settle(judge func() verdict) verdict {
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	v := judge()
	for last, since := v, time.Now(); v.wrong() && time.Since(since) < standstill; v = judge() {
		if v != last {
			last, since = v, time.Now()
		}
		<-look.C
	}
	return v
}

// shown is what is on the phones of the customers to whom shops send.
func (l *load) shown() map[string][]arrival {
	l.w.t.Helper()
	chats := map[string][]arrival{}
	for s, shop := range l.w.shops {
		for c := range ways() {
			to := customer(s*customers + c)
			chat := shop.id + "/" + to + "@s.whatsapp.net"
			for n, message := range l.w.phones.Messages(l.w.t, to, "") {
				if !message.FromMe {
					chats[chat] = append(chats[chat], arrival{message.MessageID, fmt.Sprint(n)})
				}
			}
		}
	}
	return chats
}
