// Writing to new chats while the platform restricts the account.

package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// recipient finds the chat that a message goes to. While the account is restricted, the
// platform is not even asked about somebody who is not known to have a chat.
func (s *Service) recipient(ctx context.Context, session gateway.Session, request Request) (gateway.Party, error) {
	instance, err := s.config.Store.GetInstance(ctx, request.InstanceID)
	if err != nil {
		return gateway.Party{}, err
	}
	if _, restricted := instance.Restricted.Active(s.config.Now()); restricted {
		if err := s.mayWriteToOneOf(ctx, instance, request.To); err != nil {
			return gateway.Party{}, err
		}
	}
	return s.config.Directory.Party(ctx, session.People(), request.To)
}

// mayWriteToOneOf is mayWrite for a recipient with several possible addresses, one of which
// is enough.
func (s *Service) mayWriteToOneOf(ctx context.Context, instance gateway.Instance, to gateway.Recipient) error {
	candidates, err := s.config.Directory.Candidates(ctx, to)
	if err != nil {
		return err
	}
	err = errors.New("messaging: a recipient has no address")
	for _, chat := range candidates {
		if err = s.mayWrite(ctx, instance, chat); err == nil {
			return nil
		}
	}
	return err
}

// mayWrite refuses a message that would begin a new chat while the platform restricts the
// account: nil, or RateLimited with the time after which to try again. The platform is not
// asked.
func (s *Service) mayWrite(ctx context.Context, instance gateway.Instance, chat gateway.Party) error {
	now := s.config.Now()
	until, restricted := instance.Restricted.Active(now)
	if !restricted {
		return nil
	}
	isNew, err := s.isNewChat(ctx, instance.ID, chat)
	if err != nil || !isNew {
		return err
	}
	refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRecipientRestricted,
		"the platform restricts this account from writing to new contacts; nothing was sent")
	refusal.RetryAfter = until.Sub(now)
	return refusal
}

// isNewChat reports whether a message would begin a chat with a person: none was received
// from there, and the platform has taken none to there. A group, a channel and
// the status posts are never new.
func (s *Service) isNewChat(ctx context.Context, instanceID string, chat gateway.Party) (bool, error) {
	if chat.JID.IsGroup() || chat.JID.IsChannel() || chat.JID.IsStatus() {
		return false, nil
	}
	known, err := s.config.Store.ChatKnown(ctx, instanceID, chat)
	if err != nil {
		return false, err
	}
	return !known, nil
}

// keepRestriction keeps what the platform says of a restriction with the instance, and
// appends the event of a new or repeated one. The end of one is no event.
func (r receiver) keepRestriction(ctx context.Context, report gateway.Restriction) error {
	_, err := r.config.Store.UpdateInstance(ctx, r.instanceID, func(instance *gateway.Instance) ([]eventlog.Event, error) {
		instance.Restricted = instance.Restricted.After(report)
		if report.Lifted {
			return nil, nil
		}
		event, err := eventlog.NewEvent(r.instanceID, "", "", report.At, eventlog.NewInstanceRestricted(report))
		return []eventlog.Event{event}, err
	})
	if err != nil {
		return fmt.Errorf("messaging: keep restriction: %w", err)
	}
	return nil
}
