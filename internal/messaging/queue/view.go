// What clients see of the queue, and how they take messages out of it.

package queue

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// State says what a message in the queue waits for.
type State string

// The states.
const (
	// StateScheduled is a message that is not due yet.
	StateScheduled State = "scheduled"
	// StateWaiting is a message that is due, and waits for its turn.
	StateWaiting State = "waiting"
	// StateHeld is a message that is due, and must not be sent for now; Reason says why.
	StateHeld State = "held"
	// StateSending is a message that is being sent.
	StateSending State = "sending"
)

// Reason says why a message is held.
type Reason string

// The reasons.
const (
	ReasonNotConnected Reason = "not_connected" // the instance is not
	ReasonPace         Reason = "pace"
	ReasonNewChats     Reason = "new_chats"  // so many were begun that its chat must not be
	ReasonRestricted   Reason = "restricted" // the platform restricts the account
	ReasonRetry        Reason = "retry"      // an attempt has failed
)

// Waiting is a message with what it waits for.
type Waiting struct {
	Message

	State  State
	Reason Reason    // why it is held; empty if it is not
	Until  time.Time // when it is looked at again; zero if it is not held
}

// List returns a page of the messages of an instance, in the order in which they came.
func (q *Queue) List(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[Waiting], error) {
	found, err := q.config.Store.ListQueued(ctx, instanceID, request)
	if err != nil {
		return gateway.Page[Waiting]{}, err
	}
	page := gateway.Page[Waiting]{Total: found.Total, Items: make([]Waiting, len(found.Items))}
	for i, message := range found.Items {
		page.Items[i] = q.waiting(message)
	}
	return page, nil
}

// Find returns a message by its own identifier or by the platform's, and whether it is in
// the queue.
func (q *Queue) Find(ctx context.Context, instanceID, id string) (Waiting, bool, error) {
	message, found, err := q.config.Store.FindQueued(ctx, instanceID, id)
	if err != nil || !found {
		return Waiting{}, false, err
	}
	return q.waiting(message), true, nil
}

// waiting adds what a message waits for.
func (q *Queue) waiting(message Message) Waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.config.Steady()
	w := Waiting{Message: message, State: StateWaiting}
	if message.DueAt.After(q.config.Now()) {
		w.State = StateScheduled
	}
	l := q.queues[message.InstanceID]
	if l == nil || l.byID[message.ID] == nil {
		return w
	}
	if l.byID[message.ID].due {
		w.State = StateWaiting // whatever the clock says by now
	}
	of := l.chats[l.byID[message.ID].Chat]
	switch {
	case l.byID[message.ID].sending:
		w.State = StateSending
	case w.State == StateScheduled:
	case of.until.After(now):
		w.State, w.Reason, w.Until = StateHeld, of.reason, q.config.Now().Add(of.until.Sub(now))
	case l.pause.until.After(now):
		w.State, w.Reason, w.Until = StateHeld, l.pause.reason, q.config.Now().Add(l.pause.until.Sub(now))
	}
	return w
}

// Cancel takes a message out of the queue, found as Find does, and reports whether it was
// there. It is not sent then. If an attempt to send it was made, it fails: the platform may
// have it. The error is Conflict if it is being sent, and Unavailable before Run has loaded
// the queue.
func (q *Queue) Cancel(ctx context.Context, instanceID, id string) (bool, error) {
	message, found, err := q.config.Store.FindQueued(ctx, instanceID, id)
	if err != nil || !found {
		return false, err
	}
	taken, sending, err := q.take(instanceID, func(it *item) bool { return it.ID == message.ID })
	if err != nil {
		return true, err
	}
	if sending > 0 {
		return true, gateway.Errorf(gateway.Conflict, gateway.CodeMessageBeingSent,
			"the message is being sent; it can't be cancelled now")
	}
	if len(taken) == 0 {
		return false, nil // it was sent, or cancelled, just now
	}
	return true, q.remove(ctx, instanceID, taken)
}

// CancelAll takes all messages of an instance out of the queue that Cancel would take, and
// returns how many there were.
func (q *Queue) CancelAll(ctx context.Context, instanceID string) (int, error) {
	taken, _, err := q.take(instanceID, func(*item) bool { return true })
	if err != nil || len(taken) == 0 {
		return 0, err
	}
	return len(taken), q.remove(ctx, instanceID, taken)
}

// take takes messages of an instance out of its queue, and counts those that stay because they
// are being sent.
func (q *Queue) take(instanceID string, chosen func(*item) bool) (taken []Head, sending int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.queues[instanceID]
	if l == nil && q.start == nil { // nor are any others: they are not loaded yet
		refusal := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the gateway is starting")
		refusal.RetryAfter = time.Second
		return nil, 0, refusal
	}
	if l == nil {
		return nil, 0, nil
	}
	var going []*item
	for _, it := range l.items {
		switch {
		case !chosen(it):
		case it.sending || it.unkept:
			sending++
		default:
			going = append(going, it)
		}
	}
	for _, it := range going {
		l.drop(it)
		taken = append(taken, it.Head)
	}
	l.wake()
	return taken, sending, nil
}

// remove removes messages that were taken out. If that fails, they are back in the queue.
func (q *Queue) remove(ctx context.Context, instanceID string, taken []Head) error {
	ids := make([]string, len(taken))
	for i, head := range taken {
		ids[i] = head.ID
	}
	err := q.failTried(ctx, taken)
	if err == nil {
		err = q.config.Sender.Remove(ctx, instanceID, ids...)
	}
	if err == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.of(instanceID)
	for _, head := range taken {
		l.add(head)
	}
	q.begin(l)
	l.wake()
	return err
}

// failTried writes of messages that are cancelled after an attempt that they have failed.
func (q *Queue) failTried(ctx context.Context, taken []Head) error {
	why := gateway.Errorf(gateway.Conflict, gateway.CodeQueueCancelled, "the message was cancelled after an attempt to send it; the platform may have it")
	for _, head := range taken {
		if !head.Tried {
			continue
		}
		message, found, err := q.config.Store.FindQueued(ctx, head.InstanceID, head.ID)
		if err == nil && found {
			err = q.config.Sender.Fail(ctx, message, why)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Usage is what an instance has used of its pace.
type Usage struct {
	Waiting        int // messages in the queue
	SentLastMinute int // through the queue and without it; 600 at most
	// Chats that were begun. They are counted while the pace limits them.
	NewChatsLastHour, NewChatsLastDay int
}

// Usage returns what an instance has used of its pace.
func (q *Queue) Usage(ctx context.Context, instanceID string) (Usage, error) {
	now := q.config.Now()
	sent, err := q.config.Store.SentSince(ctx, instanceID, now.Add(-time.Minute), maxPerMinute)
	if err != nil {
		return Usage{}, err
	}
	begun, err := q.config.Store.NewChatsSince(ctx, instanceID, now.Add(-newChatsAge))
	if err != nil {
		return Usage{}, err
	}
	usage := Usage{SentLastMinute: len(sent), NewChatsLastDay: len(begun)}
	for _, chat := range begun {
		if now.Sub(chat.At) < time.Hour {
			usage.NewChatsLastHour++
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if l, ok := q.queues[instanceID]; ok {
		usage.Waiting = len(l.items)
	}
	return usage, nil
}

// overviewDepth is how many messages of an instance Overview looks at for one that nothing
// holds back.
const overviewDepth = 100

// Overview returns how many messages are in the queue, and for how long the first of them
// has been due that nothing holds back: its instance is connected, and neither its pace nor
// the platform forbids it to write. It is 0 if there is none among the first hundred of each
// instance.
func (q *Queue) Overview() (messages int, overdue time.Duration) {
	now, clock := q.config.Steady(), q.config.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.queues {
		messages += len(l.items)
		if l.pause.forbids(now) {
			continue
		}
		for _, it := range l.items[:min(len(l.items), overviewDepth)] {
			if !it.due && it.DueAt.After(clock) {
				break
			}
			if !l.chats[it.Chat].forbids(now) {
				overdue = max(overdue, now.Sub(it.waits))
				break
			}
		}
	}
	return messages, overdue
}

// forbids reports whether a message is to wait, for another reason than that an attempt has
// failed.
func (h pause) forbids(now time.Time) bool { return h.until.After(now) && h.reason != ReasonRetry }
