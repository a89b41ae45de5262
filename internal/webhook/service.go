package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/keylock"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Config holds the settings. Those that are not marked as required may be left out.
type Config struct {
	Store  Store          // required
	Log    Log            // required
	Bell   *eventlog.Bell // required; rings after each commit of events
	Logger *slog.Logger   // required

	Schedule Schedule
	Limits   Limits

	// AllowPrivateURLs permits endpoints with private, loopback and link-local
	// addresses.
	AllowPrivateURLs bool
	// Denied are public prefixes that are not posted to either, unless
	// AllowPrivateURLs permits everything.
	Denied []netip.Prefix
	// Version is sent to endpoints, as user-agent Recado/<version>; empty means
	// "dev".
	Version string
	// Resolver looks up the hosts of endpoints; nil means the machine's own.
	Resolver *net.Resolver
	// MediaLinks signs the links to files in events; nil: webhooks can't have any.
	MediaLinks MediaLinks
	// OpenFile opens the files that a format has in events; nil: no event has any.
	OpenFile OpenFile
	// Formats are the languages that a webhook may have beside FormatRecado, by their names; Instances and
	// Accounts are needed by them. nil: there are none.
	Formats   map[string]Format
	Instances Instances
	Accounts  Accounts
	// Watcher is told of attempts; nil: nobody is.
	Watcher Watcher
	// Tracer shows attempts in the traces of their events; nil: there are none.
	Tracer *trace.Tracer
	// Tenures knows the instances that this process works for; nil: all.
	Tenures gateway.Tenures
	// Now is the clock; nil means the wall clock.
	Now func() time.Time
	// Steady is a clock that nobody sets, for pauses between attempts; nil means Now.
	Steady func() time.Time
}

// Service is the use cases of webhooks, and their delivery while Run runs. It is
// safe for concurrent use.
type Service struct {
	store     Store
	log       Log
	logger    *slog.Logger
	now       func() time.Time
	steady    func() time.Time
	schedule  *Schedule
	waits     *backlog.Schedule // of all backlogs
	limits    Limits
	guard     *outbound.Guard // nil: every address is allowed
	client    *client
	tenures   gateway.Tenures
	admitted  *admission
	flusher   *flusher
	links     MediaLinks // nil: there are none
	files     *files     // nil: there are none
	formats   map[string]Format
	instances Instances
	accounts  Accounts
	tests     *share.Pool // places of tests and single deliveries
	replays   *replays
	watcher   Watcher
	tracer    *trace.Tracer

	// saving locks an instance while its configurations are changed, and a webhook, by its
	// id, while its progress is written, so that neither undoes the other. An instance is
	// locked first. loading is held while webhooks are read.
	saving  keylock.Locks
	loading sync.RWMutex

	mu      sync.RWMutex
	running bool
	pumps   map[string][]*pump // by instance
	// early is, for each instance whose webhooks are being loaded, the newest event that was
	// appended meanwhile.
	early map[string]int64
	taken map[string]bool // the instances that this process works for
	ready chan struct{}   // closed when Run has begun

	work sync.WaitGroup // every goroutine of a pump
	// base is the context of deliveries. Run sets it before there is a pump that
	// delivers, and ends it last.
	base context.Context //nolint:containedctx // pumps work between calls, for as long as Run
}

// New makes the service. Run delivers.
func New(config Config) (*Service, error) {
	if err := required.Check("webhook", config, "Accounts", "Formats", "Instances", "MediaLinks", "Now", "OpenFile", "Resolver", "Steady", "Tenures", "Tracer", "Watcher"); err != nil {
		return nil, err
	}
	schedule := config.Schedule.withDefaults()
	s := &Service{
		store: config.Store, log: config.Log, logger: config.Logger, now: config.Now, steady: config.Steady,
		schedule: &schedule, waits: schedule.waits(), limits: config.Limits.withDefaults(),
		pumps: map[string][]*pump{}, early: map[string]int64{}, taken: map[string]bool{}, ready: make(chan struct{}), watcher: config.Watcher, tracer: config.Tracer,
		links: config.MediaLinks, formats: config.Formats, instances: config.Instances, accounts: config.Accounts,
	}
	if config.OpenFile != nil {
		s.files = newFiles(config.OpenFile, schedule.FileWait, config.Logger)
	}
	if s.watcher == nil {
		s.watcher = nobody{}
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.steady == nil {
		s.steady = s.now
	}
	if s.tenures = config.Tenures; s.tenures == nil {
		s.tenures = gateway.Alone{}
	}
	if !config.AllowPrivateURLs {
		s.guard = outbound.NewGuard(config.Denied)
	}
	s.client = newClient(clientConfig{
		schedule: &schedule, guard: s.guard, resolver: config.Resolver, version: config.Version, now: s.now,
	})
	s.admitted = newAdmission(s.limits)
	s.flusher = newFlusher(s)
	s.tests = share.New(share.Config{
		Name: "webhook_tests", Total: maxTests, What: "tests of webhooks in progress", Advice: "wait until they have ended",
	})
	var err error
	if s.replays, err = newReplays(schedule.ReplayEvery); err != nil {
		return nil, err
	}
	config.Bell.Listen(s.appended)
	return s, nil
}

// Run delivers, for the instances of TakeUp, until ctx ends. Then it waits for requests in
// flight, Schedule.StopWait at most, and saves the progress. It is called once.
func (s *Service) Run(ctx context.Context) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.mu.Lock()
	s.base, s.running = base, true
	s.mu.Unlock()
	close(s.ready)
	s.flusher.run(ctx)
	s.stop(cancel)
	s.client.close()
	s.flusher.hurry()
	if err := s.flusher.flushAll(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("webhook: save states: %w", err)
	}
	return nil
}

// Ready is closed when Run has begun, and TakeUp can be called.
func (s *Service) Ready() <-chan struct{} { return s.ready }

// lock waits until nobody else changes the webhooks of an instance, or writes the progress of
// a webhook. The caller calls unlock.
func (s *Service) lock(ctx context.Context, id string) (unlock func(), err error) {
	s.loading.RLock()
	saved, err := s.lockAlso(ctx, id)
	if err != nil {
		s.loading.RUnlock()
		return nil, err
	}
	return func() {
		saved()
		s.loading.RUnlock()
	}, nil
}

// lockAlso is lock for who has locked something already.
func (s *Service) lockAlso(ctx context.Context, id string) (unlock func(), err error) {
	unlock, err = s.saving.Lock(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("webhook: wait for another change: %w", err)
	}
	return unlock, nil
}

// stop ends the pumps. Requests that are still in flight after Schedule.StopWait are
// cut off by cancel.
func (s *Service) stop(cancel context.CancelFunc) {
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
	for _, p := range s.all() {
		p.close(false)
	}
	timer := time.AfterFunc(s.schedule.StopWait, cancel)
	defer timer.Stop()
	s.work.Wait()
	for _, p := range s.all() {
		p.end()
	}
}

// appended notes events of one instance that were committed. The bell calls it
// after each commit, with those of one instance in their order; it neither blocks
// nor reads.
func (s *Service) appended(events []eventlog.Event) {
	if len(events) == 0 {
		return
	}
	instanceID := events[0].InstanceID
	s.mu.RLock()
	pumps := s.pumps[instanceID]
	_, loading := s.early[instanceID]
	s.mu.RUnlock()
	if loading {
		s.mu.Lock()
		if _, loading = s.early[instanceID]; loading {
			s.early[instanceID] = events[len(events)-1].Sequence
		}
		pumps = s.pumps[instanceID]
		s.mu.Unlock()
	}
	for _, p := range pumps {
		p.appended(events)
	}
}

// Delivered returns the sequence number up to which retention may treat an
// instance's events as delivered, and whether a webhook waits for the rest: that of the
// webhook that is the farthest behind. Before the instance has been taken up, and after it
// was let go, a webhook counts as waiting for every event.
func (s *Service) Delivered(instanceID string) (cursor int64, waiting bool) {
	s.mu.RLock()
	pumps := s.pumps[instanceID]
	taken := s.taken[instanceID]
	s.mu.RUnlock()
	if !taken {
		return 0, true
	}
	for _, p := range pumps {
		if through, waits := p.delivered(); waits && (!waiting || through < cursor) {
			cursor, waiting = through, true
		}
	}
	return cursor, waiting
}

// Forget drops what is held in memory of an instance that was deleted together
// with its webhooks.
func (s *Service) Forget(instanceID string) {
	s.mu.Lock()
	pumps := s.pumps[instanceID]
	delete(s.pumps, instanceID)
	delete(s.taken, instanceID)
	s.mu.Unlock()
	for _, p := range pumps {
		p.close(true)
	}
}

// unwatch drops the pump of a webhook that is gone, or that watch has made in vain.
func (s *Service) unwatch(ref Ref) {
	s.mu.Lock()
	p := s.find(ref)
	s.drop(p)
	s.mu.Unlock()
	if p != nil {
		p.close(true)
	}
}

// find returns the pump of a webhook, whose reference has its id; nil if there is none. The
// lock is held.
func (s *Service) find(ref Ref) *pump {
	for _, p := range s.pumps[ref.InstanceID] {
		if p.id == ref.ID {
			return p
		}
	}
	return nil
}

// add and drop change which pumps there are. Lists of pumps are never changed, because those
// who have read them use them without the lock. The lock is held.
func (s *Service) add(p *pump) {
	s.pumps[p.instanceID] = append(slices.Clip(s.pumps[p.instanceID]), p)
}

func (s *Service) drop(p *pump) {
	if p == nil {
		return
	}
	left := slices.DeleteFunc(slices.Clone(s.pumps[p.instanceID]), func(other *pump) bool { return other == p })
	if len(left) == 0 {
		delete(s.pumps, p.instanceID)
	} else {
		s.pumps[p.instanceID] = left
	}
}

// pump returns the pump of a webhook, if it is there.
func (s *Service) pump(ref Ref) (*pump, bool) {
	s.mu.RLock()
	pumps := s.pumps[ref.InstanceID]
	s.mu.RUnlock()
	for _, p := range pumps {
		if (p.id == ref.ID || p.first && ref.ID == "") && p.configured() {
			return p, true
		}
	}
	return nil, false
}

// watch makes a pump for a new webhook, so that events that are appended from now on
// are noticed, and reports whether it has. It does nothing while the service does not run,
// or if the instance is another node's by now.
func (s *Service) watch(ctx context.Context, webhook Webhook) (made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tenure := gateway.TenureOf(ctx)
	if held, here := s.tenures.WithTenure(ctx, webhook.InstanceID); !here || gateway.TenureOf(held) != tenure {
		return false
	}
	if !s.running || s.find(webhook.ref()) != nil {
		return false
	}
	s.add(newPump(s, tenure, Saved{Webhook: Webhook{InstanceID: webhook.InstanceID, ID: webhook.ID, First: webhook.First}}))
	return true
}

// all returns the pumps of all webhooks.
func (s *Service) all() []*pump {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Concat(slices.Collect(maps.Values(s.pumps))...)
}
