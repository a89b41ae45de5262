// What people ask of the messages as a whole.

package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/unanswered"
)

// describe reads what a message holds besides its text. One that was deleted holds nothing.
func (s *Service) describe(ctx context.Context, message gateway.Message) (gateway.Details, error) {
	if !message.DeletedAt.IsZero() {
		return gateway.Details{}, nil
	}
	details, err := s.config.Encoder.Describe(ctx, message.Payload)
	if err != nil {
		return gateway.Details{}, fmt.Errorf("messaging: describe message: %w", err)
	}
	return details, nil
}

// Unanswered counts the people to whom the instance has written in the last days, and those
// who have not written since the first of these messages. It reads every message of these
// days; nothing is counted as messages flow.
func (s *Service) Unanswered(ctx context.Context, instanceID string) (gateway.Unanswered, error) {
	since := s.config.Now().Add(-unanswered.Days * 24 * time.Hour)
	correspondence, err := s.config.Store.ListCorrespondence(ctx, instanceID, since)
	if err != nil {
		return gateway.Unanswered{}, fmt.Errorf("messaging: count messages without an answer: %w", err)
	}
	return unanswered.Count(correspondence), nil
}
