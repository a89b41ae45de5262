package whatsapp

import (
	"context"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// restrictionArrived tells that the platform restricts writing to new contacts.
// That it does so no more is only noted: nothing waits for it.
func (s *session) restrictionArrived(event *events.NotifyAccountReachoutTimelock) bool {
	until := time.Time{}
	if event.IsActive {
		until = event.TimeEnforcementEnds.UTC()
	}
	s.mu.Lock()
	s.restrictedUntil = until
	s.mu.Unlock()
	if !event.IsActive {
		return true
	}
	at := event.Mex.Timestamp.UTC()
	if event.Mex.Timestamp.IsZero() {
		at = s.connector.config.Now().UTC()
	}
	return s.kept(s.receiver.Receive(s.ctx, gateway.Restriction{Until: until, At: at}), "restriction")
}

// refusedRecipient tells that a message was refused because writing to new
// contacts is restricted, and says in the refusal when it ends, where the platform
// has told that.
func (s *session) refusedRecipient(ctx context.Context, refusal error, to gateway.Party) error {
	told, ok := gateway.AsError(refusal)
	if !ok || told.Code != gateway.CodeRecipientRestricted {
		return refusal
	}
	now := s.connector.config.Now()
	s.mu.Lock()
	until := s.restrictedUntil
	s.mu.Unlock()
	if until.After(now) {
		told.RetryAfter = until.Sub(now)
	} else {
		until = time.Time{}
	}
	s.hear(func() {
		// The caller hears of the refusal in any case, so the event is not worth a
		// failure of its own.
		err := s.receiver.Receive(context.WithoutCancel(ctx), gateway.Restriction{Until: until, Recipient: to, At: now.UTC()})
		if err != nil {
			s.logger.WarnContext(ctx, "restriction not kept", slog.Any("error", err))
		}
	})
	return told
}
