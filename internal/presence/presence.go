// Package presence holds the use cases of presence: an instance subscribes to some contacts,
// what they show is reported, as often as somebody may want to hear it, and the account is shown
// online where the instance is set so.
package presence

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/keylock"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/worker"
)

const (
	// pace is how often what waits is looked at.
	pace = time.Second
	// endPace is how often subscriptions that have ended are looked for, and endSlice how
	// many are removed then.
	endPace  = time.Minute
	endSlice = 1000
)

// Store keeps subscriptions, and the events of what contacts show. It has more than five methods
// because it is one table.
type Store interface {
	SubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription, now time.Time, most int) (gateway.PresenceSubscription, error)
	UnsubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription) (removed bool, err error)
	FindPresenceSubscription(ctx context.Context, instanceID string, contact gateway.Party, now time.Time) (gateway.PresenceSubscription, bool, error)
	ListPresenceSubscriptions(ctx context.Context, instanceID string, now time.Time) ([]gateway.PresenceSubscription, error)
	EndedPresenceSubscriptions(ctx context.Context, now time.Time, limit int) ([]gateway.PresenceSubscription, error)
	KeepPresence(ctx context.Context, instanceID string, presence gateway.ContactPresence, event eventlog.Event) error
}

// Directory finds the addresses of people.
type Directory interface {
	Party(ctx context.Context, through gateway.People, to gateway.Recipient) (gateway.Party, error)
	// Candidates returns the addresses that a recipient may have, without asking the
	// platform.
	Candidates(ctx context.Context, to gateway.Recipient) ([]gateway.Party, error)
}

// Instances know what instances are set to.
type Instances interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
}

// Config holds what the service needs; all but Now is required.
type Config struct {
	Store     Store
	Instances Instances
	Sessions  gateway.Sessions
	Directory Directory
	Tenures   gateway.Tenures
	Logger    *slog.Logger
	Now       func() time.Time // nil: the wall clock
}

// Service carries out the use cases. It is safe for concurrent use. Besides the errors that a
// method names, those that need a session may return Conflict, PaymentRequired, RateLimited,
// PlatformFailed and PlatformTimeout.
type Service struct {
	config   Config
	order    keylock.Locks // one event of an instance at a time, so that none overtakes another
	throttle throttle
	renewals *worker.Errands

	mu      sync.Mutex
	changed map[string]bool // instances whose account has to be shown as they are set now
}

// New makes the service. Run renews subscriptions, ends them, and reports what has waited.
func New(config Config) (*Service, error) {
	if err := required.Check("presence", config, "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	s := &Service{config: config, changed: map[string]bool{}}
	s.renewals = worker.NewErrands(s.renew)
	return s, nil
}

// Subscribe subscribes an instance to somebody's presence for some time from now on, or prolongs
// that. Its errors are Invalid for a number without an account and for the account itself, and
// Conflict if there are too many.
func (s *Service) Subscribe(ctx context.Context, instanceID string, to gateway.Recipient, lasting time.Duration) (gateway.PresenceSubscription, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return gateway.PresenceSubscription{}, err
	}
	party, err := s.config.Directory.Party(ctx, session.People(), to)
	if err != nil {
		return gateway.PresenceSubscription{}, err
	}
	if known, err := session.People().Addresses(ctx, []gateway.JID{party.Address()}); err != nil {
		return gateway.PresenceSubscription{}, err
	} else if known[0].JID != "" && known[0].LID != "" {
		party = known[0]
	}
	if self := session.Account().Self(); self.Is(party.JID) || self.Is(party.LID) {
		return gateway.PresenceSubscription{}, gateway.InvalidField("phone", "must be somebody else: this is the instance's own account")
	}
	now := s.config.Now().UTC()
	kept, err := s.config.Store.SubscribePresence(ctx, gateway.PresenceSubscription{
		InstanceID: instanceID, Contact: party, CreatedAt: now, EndsAt: now.Add(lasting),
	}, now, gateway.MaxPresenceSubscriptions)
	if err != nil {
		return gateway.PresenceSubscription{}, err
	}
	// It is kept, so it begins with the next connection at the latest.
	return kept, session.People().FollowPresence(ctx, party)
}

// Unsubscribe ends a subscription. Its error is NotFound if there is none.
func (s *Service) Unsubscribe(ctx context.Context, instanceID string, to gateway.Recipient) error {
	found, err := s.Get(ctx, instanceID, to)
	if err != nil {
		return err
	}
	return s.end(ctx, found)
}

func (s *Service) end(ctx context.Context, subscription gateway.PresenceSubscription) error {
	removed, err := s.config.Store.UnsubscribePresence(ctx, subscription)
	if err != nil || !removed {
		return err
	}
	// Without a session nobody is followed.
	if session, err := s.config.Sessions.Session(ctx, subscription.InstanceID); err == nil {
		session.People().DropPresence(subscription.Contact)
	}
	return nil
}

// Get returns a subscription, with what the contact has shown last. Its error is NotFound if
// there is none. The platform is not asked.
func (s *Service) Get(ctx context.Context, instanceID string, to gateway.Recipient) (gateway.PresenceSubscription, error) {
	candidates, err := s.config.Directory.Candidates(ctx, to)
	if err != nil {
		return gateway.PresenceSubscription{}, err
	}
	for _, candidate := range candidates {
		found, ok, err := s.config.Store.FindPresenceSubscription(ctx, instanceID, candidate, s.config.Now())
		if err != nil || ok {
			return found, err
		}
	}
	return gateway.PresenceSubscription{}, gateway.Errorf(gateway.NotFound, gateway.CodeNotSubscribed,
		"there is no subscription to the presence of this contact, or it has ended")
}

// List returns a page of the subscriptions, the oldest first. The platform is not asked.
func (s *Service) List(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.PresenceSubscription], error) {
	all, err := s.config.Store.ListPresenceSubscriptions(ctx, instanceID, s.config.Now())
	if err != nil {
		return gateway.Page[gateway.PresenceSubscription]{}, err
	}
	return gateway.PageOf(all, page), nil
}

// Connected tells that an instance is connected, or that its account has got a name, without
// which the platform shows nobody online. What the platform forgets with a connection is
// renewed soon: the subscriptions, and that the account is online if it always is. It does not wait.
func (s *Service) Connected(ctx context.Context, instanceID string) { s.renewals.Ask(ctx, instanceID) }

// OnlineChanged tells that an instance was set to be always online, or not to be any more. The
// account is shown so soon. It does not wait.
func (s *Service) OnlineChanged(ctx context.Context, instanceID string) {
	s.mu.Lock()
	s.changed[instanceID] = true
	s.mu.Unlock()
	s.renewals.Ask(ctx, instanceID)
}

// Shown reports what a contact shows, and notes it in the subscription. Of a contact, or an
// instance, that shows more than anybody wants to hear, the last thing is reported when there
// is room.
func (s *Service) Shown(ctx context.Context, instanceID string, presence gateway.ContactPresence) error {
	unlock, err := s.order.Lock(ctx, instanceID)
	if err != nil {
		return err
	}
	defer unlock()
	if !s.throttle.take(gateway.TenureOf(ctx), instanceID, presence, s.config.Now()) {
		return nil
	}
	return s.report(ctx, instanceID, presence)
}

// report appends the event. The instance's lock is held.
func (s *Service) report(ctx context.Context, instanceID string, presence gateway.ContactPresence) error {
	event, err := eventlog.NewEvent(instanceID, presence.Chat.Key(), "", presence.At, eventlog.NewPresence(presence))
	if err != nil {
		return fmt.Errorf("presence: make event: %w", err)
	}
	return s.config.Store.KeepPresence(ctx, instanceID, presence, event)
}

// Run renews, ends and reports until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var work sync.WaitGroup
	work.Go(func() { s.renewals.Run(ctx) }) // apart: a platform that is slow for one instance keeps no report back
	defer work.Wait()
	waiting, ends := time.NewTicker(pace), time.NewTicker(endPace)
	defer waiting.Stop()
	defer ends.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-waiting.C:
			s.reportWaiting(ctx)
		case <-ends.C:
			s.endAll(ctx)
		}
	}
}

// renew shows the platform what it does not know, or has forgotten, of an instance that is connected.
func (s *Service) renew(ctx context.Context, instanceID string) {
	failed := func(err error, what string) {
		if err != nil && ctx.Err() == nil && !gateway.IsAway(err) { // Connected is told when it is back, or has a name
			s.config.Logger.WarnContext(ctx, what+"; the next connection does it", slog.String("instance_id", instanceID), slog.Any("error", err)) //nolint:sloglint // callers pass constants
		}
	}
	// First: the platform reports the presence of others only to accounts that show their own.
	failed(s.showOnline(ctx, instanceID), "the account is not shown as the instance is set")
	failed(s.renewSubscriptions(ctx, instanceID), "subscriptions to presence not renewed")
}

// showOnline shows the account online if it always is, and offline if it no longer is.
func (s *Service) showOnline(ctx context.Context, instanceID string) error {
	s.mu.Lock()
	changed := s.changed[instanceID]
	delete(s.changed, instanceID)
	s.mu.Unlock()
	instance, err := s.config.Instances.GetInstance(ctx, instanceID)
	if err != nil {
		return err
	}
	shown := gateway.PresenceAvailable
	if !instance.Switches.AlwaysOnline {
		if shown = gateway.PresenceUnavailable; !changed {
			return nil
		}
	}
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return err
	}
	return session.People().SetPresence(ctx, "", shown)
}

func (s *Service) renewSubscriptions(ctx context.Context, instanceID string) error {
	all, err := s.config.Store.ListPresenceSubscriptions(ctx, instanceID, s.config.Now())
	if err != nil || len(all) == 0 {
		return err
	}
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return err
	}
	for _, subscription := range all {
		if err := session.People().FollowPresence(ctx, subscription.Contact); err != nil {
			return err
		}
	}
	return nil
}

// reportWaiting reports what there was no room for.
func (s *Service) reportWaiting(ctx context.Context) {
	for _, instanceID := range s.throttle.crowded() {
		unlock, err := s.order.Lock(ctx, instanceID)
		if err != nil {
			return
		}
		for _, late := range s.throttle.due(instanceID, s.config.Now()) {
			if err := s.report(gateway.WithTenure(ctx, late.tenure), instanceID, late.presence); err != nil && ctx.Err() == nil {
				// The platform does not deliver it again, and it is stale anyway.
				s.config.Logger.WarnContext(ctx, "presence not kept", slog.String("instance_id", instanceID), slog.Any("error", err))
			}
		}
		unlock()
	}
}

// endAll ends the subscriptions of this process's instances whose time is over.
func (s *Service) endAll(ctx context.Context) {
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "subscriptions to presence not ended; it is tried again", slog.Any("error", err))
		}
	}
	ended, err := s.config.Store.EndedPresenceSubscriptions(ctx, s.config.Now(), endSlice)
	failed(err)
	for _, subscription := range ended {
		if work, mine := s.config.Tenures.WithTenure(ctx, subscription.InstanceID); mine {
			failed(s.end(work, subscription))
		}
	}
}
