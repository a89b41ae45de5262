// The use cases of a webhook's configuration.

package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Settings is what a client saves. What is nil stays as it is.
type Settings struct {
	URL     string // empty, where a webhook is changed: it stays
	Secret  *string
	Active  *bool             // nil, where a webhook is made or saved as webhook-config: true
	Events  *[]eventlog.Kind  // empty: all
	Chats   *[]ChatKind       // empty: all
	Headers map[string]string // by their names; nil: they stay
	// MediaLinks says whether events of messages with a file have a link to it.
	MediaLinks *bool
	Format     *string // the name of one of Formats
}

const (
	// MaxWebhooks is how many webhooks an instance has beside the first one. Each event is
	// offered to every one of them.
	MaxWebhooks = 10
	// MaxFollowing is how many of its webhooks may follow one of the account, besides.
	MaxFollowing = 5
	// MaxListed is how many webhooks an instance has at most.
	MaxListed = 1 + MaxWebhooks + MaxFollowing
	// retryUnserved is how long a client should wait for a service that is starting.
	retryUnserved = 5 * time.Second
)

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeWebhookNotFound, "the instance has no such webhook")
}

// Save creates the first webhook of an instance or changes it. A new webhook, and one that
// was not active, starts with the next event. Any other continues at its cursor and
// is tried at once, even if it was waiting or suspended. After a change of the secret
// both secrets sign for a day.
//
// Settings that can't be used are a gateway.Invalid that names the field, an
// instance that does not exist a gateway.NotFound.
func (s *Service) Save(ctx context.Context, instanceID string, settings Settings) (Webhook, error) {
	if settings.Active == nil {
		settings.Active = new(true)
	}
	headers, done, err := s.begin(ctx, instanceID, settings, "webhookUrl", true)
	if err != nil {
		return Webhook{}, err
	}
	defer done()
	webhook, found, err := s.store.FindWebhook(ctx, First(instanceID))
	if err != nil {
		return Webhook{}, fmt.Errorf("webhook: save: %w", err)
	}
	if !found {
		if webhook, err = s.newWebhook(instanceID); err != nil {
			return Webhook{}, err
		}
		webhook.First = true
	}
	return s.save(ctx, webhook, found, settings, headers)
}

// Create makes another webhook of an instance, which starts with the next event. Settings that
// can't be used are a gateway.Invalid that names the field, an instance that does not exist a
// gateway.NotFound, and one that has MaxWebhooks already a gateway.Conflict.
func (s *Service) Create(ctx context.Context, instanceID string, settings Settings) (Webhook, error) {
	if settings.Active == nil {
		settings.Active = new(true)
	}
	headers, done, err := s.begin(ctx, instanceID, settings, "url", true)
	if err != nil {
		return Webhook{}, err
	}
	defer done()
	there, err := s.store.ListWebhooks(ctx, instanceID, gateway.PageRequest{Page: 1, Limit: MaxListed})
	if err != nil {
		return Webhook{}, fmt.Errorf("webhook: create: %w", err)
	}
	others := 0
	for _, webhook := range there.Items {
		if !webhook.First && webhook.Account == "" {
			others++
		}
	}
	if others >= MaxWebhooks {
		return Webhook{}, gateway.Errorf(gateway.Conflict, gateway.CodeWebhookLimit,
			"the instance has %d webhooks beside the one of webhook-config already; remove one first", MaxWebhooks)
	}
	webhook, err := s.newWebhook(instanceID)
	if err != nil {
		return Webhook{}, err
	}
	return s.save(ctx, webhook, false, settings, headers)
}

// Change changes a webhook, as Save does. What the settings leave out stays. A webhook that is
// not there is a gateway.NotFound.
func (s *Service) Change(ctx context.Context, ref Ref, settings Settings) (Webhook, error) {
	headers, done, err := s.begin(ctx, ref.InstanceID, settings, "url", false)
	if err != nil {
		return Webhook{}, err
	}
	defer done()
	webhook, err := s.own(ctx, ref)
	if err != nil {
		return Webhook{}, err
	}
	return s.save(ctx, webhook, true, settings, headers)
}

// begin checks settings, and locks the instance until done is called. urlField names the URL in errors.
func (s *Service) begin(
	ctx context.Context, instanceID string, settings Settings, urlField string, needsURL bool,
) (headers []Header, done func(), err error) {
	if headers, err = s.check(settings, urlField, needsURL); err != nil {
		return nil, nil, err
	}
	done, err = s.lock(ctx, instanceID)
	return headers, done, err
}

func (s *Service) newWebhook(instanceID string) (Webhook, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return Webhook{}, fmt.Errorf("webhook: choose id: %w", err)
	}
	return Webhook{ID: id.String(), InstanceID: instanceID, CreatedAt: s.stamp()}, nil
}

// save saves a webhook with settings and headers that were checked. Its instance is locked.
func (s *Service) save(ctx context.Context, webhook Webhook, found bool, settings Settings, headers []Header) (Webhook, error) {
	done, err := s.lockAlso(ctx, webhook.ID)
	if err != nil {
		return Webhook{}, err
	}
	defer done()
	wasActive := found && webhook.Active
	s.change(&webhook, settings, headers)
	return webhook, s.put(ctx, webhook, !wasActive && (webhook.Active || !found), time.Time{})
}

// put writes a webhook, whose lock is held. Where it begins, it starts with the next event, or
// with the first one since a time.
func (s *Service) put(ctx context.Context, webhook Webhook, begins bool, since time.Time) error {
	var anew, saved *backlog.State
	made, first := false, int64(0)
	if begins {
		// Before the log is read, or an event that is appended right after that
		// would be missed.
		made = s.watch(ctx, webhook)
		_, newest, err := s.log.Bounds(ctx, webhook.InstanceID)
		if err == nil && !since.IsZero() {
			first, err = s.store.FirstEventSince(ctx, webhook.InstanceID, since)
		}
		if err != nil {
			if made {
				s.unwatch(webhook.ref())
			}
			return fmt.Errorf("webhook: save: %w", err)
		}
		anew = &backlog.State{Status: backlog.StatusOK, Cursor: newest}
		saved = new(*anew)
		if first > 0 && first <= newest {
			saved.Cursor = first - 1
		}
	}
	if err := s.store.SaveWebhook(ctx, webhook, saved); err != nil {
		if made {
			s.unwatch(webhook.ref())
		}
		return fmt.Errorf("webhook: save: %w", err)
	}
	s.configure(webhook, anew, first)
	return nil
}

// own returns a webhook that has its own settings. One that follows one of the account is a
// gateway.Conflict.
func (s *Service) own(ctx context.Context, ref Ref) (Webhook, error) {
	webhook, err := s.Get(ctx, ref)
	if err == nil && webhook.Account != "" {
		err = gateway.Errorf(gateway.Conflict, gateway.CodeWebhookOfAccount,
			"the webhook follows one of the account, for all instances: change that one with a partner key")
	}
	return webhook, err
}

// Apply checks settings and changes a webhook by them, which is neither saved nor delivered to
// by that. Settings that can't be used are a gateway.Invalid that names the field; the URL may
// be left out where there is one.
func (s *Service) Apply(to *Webhook, settings Settings) error {
	headers, err := s.check(settings, "url", to.URL == "")
	if err == nil {
		s.change(to, settings, headers)
	}
	return err
}

// Taken returns the instances whose webhooks this process delivers.
func (s *Service) Taken() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.taken))
}

// Follow makes the webhooks of an instance follow those of its account: one follows each, with
// its settings, from the first event since that was made or made active. Those that follow one
// that is gone deliver nothing from then on.
func (s *Service) Follow(ctx context.Context, instanceID string, of []Webhook) error {
	done, err := s.lock(ctx, instanceID)
	if err != nil {
		return err
	}
	defer done()
	there, err := s.store.ListWebhooks(ctx, instanceID, gateway.PageRequest{Page: 1, Limit: MaxListed})
	if err != nil {
		return fmt.Errorf("webhook: follow: %w", err)
	}
	following := map[string]Webhook{}
	for _, one := range there.Items {
		following[one.Account] = one
	}
	kept := map[string]bool{"": true}
	for _, account := range of {
		kept[account.ID] = true
		one, found := following[account.ID]
		if found && one.UpdatedAt.Equal(account.UpdatedAt) {
			continue
		}
		if !found {
			if one, err = s.newWebhook(instanceID); err != nil {
				return err
			}
		}
		if err := s.followOne(ctx, one, found, account); err != nil {
			return err
		}
	}
	s.mu.RLock()
	pumps := s.pumps[instanceID]
	s.mu.RUnlock()
	for _, p := range pumps {
		if account := p.follows(); !kept[account] {
			s.unwatch(Ref{InstanceID: instanceID, ID: p.id})
		}
	}
	return nil
}

// followOne gives one webhook the settings of the account's.
func (s *Service) followOne(ctx context.Context, one Webhook, found bool, account Webhook) error {
	unlock, err := s.lockAlso(ctx, one.ID)
	if err != nil {
		return err
	}
	defer unlock()
	begins, since := !found || !one.Active && account.Active, account.UpdatedAt
	if !found {
		since = account.CreatedAt
	}
	id, instanceID, createdAt := one.ID, one.InstanceID, one.CreatedAt
	one = account
	one.ID, one.InstanceID, one.CreatedAt, one.Account = id, instanceID, createdAt, account.ID
	return s.put(ctx, one, begins, since)
}

// change applies settings that were checked.
func (s *Service) change(webhook *Webhook, settings Settings, headers []Header) {
	now := s.stamp()
	webhook.UpdatedAt = now
	if settings.URL != "" {
		webhook.URL = settings.URL
	}
	if settings.Active != nil {
		webhook.Active = *settings.Active
	}
	if settings.Events != nil {
		webhook.Filter.Kinds = *settings.Events
	}
	if settings.Chats != nil {
		webhook.Filter.Chats = *settings.Chats
	}
	webhook.Filter = webhook.Filter.cleaned()
	if settings.Headers != nil {
		webhook.Headers = headers
	}
	if settings.MediaLinks != nil {
		webhook.MediaLinks = *settings.MediaLinks
	}
	if settings.Format != nil {
		if webhook.Format = *settings.Format; webhook.Format == FormatRecado {
			webhook.Format = ""
		}
	}
	if settings.Secret == nil || Secret(*settings.Secret) == webhook.Secret {
		return
	}
	if webhook.Secret != "" {
		webhook.PreviousSecret, webhook.PreviousSecretUntil = webhook.Secret, now.Add(s.schedule.SecretOverlap)
	}
	webhook.Secret = Secret(*settings.Secret)
}

// stamp is the time as it is stored.
func (s *Service) stamp() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// configure gives the pump of a webhook its new configuration. A service that does
// not run yet will load it. Where it begins anew, it begins with the event first, if there is
// one.
func (s *Service) configure(webhook Webhook, anew *backlog.State, first int64) {
	s.mu.RLock()
	p := s.find(webhook.ref())
	s.mu.RUnlock()
	if p != nil {
		p.configure(webhook, anew, first)
	}
}

// Get returns a webhook, or a gateway.NotFound.
func (s *Service) Get(ctx context.Context, ref Ref) (Webhook, error) {
	webhook, found, err := s.store.FindWebhook(ctx, ref)
	if err != nil {
		return Webhook{}, fmt.Errorf("webhook: get: %w", err)
	}
	if !found {
		return Webhook{}, notFound()
	}
	return webhook, nil
}

// List returns a page of the webhooks of an instance, oldest first.
func (s *Service) List(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[Webhook], error) {
	page, err := s.store.ListWebhooks(ctx, instanceID, request)
	if err != nil {
		return page, fmt.Errorf("webhook: list: %w", err)
	}
	return page, nil
}

// Delete removes a webhook with everything that is known of its deliveries, or returns a
// gateway.NotFound. A request in flight is not cut off.
func (s *Service) Delete(ctx context.Context, ref Ref) error {
	done, err := s.lock(ctx, ref.InstanceID)
	if err != nil {
		return err
	}
	defer done()
	webhook, err := s.own(ctx, ref)
	if err != nil {
		return err
	}
	ref = webhook.ref()
	unlock, err := s.lockAlso(ctx, ref.ID)
	if err != nil {
		return err
	}
	defer unlock()
	deleted, err := s.store.DeleteWebhook(ctx, ref)
	if err != nil {
		return fmt.Errorf("webhook: delete: %w", err)
	}
	s.unwatch(ref)
	if !deleted {
		return notFound()
	}
	return nil
}

// Resume makes a webhook that waits or is suspended try again at once, from its
// cursor. Blocked chats are tried again too. A webhook that is not there is
// a gateway.NotFound; while the service does not run, the answer is a
// gateway.Unavailable.
func (s *Service) Resume(ctx context.Context, ref Ref) error {
	p, err := s.served(ctx, ref)
	if err != nil {
		return err
	}
	p.resume()
	if err := s.flusher.flush(ctx, p); err != nil {
		return fmt.Errorf("webhook: resume: %w", err)
	}
	return nil
}

// served returns the pump of a webhook, or says why there is none.
func (s *Service) served(ctx context.Context, ref Ref) (*pump, error) {
	if p, ok := s.pump(ref); ok {
		return p, nil
	}
	if _, err := s.Get(ctx, ref); err != nil {
		return nil, err
	}
	return nil, &gateway.Error{
		Kind: gateway.Unavailable, Code: gateway.CodeUnavailable,
		Message: "webhooks are not being delivered at the moment", RetryAfter: retryUnserved,
	}
}
