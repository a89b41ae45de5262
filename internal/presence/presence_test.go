package presence

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
)

// platform is silent to one instance, refuses another, and serves all others.
type platform struct {
	Directory // nobody is looked up

	silent, refused  string
	followed, inVain chan string // instances for which somebody is followed, or was asked in vain
}

func (p platform) Session(_ context.Context, instanceID string) (gateway.Session, error) {
	return session{people: people{platform: p, instanceID: instanceID}}, nil
}

// session is one that has people alone.
type session struct {
	gateway.Session

	people people
}

func (s session) People() gateway.People { return s.people }

// people is the part of a session that follows contacts.
type people struct {
	gateway.People

	platform   platform
	instanceID string
}

func (p people) FollowPresence(ctx context.Context, _ gateway.Party) error {
	switch p.instanceID {
	case p.platform.silent:
		p.platform.inVain <- p.instanceID
		<-ctx.Done()
		return ctx.Err()
	case p.platform.refused:
		p.platform.inVain <- p.instanceID
		return errors.New("the platform refuses")
	default:
		p.platform.followed <- p.instanceID
		return nil
	}
}

func (people) DropPresence(gateway.Party) {}

// brokenFor is a store that ends no subscription of one instance.
type brokenFor struct {
	*store.Presences

	instance string
}

func (b brokenFor) UnsubscribePresence(ctx context.Context, subscription gateway.PresenceSubscription) (bool, error) {
	if subscription.InstanceID == b.instance {
		return false, errors.New("it can't be ended")
	}
	return b.Presences.UnsubscribePresence(ctx, subscription)
}

// newService makes a service on a store, in which each of the instances is subscribed to
// somebody for an hour from start on.
func newService(t *testing.T, p platform, start, now time.Time, instances ...string) (*Service, brokenFor) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	data, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := data.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range instances {
		if err := data.CreateInstance(t.Context(), gateway.Instance{ID: id, AccountID: "account"}); err != nil {
			t.Fatal(err)
		}
		subscription := gateway.PresenceSubscription{
			InstanceID: id, Contact: gateway.Party{JID: "5511988887766@s.whatsapp.net"}, CreatedAt: start, EndsAt: start.Add(time.Hour),
		}
		if _, err := data.Presences.SubscribePresence(t.Context(), subscription, start, gateway.MaxPresenceSubscriptions); err != nil {
			t.Fatal(err)
		}
	}
	broken := brokenFor{data.Presences, "broken"}
	service, err := New(Config{
		Store: broken, Instances: data, Sessions: p, Directory: p, Tenures: gateway.Alone{}, Logger: logger, Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, broken
}

// While the subscriptions of one instance can't be renewed, because the platform is silent or
// refuses, those of others are: of those that were connected at the same time, and later.
func TestSilenceHoldsNoOtherRenewal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	p := platform{silent: "silent", refused: "refused", followed: make(chan string, 4), inVain: make(chan string, 4)}
	service, _ := newService(t, p, now, now, "silent", "refused", "other", "later")
	ctx, stop := context.WithCancel(t.Context())
	for _, id := range []string{"silent", "refused", "other"} {
		service.Connected(ctx, id)
	}
	ended := make(chan error)
	go func() { ended <- service.Run(ctx) }()
	next := func(asked chan string) string {
		t.Helper()
		select {
		case id := <-asked:
			return id
		case <-time.After(time.Minute):
			t.Fatal("an instance waits")
			return ""
		}
	}
	if id := next(p.followed); id != "other" {
		t.Errorf("%s is renewed", id)
	}
	next(p.inVain) // both of them, in any order
	next(p.inVain)
	service.Connected(ctx, "later")
	if id := next(p.followed); id != "later" {
		t.Errorf("%s is renewed", id)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A subscription that can't be ended keeps no other from its end.
func TestWhatCannotBeEndedHoldsNoOther(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	service, data := newService(t, platform{}, now.Add(-2*time.Hour), now, "first", "broken", "last")
	service.endAll(t.Context())
	left, err := data.EndedPresenceSubscriptions(t.Context(), now, endSlice)
	if err != nil || len(left) != 1 || left[0].InstanceID != "broken" {
		t.Errorf("left are %+v, %v", left, err)
	}
}
