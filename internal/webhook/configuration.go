// The use cases of a webhook's configuration.

package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Settings is what a client saves.
type Settings struct {
	URL    string
	Secret *string // nil keeps the one that is set
	Active *bool   // nil means true
}

// retryUnserved is how long a client should wait for a service that is starting.
const retryUnserved = 5 * time.Second

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeWebhookNotFound, "the instance has no webhook")
}

// Save creates the webhook of an instance or changes it. A new webhook, and one that
// was not active, starts with the next event. Any other continues at its cursor and
// is tried at once, even if it was waiting or suspended. After a change of the secret
// both secrets sign for a day.
//
// Settings that can't be used are a gateway.Invalid that names the field, an
// instance that does not exist a gateway.NotFound.
func (s *Service) Save(ctx context.Context, instanceID string, settings Settings) (Webhook, error) {
	if err := s.check(settings); err != nil {
		return Webhook{}, err
	}
	done, err := s.lock(ctx, instanceID)
	if err != nil {
		return Webhook{}, err
	}
	defer done()
	webhook, found, err := s.store.FindWebhook(ctx, instanceID)
	if err != nil {
		return Webhook{}, fmt.Errorf("webhook: save: %w", err)
	}
	wasActive := found && webhook.Active
	if !found {
		id, err := uuid.NewV7()
		if err != nil {
			return Webhook{}, fmt.Errorf("webhook: choose id: %w", err)
		}
		webhook = Webhook{ID: id.String(), InstanceID: instanceID, CreatedAt: s.stamp()}
	}
	s.change(&webhook, settings)
	var anew *backlog.State
	made := false
	if !wasActive && (webhook.Active || !found) {
		// Before the log is read, or an event that is appended right after that
		// would be missed.
		made = s.watch(ctx, instanceID)
		_, newest, err := s.log.Bounds(ctx, instanceID)
		if err != nil {
			if made {
				s.unwatch(instanceID)
			}
			return Webhook{}, fmt.Errorf("webhook: save: %w", err)
		}
		anew = &backlog.State{Status: backlog.StatusOK, Cursor: newest}
	}
	if err := s.store.SaveWebhook(ctx, webhook, anew); err != nil {
		if made {
			s.unwatch(instanceID)
		}
		return Webhook{}, fmt.Errorf("webhook: save: %w", err)
	}
	s.configure(webhook, anew)
	return webhook, nil
}

// change applies settings that were checked.
func (s *Service) change(webhook *Webhook, settings Settings) {
	now := s.stamp()
	webhook.URL = settings.URL
	webhook.Active = settings.Active == nil || *settings.Active
	webhook.UpdatedAt = now
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
// not run yet will load it.
func (s *Service) configure(webhook Webhook, anew *backlog.State) {
	s.mu.RLock()
	p := s.pumps[webhook.InstanceID]
	s.mu.RUnlock()
	if p != nil {
		p.configure(webhook, anew)
	}
}

// Get returns the webhook of an instance, or a gateway.NotFound.
func (s *Service) Get(ctx context.Context, instanceID string) (Webhook, error) {
	webhook, found, err := s.store.FindWebhook(ctx, instanceID)
	if err != nil {
		return Webhook{}, fmt.Errorf("webhook: get: %w", err)
	}
	if !found {
		return Webhook{}, notFound()
	}
	return webhook, nil
}

// Delete removes the webhook of an instance with everything that is known of its
// deliveries, or returns a gateway.NotFound. A request in flight is not cut off.
func (s *Service) Delete(ctx context.Context, instanceID string) error {
	done, err := s.lock(ctx, instanceID)
	if err != nil {
		return err
	}
	defer done()
	deleted, err := s.store.DeleteWebhook(ctx, instanceID)
	if err != nil {
		return fmt.Errorf("webhook: delete: %w", err)
	}
	s.unwatch(instanceID)
	if !deleted {
		return notFound()
	}
	return nil
}

// Resume makes a webhook that waits or is suspended try again at once, from its
// cursor. Blocked chats are tried again too. An instance without a webhook is
// a gateway.NotFound; while the service does not run, the answer is a
// gateway.Unavailable.
func (s *Service) Resume(ctx context.Context, instanceID string) error {
	p, err := s.served(ctx, instanceID)
	if err != nil {
		return err
	}
	p.resume()
	if err := s.flusher.flush(ctx, p); err != nil {
		return fmt.Errorf("webhook: resume: %w", err)
	}
	return nil
}

// served returns the pump of an instance's webhook, or says why there is none.
func (s *Service) served(ctx context.Context, instanceID string) (*pump, error) {
	if p, ok := s.pump(instanceID); ok {
		return p, nil
	}
	if _, err := s.Get(ctx, instanceID); err != nil {
		return nil, err
	}
	return nil, &gateway.Error{
		Kind: gateway.Unavailable, Code: gateway.CodeUnavailable,
		Message: "webhooks are not being delivered at the moment", RetryAfter: retryUnserved,
	}
}
