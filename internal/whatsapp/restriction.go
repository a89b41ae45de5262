package whatsapp

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// restrictionArrived reports that the platform restricts writing to new contacts, or no
// longer does.
func (s *session) restrictionArrived(event *events.NotifyAccountReachoutTimelock) bool {
	until := time.Time{}
	if event.IsActive {
		until = event.TimeEnforcementEnds.UTC()
	}
	s.mu.Lock()
	s.restrictedUntil = until
	s.mu.Unlock()
	at := event.Mex.Timestamp.UTC()
	if event.Mex.Timestamp.IsZero() {
		at = s.line.Now().UTC()
	}
	return s.line.Receive(gateway.Restriction{Lifted: !event.IsActive, Until: until, At: at}, "restriction")
}

// refusedRecipient reports that a message was refused because writing to new contacts is
// restricted, and adds to the refusal when the restriction ends, if that is known.
func (s *session) refusedRecipient(ctx context.Context, refusal error, to gateway.Party) error {
	restricted, ok := gateway.AsError(refusal)
	if !ok || restricted.Code != gateway.CodeRecipientRestricted {
		return refusal
	}
	now := s.line.Now()
	s.mu.Lock()
	until := s.restrictedUntil
	s.mu.Unlock()
	if until.After(now) {
		restricted.RetryAfter = until.Sub(now)
	} else {
		until = time.Time{}
	}
	// The caller gets the refusal in any case, so a missing event is only logged.
	s.line.WhileOpen(func() {
		s.line.Report(context.WithoutCancel(ctx), gateway.Restriction{Until: until, Recipient: to, At: now.UTC()}, "restriction")
	})
	return restricted
}
