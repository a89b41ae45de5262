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
	"github.com/recado-project/recado/internal/testkit/await"
)

// repeatAfter is when a request that failed is repeated.
const repeatAfter = 200 * time.Millisecond

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
		l.working.Go(func() { l.send(ctx, shop, shop.id, sendEvery, sendText(shop, customer(i))) })
		l.working.Go(func() { l.send(ctx, shop, queued(shop.id), 2*sendEvery, enqueue(shop, queueCustomer(i))) })
		l.working.Go(func() { l.write(ctx, shop, customer(i)) })
	}
	return l
}

// sendText sends the n-th message of a shop at once.
func sendText(from shop, to string) func(ctx context.Context, at *client.Client, n int, key string) (client.Sent, error) {
	return func(ctx context.Context, at *client.Client, n int, key string) (client.Sent, error) {
		return at.SendText(ctx, from.id, client.Text{To: to, Message: fmt.Sprint("n. ", n), IdempotencyKey: key})
	}
}

// enqueue leaves the n-th message of a shop in the queue: a picture, or a text.
func enqueue(from shop, to string) func(ctx context.Context, at *client.Client, n int, key string) (client.Sent, error) {
	return func(ctx context.Context, at *client.Client, n int, key string) (client.Sent, error) {
		if n%3 == 0 {
			return at.SendImage(ctx, from.id, client.Image{To: to, Image: picture, Caption: fmt.Sprint("q. ", n), Prefer: client.RespondAsync, IdempotencyKey: key})
		}
		return at.SendText(ctx, from.id, client.Text{To: to, Message: fmt.Sprint("q. ", n), Prefer: client.RespondAsync, IdempotencyKey: key})
	}
}

// picture is a PNG of one pixel.
const picture = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// send sends one message after another through a shop, and notes them under a chat.
func (l *load) send(
	ctx context.Context, shop shop, chat string, every time.Duration, send func(ctx context.Context, at *client.Client, n int, key string) (client.Sent, error),
) {
	pace, again := time.NewTicker(every), time.NewTicker(repeatAfter)
	defer pace.Stop()
	defer again.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		key := uuid.NewString()
		for tries := 0; ; tries++ {
			// It goes on after the end, so that nothing is left without an answer.
			limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
			node := l.w.ask()
			sent, err := send(limited, node.client, n, key)
			l.w.answered(node)
			cancel()
			if err == nil {
				l.history.accept(chat, sent.MessageID)
				break
			}
			l.note(err)
			again.Reset(repeatAfter)
			<-again.C
			if tries > 300 {
				l.w.t.Errorf("a message through %s was never accepted: %v", shop.number, err)
				return
			}
		}
		wait(ctx, pace)
	}
}

// advance waits until messages have gone through every instance, so many in both directions.
func (l *load) advance(messages int) {
	l.w.t.Helper()
	before := l.history.counts()
	await.Until(l.w.t, "messages go through every instance", func() bool {
		now := l.history.counts()
		for _, shop := range l.w.shops {
			if now[shop.id].accepted < before[shop.id].accepted+messages || now[shop.id].written < before[shop.id].written+messages {
				return false
			}
		}
		return true
	})
}

// note counts what made a client repeat.
func (l *load) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	code := "none"
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		code = refusal.Code
	} else {
		l.w.t.Logf("no answer: %v", err)
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
	pace := time.NewTicker(writeEvery)
	defer pace.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		messageID := l.w.phones.SendText(l.w.t, customer, shop.number, fmt.Sprint("c. ", n)) //nolint:contextcheck // what has begun goes to its end
		l.history.write(shop.id, messageID)
		wait(ctx, pace)
	}
}

// wait waits for the next moment of a pace, or the end of ctx.
func wait(ctx context.Context, pace *time.Ticker) {
	select {
	case <-pace.C:
	case <-ctx.Done():
	}
}

// ask returns a node that runs, as a balancer would choose one, for a request; answered ends it.
func (w *world) ask() *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if n := w.nodes[rand.IntN(len(w.nodes))]; !n.away {
			n.asked++
			return n
		}
	}
}

func (w *world) answered(n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n.asked--
}

// awaitAnswered waits until a node has answered what it was asked by way of the balancer.
func (w *world) awaitAnswered(n *node) {
	w.t.Helper()
	await.Until(w.t, "the node has answered", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return n.asked == 0
	})
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
	defer func() { // also where it waits in vain
		for _, one := range wrong[:min(len(wrong), 10)] {
			l.w.t.Error(one)
		}
	}()
	await.Until(l.w.t, "everything is on the phones and delivered", func() bool {
		wrong = l.history.judge(l.outcome())
		return len(wrong) == 0
	})
	accepted, written := 0, 0
	for _, messages := range l.history.accepted {
		accepted += len(messages)
	}
	for _, messages := range l.history.written {
		written += len(messages)
	}
	l.w.t.Logf("%d messages accepted, %d received; requests were repeated after %v", accepted, written, l.answers)
}

// outcome is what has become of the messages so far.
func (l *load) outcome() outcome {
	l.w.t.Helper()
	delivered := l.w.sink.Delivered()
	got := outcome{
		phones: map[string][]string{}, sent: l.history.events(l.w.t, delivered, "message.sent"), received: l.history.events(l.w.t, delivered, "message.received"),
	}
	shown := func(of, number string) (messages []string) {
		for _, message := range l.w.phones.Messages(l.w.t, of, number) {
			if !message.FromMe {
				messages = append(messages, message.MessageID)
			}
		}
		return messages
	}
	for i, shop := range l.w.shops {
		got.phones[shop.id] = shown(customer(i), shop.number)
		got.phones[queued(shop.id)] = shown(queueCustomer(i), shop.number)
	}
	return got
}

// customer is the number of who writes to a shop.
func customer(of int) string { return fmt.Sprintf("55119888802%02d", of) }

// queueCustomer is the number of who gets what a shop leaves in the queue.
func queueCustomer(of int) string { return fmt.Sprintf("55119888803%02d", of) }

// queued is the chat of what a shop leaves in the queue, beside that of everything else.
func queued(shop string) string { return shop + ", queue" }
