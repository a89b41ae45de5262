package queue

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// world is what a queue stands on, with the answers that a test chooses. The end-to-end
// tests of the queue have the real thing; here it is about hours, and about answers that
// the sandbox does not give.
type world struct {
	mu       sync.Mutex
	messages map[string]Message
	newChats []NewChat
	instance gateway.Instance
	deleted  bool
	reads    int // of the instance
	sent     []time.Time
	failures []*gateway.Error
	answer   func(attempt int) error // to the sends
}

func (w *world) GetInstance(context.Context, string) (gateway.Instance, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	if w.deleted {
		return gateway.Instance{}, gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "gone")
	}
	return w.instance, nil
}

func (w *world) AddQueued(_ context.Context, message Message, _ *gateway.Idempotency) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages[message.ID] = message
	return nil
}

func (w *world) QueuedHeads(context.Context, []string) ([]Head, error) { return nil, nil }

func (w *world) FindQueued(_ context.Context, _, id string) (Message, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	message, found := w.messages[id]
	return message, found, nil
}

func (w *world) ListQueued(context.Context, string, gateway.PageRequest) (gateway.Page[Message], error) {
	return gateway.Page[Message]{}, nil
}

func (w *world) SentSince(context.Context, string, time.Time, int) ([]time.Time, error) {
	return nil, nil
}

func (w *world) NewChatsSince(context.Context, string, time.Time) ([]NewChat, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.newChats), nil
}

func (w *world) AddNewChat(_ context.Context, _ string, chat gateway.JID, at, _ time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newChats = append(w.newChats, NewChat{chat, at})
	return nil
}

func (w *world) Begins(_ context.Context, message Message) ([]gateway.Party, bool, error) {
	return []gateway.Party{{JID: message.To.Chat}}, true, nil
}

func (w *world) Address(_ context.Context, message Message) (gateway.Party, error) {
	return gateway.Party{JID: message.To.Chat}, nil
}

func (*world) ShowTyping(context.Context, Message, gateway.Party) {}

func (w *world) Send(_ context.Context, _ Message, _ gateway.Party, leaves func()) error {
	leaves()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, time.Now())
	return w.answer(len(w.sent))
}

func (w *world) Fail(_ context.Context, _ Message, why *gateway.Error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, why)
	return nil
}

func (w *world) Remove(_ context.Context, _ string, ids ...string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		delete(w.messages, id)
	}
	return nil
}

// attempts is how often a message was sent so far.
func (w *world) attempts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sent)
}

// look reads what there is.
func (w *world) look(read func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	read()
}

// run leaves one message in a queue and lets it work while during runs, in a time of its
// own.
func run(t *testing.T, w *world, due time.Duration, during func(q *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w.messages = map[string]Message{}
		q, err := New(Config{Store: w, Sender: w, Bell: new(eventlog.Bell), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer q.Wait()
		defer stop()
		go func() { _ = q.Run(ctx) }()
		synctest.Wait()
		if err := q.Add(ctx, Message{
			ID: "1", InstanceID: "shop", To: gateway.Recipient{Chat: "5511988887766@s.whatsapp.net"}, Type: gateway.TypeText, DueAt: time.Now().Add(due),
		}, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		during(q)
	})
}

// Every refusal is a new word of the same restriction; it does not free the message that it
// was about.
func TestRefusalDoesNotLiftItself(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.answer = func(int) error {
		now := time.Now()
		w.instance.Restricted = w.instance.Restricted.After(gateway.Restriction{At: now})
		refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRecipientRestricted, "restricted")
		refusal.RetryAfter = time.Hour
		return refusal
	}
	run(t, w, 0, func(*Queue) {
		time.Sleep(50 * time.Minute)
		if n := w.attempts(); n != 1 {
			t.Errorf("%d attempts in 50 minutes", n)
		}
		time.Sleep(20 * time.Minute)
		if n := w.attempts(); n != 2 {
			t.Errorf("%d attempts in 70 minutes", n)
		}
		w.look(func() { w.instance.Restricted, w.answer = gateway.Restricted{}, func(int) error { return nil } })
		time.Sleep(time.Minute)
		if n := w.attempts(); n != 3 {
			t.Errorf("%d attempts a minute after it was lifted", n)
		}
	})
}

// A platform that wants fewer requests gets fewer and fewer.
func TestSlowedQueueBacksOff(t *testing.T) {
	t.Parallel()
	w := &world{answer: func(int) error { return gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "fewer") }}
	run(t, w, 0, func(*Queue) {
		time.Sleep(time.Hour)
		if n := w.attempts(); n < 10 || n > 20 {
			t.Errorf("%d attempts in an hour", n)
		}
	})
}

// An attempt that fails does not use the budget of new chats up for the next one.
func TestRetryIsNoOtherNewChat(t *testing.T) {
	t.Parallel()
	w := &world{answer: func(attempt int) error {
		if attempt < 3 {
			return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout, "nothing came")
		}
		return nil
	}}
	w.instance.Sending.Pace.NewChats = gateway.Budget{PerHour: 1}
	run(t, w, 0, func(*Queue) {
		time.Sleep(time.Minute)
		w.look(func() {
			if len(w.sent) != 3 || len(w.newChats) > 1 {
				t.Errorf("%d attempts in a minute, %d new chats", len(w.sent), len(w.newChats))
			}
		})
	})
}

// A message that can't be sent for a week fails.
func TestMessageExpires(t *testing.T) {
	t.Parallel()
	w := &world{answer: func(int) error { return gateway.Errorf(gateway.Internal, gateway.CodeInternal, "no") }}
	run(t, w, time.Hour, func(*Queue) {
		time.Sleep(2*time.Hour + MaxWait)
		w.look(func() {
			if len(w.failures) != 1 || w.failures[0].Code != gateway.CodeQueueExpired || len(w.messages) > 0 {
				t.Errorf("after a week: %v", w.failures)
			}
		})
	})
}

// Who cancels a message after an attempt is told that the platform may have it; a message
// that was not tried is gone without a word.
func TestCancelledAfterAnAttempt(t *testing.T) {
	t.Parallel()
	for due, failures := range cases.Sorted(map[time.Duration]int{0: 1, time.Hour: 0}) {
		w := &world{answer: func(int) error {
			return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout, "nothing came")
		}}
		run(t, w, due, func(q *Queue) {
			time.Sleep(time.Second)
			if was, err := q.Cancel(t.Context(), "shop", "1"); !was || err != nil {
				t.Errorf("cancelled: %t, %v", was, err)
			}
			time.Sleep(2 * time.Hour)
			w.look(func() {
				if len(w.failures) != failures || len(w.sent) != failures || len(w.messages) > 0 {
					t.Errorf("due in %s: failures %v, %d attempts", due, w.failures, len(w.sent))
				}
			})
		})
	}
}

// While the last message of a deleted instance is sent, its queue is quiet.
func TestDeletedInstanceIsQuiet(t *testing.T) {
	t.Parallel()
	w := &world{}
	w.answer = func(int) error {
		w.deleted = true
		w.mu.Unlock()
		time.Sleep(time.Minute)
		w.mu.Lock()
		return nil
	}
	run(t, w, 0, func(q *Queue) {
		time.Sleep(2 * time.Minute)
		q.mu.Lock()
		defer q.mu.Unlock()
		w.look(func() {
			if w.reads > 100 || len(q.queues) > 0 {
				t.Errorf("the instance was looked for %d times; %d queues are left", w.reads, len(q.queues))
			}
		})
	})
}
