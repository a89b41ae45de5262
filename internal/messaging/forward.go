package messaging

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
)

// Forward sends the content of a message to another chat, with the platform's mark and
// without its quote. Its error is NotFound if there is no such message, or it was deleted.
func (s *Service) Forward(ctx context.Context, request Request, ref gateway.MessageRef) (Result, error) {
	return s.send(ctx, request, func(ctx context.Context) (draft, error) {
		original, err := s.Find(ctx, request.InstanceID, ref)
		if err != nil {
			return draft{}, err
		}
		if !original.DeletedAt.IsZero() {
			return draft{}, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound,
				"the message was deleted; there is nothing to forward")
		}
		payload, err := s.config.Encoder.EncodeForwarded(original.Payload)
		if err != nil {
			return draft{}, fmt.Errorf("messaging: forward message: %w", err)
		}
		return draft{content: gateway.Content{Type: original.Type, Text: original.Text}, payload: payload}, nil
	})
}
