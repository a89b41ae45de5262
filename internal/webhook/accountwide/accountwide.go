// Package accountwide has the webhooks of accounts, which hear all instances. Each instance has
// a webhook that follows such a one: it has its settings, and a cursor, an order, dead letters
// and attempts of its own. Package webhook delivers to it like to any other.
package accountwide

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/webhook"
)

// MaxWebhooks is how many webhooks an account has: each event is offered to every one of them.
const MaxWebhooks = webhook.MaxFollowing

// Webhook is a webhook of an account. It has no instance, and is never the first one of any.
type Webhook struct {
	webhook.Webhook

	AccountID string
}

// Store keeps the webhooks of accounts.
type Store interface {
	// SaveAccountWebhook creates or changes a webhook, by its id. An account that does not
	// exist is a gateway.NotFound.
	SaveAccountWebhook(ctx context.Context, hook Webhook) error
	// FindAccountWebhook returns a webhook of an account, if it is there.
	FindAccountWebhook(ctx context.Context, accountID, id string) (Webhook, bool, error)
	// ListAccountWebhooks returns a page of the webhooks of an account, oldest first.
	ListAccountWebhooks(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[Webhook], error)
	// DeleteAccountWebhook removes a webhook with all that follow it, and reports whether there
	// was one.
	DeleteAccountWebhook(ctx context.Context, accountID, id string) (bool, error)
	// AllAccountWebhooks returns those of all accounts, oldest first.
	AllAccountWebhooks(ctx context.Context) ([]Webhook, error)
	// AccountsOf returns the accounts of instances, by their ids. It leaves out those that do
	// not exist.
	AccountsOf(ctx context.Context, instanceIDs []string) (map[string]string, error)
}

// Deliveries are the webhooks of the instances that this process works for.
type Deliveries interface {
	// Apply changes a webhook, or returns a gateway.Invalid.
	Apply(to *webhook.Webhook, settings webhook.Settings) error
	// Taken returns the instances that this process works for.
	Taken() []string
	// Follow makes the webhooks of an instance follow those of its account.
	Follow(ctx context.Context, instanceID string, of []webhook.Webhook) error
}

// Config holds what the service needs. Only Every and Now may be left out.
type Config struct {
	Store    Store
	Webhooks Deliveries
	Tenures  gateway.Tenures
	Logger   *slog.Logger
	Every    time.Duration    // how often changes of other nodes are looked for (2 seconds)
	Now      func() time.Time // nil: the wall clock
}

// Service is the use cases of accounts' webhooks. While Run runs, the instances follow them. It
// is safe for concurrent use.
type Service struct {
	config Config
	// changing is held while webhooks are changed: an account must not get too many.
	changing sync.Mutex
	changed  chan struct{} // has room for one
	instances
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("accountwide", config, "Now"); err != nil {
		return nil, err
	}
	if config.Every == 0 {
		config.Every = 2 * time.Second
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{config: config, changed: make(chan struct{}, 1), instances: newInstances()}, nil
}

// Create makes a webhook. Every instance of the account, those that come later too, delivers the
// events to it that happen from now on. Settings that can't be used are a gateway.Invalid that
// names the field, and an account that has MaxWebhooks already is a gateway.Conflict.
func (s *Service) Create(ctx context.Context, accountID string, settings webhook.Settings) (Webhook, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Webhook{}, fmt.Errorf("accountwide: choose id: %w", err)
	}
	hook := Webhook{AccountID: accountID, Webhook: webhook.Webhook{ID: id.String(), CreatedAt: s.stamp()}}
	if settings.Active == nil {
		settings.Active = new(true)
	}
	if err := s.config.Webhooks.Apply(&hook.Webhook, settings); err != nil {
		return Webhook{}, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	page, err := s.config.Store.ListAccountWebhooks(ctx, accountID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil {
		return Webhook{}, fmt.Errorf("accountwide: create: %w", err)
	}
	if page.Total >= MaxWebhooks {
		return Webhook{}, gateway.Errorf(gateway.Conflict, gateway.CodeWebhookLimit,
			"the account has %d webhooks already; remove one first", page.Total)
	}
	return s.save(ctx, hook)
}

// Change changes a webhook. What the settings leave out stays. One that is not there is a
// gateway.NotFound.
func (s *Service) Change(ctx context.Context, accountID, id string, settings webhook.Settings) (Webhook, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	hook, err := s.Get(ctx, accountID, id)
	if err != nil {
		return Webhook{}, err
	}
	before := hook.UpdatedAt
	if err := s.config.Webhooks.Apply(&hook.Webhook, settings); err != nil {
		return Webhook{}, err
	}
	// Instances see by it that there was a change.
	if !hook.UpdatedAt.After(before) {
		hook.UpdatedAt = before.Add(time.Millisecond)
	}
	return s.save(ctx, hook)
}

func (s *Service) save(ctx context.Context, hook Webhook) (Webhook, error) {
	if err := s.config.Store.SaveAccountWebhook(ctx, hook); err != nil {
		return Webhook{}, fmt.Errorf("accountwide: save: %w", err)
	}
	s.lookNow()
	return hook, nil
}

// Get returns a webhook of an account, or a gateway.NotFound.
func (s *Service) Get(ctx context.Context, accountID, id string) (Webhook, error) {
	hook, found, err := s.config.Store.FindAccountWebhook(ctx, accountID, id)
	if err != nil {
		return Webhook{}, fmt.Errorf("accountwide: get: %w", err)
	}
	if !found {
		return Webhook{}, notFound()
	}
	return hook, nil
}

// List returns a page of the webhooks of an account, oldest first.
func (s *Service) List(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[Webhook], error) {
	found, err := s.config.Store.ListAccountWebhooks(ctx, accountID, page)
	if err != nil {
		return found, fmt.Errorf("accountwide: list: %w", err)
	}
	return found, nil
}

// Delete removes a webhook with everything that is known of its deliveries, or returns a
// gateway.NotFound.
func (s *Service) Delete(ctx context.Context, accountID, id string) error {
	deleted, err := s.config.Store.DeleteAccountWebhook(ctx, accountID, id)
	if err != nil {
		return fmt.Errorf("accountwide: delete: %w", err)
	}
	if !deleted {
		return notFound()
	}
	s.lookNow()
	return nil
}

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeWebhookNotFound, "the account has no such webhook")
}

// stamp is the time as it is stored.
func (s *Service) stamp() time.Time { return s.config.Now().UTC().Truncate(time.Millisecond) }

// lookNow makes Run look for changes at once.
func (s *Service) lookNow() {
	select {
	case s.changed <- struct{}{}:
	default: // it will anyway
	}
}
