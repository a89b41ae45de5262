// The messages of one instance: which is next, when, and what becomes of it.

package queue

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxFlights is how many chats of an instance are written to at the same time.
	maxFlights = 4
	// recheckInterval is how often a queue looks again without being woken: settings may have
	// changed.
	recheckInterval = 15 * time.Second
	// A message that could not be sent is tried again after firstRetry, then after twice as
	// long each time, and at least every lastRetry.
	firstRetry, lastRetry = 2 * time.Second, 5 * time.Minute
	// newChatsAge is how long new chats are remembered: the longest time within which they
	// are counted.
	newChatsAge = 24 * time.Hour
	// restrictedRetry is when a restricted account tries again if nobody said until when it
	// is restricted.
	restrictedRetry = time.Hour
)

// pause is a time until which something waits, and why.
type pause struct {
	until  time.Time
	reason Reason
}

// item is a message in the queue of an instance.
type item struct {
	Head

	due      bool      // it is in line
	waits    time.Time // since when, by the steady clock
	unkept   bool      // not on the disk yet
	sending  bool
	gone     bool // no longer in the queue
	failures int
}

// chat is what the queue knows of the messages to one recipient.
type chat struct {
	pause

	items int
	busy  bool // one of its messages is being sent
}

// instanceQueue has the messages of one instance that wait. Its fields are guarded by the lock of the queue.
type instanceQueue struct {
	queue      *Queue
	instanceID string
	woken      chan struct{}

	// items are those in line, in the order in which they came or became due, as many as ready says.
	// Then come those that are scheduled, by that time.
	items   []*item
	ready   int
	last    int64 // the highest position
	byID    map[string]*item
	chats   map[string]*chat
	bytes   int64 // of all files
	working bool
	over    bool               // another node has the instance
	end     context.CancelFunc // of its work; nil before that
	work    sync.WaitGroup     // it, and messages that are being sent
	flights int
	pause   pause            // of all chats
	pace    *pacer           // nil until it is loaded
	ahead   []time.Time      // what a pace that has to be loaded anew had reserved
	slowed  int              // how often in a row the platform wanted fewer requests
	seen    gateway.Instance // as it was the last time
}

func newInstanceQueue(q *Queue, instanceID string) *instanceQueue {
	return &instanceQueue{
		queue: q, instanceID: instanceID, woken: make(chan struct{}, 1),
		byID: map[string]*item{}, chats: map[string]*chat{},
	}
}

// logger names the instance in every line.
func (l *instanceQueue) logger() *slog.Logger {
	return l.queue.config.Logger.With(slog.String("instance_id", l.instanceID))
}

// begin runs work of the queue in a goroutine.
func (l *instanceQueue) begin(work func()) {
	l.work.Add(1)
	l.queue.work.Go(func() {
		defer l.work.Done()
		work()
	})
}

// room refuses a message that there is no room for. The lock is held.
func (l *instanceQueue) room(head Head) error {
	config := l.queue.config
	var refusal *gateway.Error
	switch {
	case len(l.items) >= config.MaxMessages:
		refusal = gateway.Errorf(gateway.RateLimited, gateway.CodeQueueFull, "%d messages of this instance wait to be sent; there is no room for more", len(l.items))
	case head.FileSize > 0 && l.bytes+head.FileSize > config.MaxBytes:
		refusal = gateway.Errorf(gateway.RateLimited, gateway.CodeQueueFull, "the files of this instance's messages that wait have %d bytes; there is no room for more", l.bytes)
	default:
		return nil
	}
	refusal.RetryAfter = time.Minute
	return refusal
}

// add puts a message into its place, unless it is there. The lock is held.
func (l *instanceQueue) add(head Head) *item {
	if it, ok := l.byID[head.ID]; ok {
		return it
	}
	it := &item{Head: head, due: head.DueAt.IsZero(), waits: l.queue.config.Steady()}
	l.last = max(l.last, head.Position)
	if it.due {
		// It goes to the end, unless it comes back because it could not be cancelled.
		place := l.ready
		if later := slices.IndexFunc(l.items[:l.ready], func(other *item) bool {
			return other.DueAt.IsZero() && other.Position > head.Position
		}); later >= 0 {
			place = later
		}
		l.items = slices.Insert(l.items, place, it)
		l.ready++
	} else {
		place, _ := slices.BinarySearchFunc(l.items[l.ready:], it, func(a, b *item) int {
			return cmp.Or(a.DueAt.Compare(b.DueAt), cmp.Compare(a.Position, b.Position))
		})
		l.items = slices.Insert(l.items, l.ready+place, it)
	}
	l.byID[head.ID] = it
	l.bytes += head.FileSize
	of, ok := l.chats[head.Chat]
	if !ok {
		of = &chat{}
		l.chats[head.Chat] = of
	}
	of.items++
	return it
}

// fallDue puts those that are scheduled in line once they are due: behind what is in it already; or,
// where they were due before the queue was loaded, before what came only after that. The lock is held.
func (l *instanceQueue) fallDue(loaded bool) {
	now := l.queue.config.Now()
	for l.ready < len(l.items) && !l.items[l.ready].DueAt.After(now) {
		it := l.items[l.ready]
		place := slices.IndexFunc(l.items[:l.ready], func(other *item) bool { return other.since().After(it.DueAt) })
		if loaded && place >= 0 {
			copy(l.items[place+1:l.ready+1], l.items[place:l.ready])
			l.items[place] = it
		}
		it.due, it.waits = true, l.queue.config.Steady()
		l.ready++
	}
}

// since is from when on a message is to be sent, by the clock of that time.
func (it *item) since() time.Time {
	if it.DueAt.IsZero() {
		return it.CreatedAt
	}
	return it.DueAt
}

// drop takes a message out. The lock is held.
func (l *instanceQueue) drop(it *item) {
	if it.gone {
		return
	}
	it.gone = true
	if place := slices.Index(l.items, it); place >= 0 {
		l.items = slices.Delete(l.items, place, place+1)
		if place < l.ready {
			l.ready--
		}
	}
	delete(l.byID, it.ID)
	l.bytes -= it.FileSize
	of := l.chats[it.Chat]
	of.items--
	if of.items == 0 && !of.busy {
		delete(l.chats, it.Chat)
	}
}

// wake makes the queue look again.
func (l *instanceQueue) wake() {
	select {
	case l.woken <- struct{}{}:
	default: // it is awake already
	}
}

// run sends the messages of the queue until there are none or ctx ends.
func (l *instanceQueue) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		wait, done := l.step(ctx)
		if done {
			return
		}
		if wait <= 0 {
			continue
		}
		timer.Reset(min(wait, recheckInterval))
		select {
		case <-l.woken:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// step begins to send one message, if one may be sent. Otherwise it returns how long there
// is nothing to do, unless the queue is woken. done says that the queue has ended.
func (l *instanceQueue) step(ctx context.Context) (wait time.Duration, done bool) {
	q := l.queue
	now := q.config.Steady()
	q.mu.Lock()
	if len(l.items) == 0 && l.flights == 0 {
		if q.queues[l.instanceID] == l {
			delete(q.queues, l.instanceID)
		}
		l.end()
		q.mu.Unlock()
		return 0, true
	}
	q.mu.Unlock()
	instance, err := q.config.Store.GetInstance(ctx, l.instanceID)
	switch {
	case gateway.KindOf(err) == gateway.NotFound:
		l.dropAll(ctx)
		return firstRetry, false // unless the last one settles before
	case err != nil:
		return l.unread(ctx, err), false
	}
	q.mu.Lock()
	l.notice(instance)
	it, wait := l.pick(now)
	q.mu.Unlock()
	if it == nil {
		return wait, false
	}
	message, found, err := q.config.Store.FindQueued(ctx, l.instanceID, it.ID)
	if err == nil {
		err = l.loadPace(ctx, instance)
	}
	if err != nil {
		return l.unread(ctx, err), false
	}
	if !found { // it was cancelled, or its commit did not take place
		q.mu.Lock()
		l.drop(it)
		q.mu.Unlock()
		l.removeFiles(ctx, it.ID)
		return 0, false
	}
	return l.launch(ctx, instance, it, message), false
}

// unread logs that the database could not be read, and returns when to try again.
func (l *instanceQueue) unread(ctx context.Context, err error) time.Duration {
	if ctx.Err() == nil {
		l.logger().ErrorContext(ctx, "queue not read; it is tried again", slog.Any("error", err))
	}
	return firstRetry
}

// notice lifts what settings that have changed no longer hold. The lock is held.
func (l *instanceQueue) notice(instance gateway.Instance) {
	now := l.queue.config.Now()
	before, _ := l.seen.Restricted.Active(now)
	until, active := instance.Restricted.Active(now)
	// Every refusal of the platform is a new word of the same restriction: what was held
	// because of one must not be sent because of it.
	freer := instance.Restricted != l.seen.Restricted && (!active || until.Before(before))
	changed := instance.Sending != l.seen.Sending
	l.seen = instance
	if changed && l.pace != nil {
		l.ahead, l.pace = l.pace.ahead(l.queue.config.Steady()), nil
	}
	for _, of := range l.chats {
		if changed && of.reason == ReasonNewChats || freer && of.reason == ReasonRestricted {
			of.pause = pause{}
		}
	}
}

// loadPace finds out what the instance has sent of late, if its pace depends on it.
func (l *instanceQueue) loadPace(ctx context.Context, instance gateway.Instance) error {
	q, pace := l.queue, instance.Sending.Pace
	now, steady := q.config.Now(), q.config.Steady()
	// What was written while the clock was ahead was done by now all the same.
	ago := func(at time.Time) time.Time { return steady.Add(-max(0, now.Sub(at))) }
	q.mu.Lock()
	loaded := l.pace != nil
	q.mu.Unlock()
	if loaded {
		return nil
	}
	known := newPacer()
	if pace != (gateway.Pace{}) {
		var err error
		if known.sent, err = q.config.Store.SentSince(ctx, l.instanceID, now.Add(-max(time.Minute, pace.Gap+pace.Jitter)), maxPerMinute); err != nil {
			return err
		}
		if known.newChats, err = q.config.Store.NewChatsSince(ctx, l.instanceID, now.Add(-newChatsAge)); err != nil {
			return err
		}
		for n, at := range known.sent {
			known.sent[n] = ago(at)
		}
		for n := range known.newChats {
			known.newChats[n].At = ago(known.newChats[n].At)
		}
	}
	q.mu.Lock()
	for _, at := range l.ahead {
		known.take(at)
	}
	l.pace, l.ahead = known, nil
	q.mu.Unlock()
	return nil
}

// launch sends a message if the pace permits; otherwise it returns how long it does not.
func (l *instanceQueue) launch(ctx context.Context, instance gateway.Instance, it *item, message Message) (wait time.Duration) {
	q, now := l.queue, l.queue.config.Steady()
	typing := time.Duration(0)
	if instance.Sending.Typing && message.Type == gateway.TypeText {
		typing = typingTime(utf8.RuneCountInString(message.Text))
	}
	pace := instance.Sending.Pace
	q.mu.Lock()
	if l.pause.until.After(now) && l.pause.reason != ReasonPace { // since the message was picked
		wait = l.pause.until.Sub(now)
		q.mu.Unlock()
		return wait
	}
	at := l.pace.next(pace, now.Add(typing))
	if begin := at.Add(-typing); begin.After(now) {
		l.pause = pause{until: begin, reason: ReasonPace}
		q.mu.Unlock()
		return begin.Sub(now)
	}
	l.pause = pause{}
	q.mu.Unlock()
	if l.expired(ctx, message) {
		if !l.start(it) {
			return 0 // it was cancelled
		}
		l.begin(func() {
			l.settle(ctx, it, message, gateway.Errorf(gateway.Invalid, gateway.CodeQueueExpired, "the message could not be sent within %s", MaxWait))
		})
		return 0
	}
	to, begins, held, err := l.address(ctx, instance, it, message)
	if held || !l.start(it) {
		return 0 // or it was cancelled
	}
	if err == nil && begins {
		err = q.Begun(ctx, l.instanceID, to)
	}
	if err != nil {
		l.settle(ctx, it, message, err)
		return 0
	}
	q.mu.Lock()
	l.pace.take(at)
	q.mu.Unlock()
	l.begin(func() {
		if typing > 0 {
			q.config.Sender.ShowTyping(ctx, message, to)
		}
		if !l.sleep(ctx, at) {
			return // the process stops; the message stays
		}
		l.settle(ctx, it, message, q.config.Sender.Send(ctx, message, to, func() { l.leaves(it, at) }))
	})
	return 0
}

// expired reports whether a message has waited too long.
func (l *instanceQueue) expired(ctx context.Context, message Message) bool {
	if l.queue.config.Now().Sub(message.Since()) <= MaxWait {
		return false
	}
	now, ok := l.queue.config.RemovalTime(ctx)
	return ok && now.Sub(message.Since()) > MaxWait
}

// leaves notes that a message is handed to the platform now, which was to be at a time.
func (l *instanceQueue) leaves(it *item, at time.Time) {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	it.Tried = true
	if l.pace != nil { // the settings may have changed
		l.pace.late(at, l.queue.config.Steady())
	}
}

// sleep waits until a time, and reports whether ctx has not ended by then.
func (l *instanceQueue) sleep(ctx context.Context, until time.Time) bool {
	wait := until.Sub(l.queue.config.Steady())
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// address finds the chat of a message, and whether the message begins it, if the instance
// may begin only so many. held says that there must be no more of those for now: then the
// platform has not been asked.
func (l *instanceQueue) address(
	ctx context.Context, instance gateway.Instance, it *item, message Message,
) (to gateway.Party, begins, held bool, err error) {
	sender, budget := l.queue.config.Sender, instance.Sending.Pace.NewChats
	if budget == (gateway.Budget{}) {
		to, err = sender.Address(ctx, message)
		return to, false, false, err
	}
	if begins, err = l.begins(ctx, message); err != nil {
		return to, false, false, err
	}
	if begins && l.deferChat(it, budget) {
		return to, true, true, nil
	}
	if to, err = sender.Address(ctx, message); err != nil || !begins {
		return to, false, false, err
	}
	// Now the platform has said under which form of the number the account exists.
	begins, err = l.begins(ctx, message)
	return to, begins, false, err
}

// begins reports whether a message begins a chat that has not been counted yet: an earlier
// attempt may have been.
func (l *instanceQueue) begins(ctx context.Context, message Message) (bool, error) {
	chats, begins, err := l.queue.config.Sender.Begins(ctx, message)
	if err != nil || !begins {
		return false, err
	}
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	return !l.pace.counted(chats), nil
}

// deferChat holds the chat of a message that begins it, if there must be no more of those
// for now.
func (l *instanceQueue) deferChat(it *item, budget gateway.Budget) (held bool) {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	now := l.queue.config.Steady()
	at := l.pace.nextNewChat(budget, now)
	if !at.After(now) || it.gone {
		return false
	}
	l.chats[it.Chat].pause = pause{until: at, reason: ReasonNewChats}
	return true
}

// start marks a message as being sent, unless it is gone.
func (l *instanceQueue) start(it *item) bool {
	l.queue.mu.Lock()
	defer l.queue.mu.Unlock()
	if it.gone {
		return false
	}
	it.sending = true
	l.chats[it.Chat].busy = true
	l.flights++
	return true
}

// pick returns the first message that may be sent now; or else how long there is none,
// unless something changes. The lock is held.
func (l *instanceQueue) pick(now time.Time) (*item, time.Duration) {
	if l.pause.until.After(now) && l.pause.reason != ReasonPace { // which may have changed
		return nil, l.pause.until.Sub(now)
	}
	wait := recheckInterval
	if l.flights >= maxFlights {
		return nil, wait
	}
	l.fallDue(false)
	passed := map[string]bool{}
	for _, it := range l.items[:l.ready] {
		if passed[it.Chat] {
			continue
		}
		of := l.chats[it.Chat]
		if it.unkept || of.busy || of.until.After(now) {
			passed[it.Chat] = true
			if of.until.After(now) {
				wait = min(wait, of.until.Sub(now))
			}
			continue
		}
		return it, 0
	}
	if l.ready < len(l.items) {
		wait = min(wait, l.items[l.ready].DueAt.Sub(l.queue.config.Now()))
	}
	return nil, wait
}

// dropAll empties the queue of an instance that was deleted. The database has removed its
// messages, and their files are left.
func (l *instanceQueue) dropAll(ctx context.Context) {
	var ids []string
	l.queue.mu.Lock()
	for _, it := range slices.Clone(l.items) {
		if !it.sending {
			l.drop(it)
			ids = append(ids, it.ID)
		}
	}
	l.queue.mu.Unlock()
	l.removeFiles(ctx, ids...)
}

// removeFiles removes the files of messages that are gone.
func (l *instanceQueue) removeFiles(ctx context.Context, ids ...string) {
	if err := l.queue.config.Sender.Remove(ctx, l.instanceID, ids...); err != nil && ctx.Err() == nil {
		l.logger().WarnContext(ctx, "files of messages that left the queue not removed; they are removed later",
			slog.Any("error", err))
	}
}
