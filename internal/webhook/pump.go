// The pump of one webhook: it sends what its backlog decides.

package webhook

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// announceTimeout bounds the announcement of a suspension.
const announceTimeout = 30 * time.Second

// pump delivers the events of one instance to one destination. It is a backlog, which decides, with
// a lock around it; while nothing is to be done it has no goroutine.
//
// Its lock is held for decisions only, and never while it waits for anything: every
// append of events takes it too.
type pump struct {
	service    *Service
	instanceID string
	id         string // of the webhook
	first      bool   // it is the first of its instance
	tenure     gateway.Tenure
	base       context.Context //nolint:containedctx // of its deliveries, which begin between calls
	cut        context.CancelFunc
	work       sync.WaitGroup // its goroutines

	mu       sync.Mutex
	there    bool    // it was configured
	account  string  // the webhook of the account that it follows
	filter   Filter  // that the backlog has
	to       *target // nil where nothing is to be delivered
	backlog  backlog.Backlog
	attempts attempts

	closed    bool // nothing begins any more but what last returns
	forgotten bool // nothing is saved any more
	slow      bool // the last request was
	spoken    spoken
	waiting   bool // for a place for a request
	reading   bool // or waiting for a place for it
	readAt    time.Time
	dirty     bool // the flusher knows that there is something to save
	later     bool // or that there is something that may be saved later

	timer  *time.Timer
	wakeAt time.Time // for when the timer is set; zero where it is not
}

// soon is the time of an attempt that was planned by an earlier process. What lies further ahead than
// any pause was planned while the clock was ahead.
func (s *Service) soon(at time.Time) time.Time {
	if now := s.steady(); at.Sub(now) > s.schedule.longest() {
		return now
	}
	return at
}

func newPump(s *Service, tenure gateway.Tenure, saved Saved) *pump {
	saved.State.NextTry = s.soon(saved.State.NextTry)
	for i := range saved.Blocked {
		saved.Blocked[i].NextTry = s.soon(saved.Blocked[i].NextTry)
	}
	p := &pump{
		service: s, instanceID: saved.Webhook.InstanceID, id: saved.Webhook.ID, first: saved.Webhook.First, tenure: tenure,
		backlog: backlog.New(s.waits, saved.State, saved.Blocked, saved.Newest),
	}
	p.base, p.cut = context.WithCancel(gateway.WithTenure(s.base, tenure))
	p.attempts.made = saved.State.Attempts
	p.spoken.failing = saved.State.Status == backlog.StatusBackoff
	p.set(saved.Webhook)
	return p
}

// set makes the pump deliver to what was configured.
func (p *pump) set(webhook Webhook) {
	p.there, p.account, p.to = webhook.URL != "", webhook.Account, nil
	p.filter = webhook.Filter
	p.backlog.Filter(webhook.Filter.takes())
	if !webhook.Active {
		return
	}
	to, err := p.service.target(webhook)
	if err != nil {
		p.logger().LogAttrs(p.base, slog.LevelError, "webhook not usable", slog.Any("error", err))
		return
	}
	p.to = to
}

// logger names the instance and the webhook in every line.
func (p *pump) logger() *slog.Logger {
	return p.service.logger.With(slog.String("instance_id", p.instanceID), slog.String("webhook_id", p.id))
}

func (p *pump) configured() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.there
}

// follows returns the webhook of the account that it follows; empty for none.
func (p *pump) follows() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account
}

func (p *pump) isActive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.to != nil
}

// appended takes events that were just committed.
func (p *pump) appended(events []eventlog.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to == nil {
		p.backlog.Skip(events[len(events)-1].Sequence)
		return
	}
	p.backlog.Append(events)
	p.drive(nil, false)
}

// configure follows a change of the configuration. anew, where not nil, is the
// state that the delivery begins anew with, at the event first, if there is one.
func (p *pump) configure(webhook Webhook, anew *backlog.State, first int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(webhook)
	p.slow = false
	if anew != nil {
		p.backlog.Begin(*anew)
		if first > 0 {
			p.backlog.Replay(first)
		}
	} else {
		p.backlog.Resume(p.service.steady())
	}
	p.drive(nil, false)
}

func (p *pump) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backlog.Resume(p.service.steady())
	p.drive(nil, false)
}

func (p *pump) replay(first int64) backlog.Replayed {
	p.mu.Lock()
	defer p.mu.Unlock()
	replayed := p.backlog.Replay(first)
	p.drive(nil, false)
	return replayed
}

// wake does what can be done now.
func (p *pump) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wakeAt = time.Time{}
	p.drive(nil, false)
}

// close lets nothing begin any more. forget says that nothing is saved either.
func (p *pump) close(forget bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.forgotten = true, forget
	if forget {
		go func() { // a request in flight may end
			p.work.Wait()
			p.cut()
		}()
	}
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *pump) delivered() (cursor int64, waiting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.backlog.Delivered(), p.to != nil
}

func (p *pump) health() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	health := Health{State: p.backlog.State(), Problem: p.backlog.Problem(), Newest: p.backlog.Newest(), BlockedChats: p.backlog.BlockedChats()}
	health.Attempts = p.attempts.made
	return health
}

// delivery is a job with what is needed to carry it out.
type delivery struct {
	job  backlog.Job
	to   *target
	slot *slot
}

// drive begins all that can be begun now. A place that was given is used first;
// it is for the caller to give it on where it was not. Where keep is set the
// first delivery is not started but returned. The lock is held.
func (p *pump) drive(given *slot, keep bool) (first *delivery, used bool) {
	if p.closed || p.to == nil {
		return nil, false
	}
	now := p.service.steady()
	p.read(now)
	for {
		next, ok := p.backlog.Choose(now)
		if !ok {
			break
		}
		place := given
		if given != nil {
			given, used = nil, true
		} else if place = p.enter(); place == nil {
			break
		}
		d := &delivery{job: p.backlog.Start(next), to: p.to, slot: place}
		if keep && first == nil {
			first = d
			continue
		}
		p.begin(func() { p.deliver(p.base, d) })
	}
	p.backlog.DropIdle(now)
	p.setTimer(now)
	p.markDirty()
	return first, used
}

// end prepares what is saved last, after the requests in flight have ended.
func (p *pump) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgotten {
		return
	}
	p.backlog.End(p.service.steady())
	p.markDirty()
}

// begin runs work in a goroutine.
func (p *pump) begin(work func()) {
	p.service.work.Add(1)
	p.work.Add(1)
	go func() {
		defer p.service.work.Done()
		defer p.work.Done()
		work()
	}()
}

// pool returns the pool that the next request to the endpoint takes its place
// from. Where an endpoint is only slow, one request at a time goes with the
// healthy ones, for as long as it is not slow itself: else endpoints that hang
// would hold it up.
func (p *pump) pool() *pool {
	if p.backlog.Status() != backlog.StatusOK || p.slow && p.backlog.InFlight() > 0 {
		return p.service.admitted.slow
	}
	return p.service.admitted.healthy
}

// enter takes a place for a request; nil where it has to be waited for.
func (p *pump) enter() *slot {
	if p.waiting {
		return nil
	}
	pool := p.pool()
	if !pool.enter(func() bool { return p.admitted(pool) }) {
		p.waiting = true
		return nil
	}
	return &slot{pool: pool}
}

// admitted uses a place that was waited for, and reports whether it did.
func (p *pump) admitted(pool *pool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	var given *slot
	if pool == p.pool() {
		given = &slot{pool: pool}
	}
	_, used := p.drive(given, false)
	return used
}

// deliver carries out deliveries until there is none left for it.
func (p *pump) deliver(ctx context.Context, d *delivery) {
	for d != nil {
		place := d.slot
		a := p.attempt(ctx, d, func() { p.isSlow(place) })
		place.leave()
		d = p.finish(ctx, d.job, a)
	}
}

// attempt sends an event, within the trace of what caused it.
func (p *pump) attempt(ctx context.Context, d *delivery, slow func()) answer {
	event := d.job.Event
	ctx, span := p.service.tracer.StartDelivery(trace.At(ctx, event.Trace), "deliver "+string(event.Kind))
	a := p.service.client.post(ctx, d.to, event, slow)
	if span.Recording() {
		span.Set(
			trace.Text("recado.instance_id", p.instanceID), trace.Text("recado.event_id", event.ID),
			trace.Text("recado.outcome", a.outcome()), trace.Number("http.response.status_code", a.Answer.Status),
		)
		if !a.Answer.Delivered() && !a.Answer.Unsaid {
			span.Fail()
		}
	}
	span.End(nil)
	return a
}

// isSlow makes room for others while a request takes its time.
func (p *pump) isSlow(place *slot) {
	if place.move(p.service.admitted.slow) {
		p.mu.Lock()
		p.slow = true
		p.mu.Unlock()
	}
}

// finish takes the answer to a request and returns the next delivery, if there is
// one.
func (p *pump) finish(ctx context.Context, j backlog.Job, a answer) *delivery {
	p.mu.Lock()
	status := p.backlog.Status()
	p.backlog.Finish(j, a.Answer, p.service.steady())
	if !a.Answer.Aborted && !a.Answer.Unsaid {
		p.slow = a.duration >= p.service.schedule.SlowAfter
		p.note(j.Event, a)
	}
	suspended := status != backlog.StatusSuspended && p.backlog.Status() == backlog.StatusSuspended
	state := p.backlog.State()
	say := p.spoken.next(state, p.service.now())
	to := p.to
	next, _ := p.drive(nil, true)
	p.mu.Unlock()
	p.say(ctx, say, to, j.Event, a)
	if suspended {
		p.announce(ctx, state)
	}
	return next
}

// say writes the line about an endpoint that has begun to fail, or works again.
func (p *pump) say(ctx context.Context, what word, to *target, event eventlog.Event, a answer) {
	if what == nothing || to == nil {
		return
	}
	logger := p.logger().With(slog.String("host", to.url.Host))
	if what == worksAgain {
		logger.LogAttrs(ctx, slog.LevelInfo, "the endpoint of a webhook works again")
		return
	}
	attrs := []slog.Attr{slog.String("event_id", event.ID)}
	if a.Answer.Status != 0 {
		attrs = append(attrs, slog.Int("status", a.Answer.Status))
	} else {
		attrs = append(attrs, slog.String("error", a.Answer.Problem))
	}
	logger.LogAttrs(ctx, slog.LevelWarn, "the endpoint of a webhook fails; it is tried again", attrs...)
}

// note keeps an attempt for people to see.
func (p *pump) note(event eventlog.Event, a answer) {
	p.service.watcher.Attempted(a.outcome(), a.duration)
	if a.Answer.Delivered() {
		p.service.watcher.Delivered(event.Kind)
	}
	p.attempts.add(Attempt{
		Sequence: event.Sequence, EventID: event.ID, Kind: event.Kind, Chat: event.Chat,
		At: p.service.now().Add(-a.duration), Duration: a.duration,
		Status: a.Answer.Status, Error: a.Answer.Problem, Answer: readable(a.body, maxPiece),
	})
	p.markDirty()
}

// announce appends an event that the webhook was suspended, after that was saved.
func (p *pump) announce(ctx context.Context, state backlog.State) {
	ctx, cancel := context.WithTimeout(ctx, announceTimeout)
	defer cancel()
	logger := p.logger()
	logger.LogAttrs(ctx, slog.LevelWarn, "webhook suspended: it gets no events until it is saved or resumed", slog.String("reason", state.Reason))
	if err := p.service.flusher.flush(ctx, p); err != nil {
		logger.LogAttrs(ctx, slog.LevelError, "suspension of a webhook not saved yet", slog.Any("error", err))
	}
	event, err := eventlog.NewEvent(p.instanceID, "",
		"webhook-suspended/"+p.id+"/"+strconv.FormatInt(state.FailingSince.UnixMilli(), 10), p.service.now(),
		eventlog.WebhookSuspended{
			WebhookID: p.id, Reason: state.Reason, FailingSince: eventlog.TimeOrNull(state.FailingSince), NextSequence: state.Cursor + 1,
		})
	if err == nil {
		err = p.service.log.Append(ctx, event)
	}
	if err != nil {
		logger.LogAttrs(ctx, slog.LevelError, "suspension of a webhook not announced", slog.Any("error", err))
	}
}

// setTimer makes the pump wake when the time has come for something.
func (p *pump) setTimer(now time.Time) {
	at := p.backlog.NextWake()
	if !at.After(now) {
		at = time.Time{} // what is due waits for something else than the time
	}
	if p.readAt.After(now) && (at.IsZero() || p.readAt.Before(at)) {
		at = p.readAt
	}
	switch {
	case at.Equal(p.wakeAt):
	case at.IsZero():
		p.timer.Stop()
		p.wakeAt = time.Time{}
	case p.timer == nil:
		p.timer, p.wakeAt = time.AfterFunc(at.Sub(now), p.wake), at
	default:
		p.timer.Reset(at.Sub(now))
		p.wakeAt = at
	}
}

// markDirty lets the flusher know that there is something to save.
func (p *pump) markDirty() {
	if !p.dirty && (p.backlog.Unsaved() || len(p.attempts.pending) > 0) {
		p.dirty = true
		p.service.flusher.mark(p)
	} else if !p.dirty && !p.later && p.backlog.Skipped() {
		p.later = true
		p.service.flusher.markLater(p)
	}
}
