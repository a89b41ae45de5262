package nodetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
)

const (
	// repeatAfter is when a request that failed is repeated.
	repeatAfter = 200 * time.Millisecond
)

// load sends through every instance, by way of any node, and lets customers write to it.
type load struct {
	w       *world
	history *history
	stop    context.CancelFunc
	working sync.WaitGroup

	mu      sync.Mutex
	answers map[string]int // that made clients repeat, by code; "none" is no answer
}

// startLoad begins the load. A request that fails is repeated at another node under the same
// Idempotency-Key until it is accepted, as a client does it that wants to lose nothing.
func (w *world) startLoad() *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{w: w, history: newHistory(), stop: stop, answers: map[string]int{}}
	w.t.Cleanup(func() { stop(); l.working.Wait() })
	for i, shop := range w.shops {
		customer := fmt.Sprintf("55119888802%02d", i)
		l.working.Go(func() { l.send(ctx, shop, customer) })
		l.working.Go(func() { l.write(ctx, shop, customer) })
	}
	return l
}

func (l *load) send(ctx context.Context, shop shop, customer string) {
	for n := 0; ctx.Err() == nil; n++ {
		text := client.Text{To: customer, Message: fmt.Sprint("n. ", n), IdempotencyKey: uuid.NewString()}
		for tries := 0; ; tries++ {
			// It goes on after the end, so that nothing is left without an answer.
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
			sent, err := l.w.anyNode().client.SendText(limited, shop.id, text)
			cancel()
			if err == nil {
				l.history.accept(shop.id, sent.MessageID)
				break
			}
			l.note(err)
			time.Sleep(repeatAfter)
			if tries > 300 {
				l.w.t.Errorf("a message through %s was never accepted: %v", shop.number, err)
				return
			}
		}
		sleep(ctx, sendEvery)
	}
}

// note counts what made a client repeat.
func (l *load) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code := "none"
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		code = refusal.Code
	}
	l.answers[code]++
}

// onlyWith fails the test if clients had to repeat for another reason than these.
func (l *load) onlyWith(codes ...string) {
	l.w.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for code, times := range l.answers {
		if !slices.Contains(codes, code) {
			l.w.t.Errorf("%d requests were answered %s", times, code)
		}
	}
}

func (l *load) write(ctx context.Context, shop shop, customer string) {
	for n := 0; ctx.Err() == nil; n++ {
		messageID := l.w.phones.SendText(l.w.t, customer, shop.number, fmt.Sprint("c. ", n)) //nolint:contextcheck // begun, it is finished
		l.history.write(shop.id, messageID)
		sleep(ctx, writeEvery)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// anyNode returns a node that runs, as a balancer would choose one.
func (w *world) anyNode() *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if n := w.nodes[rand.IntN(len(w.nodes))]; !n.away {
			return n
		}
	}
}

// setAway takes a node out of the balancer, or puts it back.
func (w *world) setAway(n *node, away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n.away = away
}

// end stops the load and judges it. It waits until everything has been delivered.
func (l *load) end() {
	l.w.t.Helper()
	l.stop()
	l.working.Wait()
	var wrong []string
	deadline := time.Now().Add(60 * time.Second)
	for {
		delivered := l.w.sink.Delivered()
		got := outcome{
			phones: map[string][]string{}, sent: events(l.w.t, delivered, "message.sent"), received: events(l.w.t, delivered, "message.received"),
		}
		for i, shop := range l.w.shops {
			customer := fmt.Sprintf("55119888802%02d", i)
			for _, message := range l.w.phones.Messages(l.w.t, customer, shop.number) {
				if !message.FromMe {
					got.phones[shop.id] = append(got.phones[shop.id], message.MessageID)
				}
			}
		}
		if wrong = l.history.judge(got); len(wrong) == 0 || time.Now().After(deadline) {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	for _, one := range wrong[:min(len(wrong), 10)] {
		l.w.t.Error(one)
	}
	accepted, written := 0, 0
	for _, messages := range l.history.accepted {
		accepted += len(messages)
	}
	for _, messages := range l.history.written {
		written += len(messages)
	}
	l.w.t.Logf("%d messages accepted, %d received; requests were repeated after %v; %d things are wrong", accepted, written, l.answers, len(wrong))
}
