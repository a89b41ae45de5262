package messaging

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/gateway"
)

// SentPayload returns the payload of a message that this instance sent to the chat, or
// of a change that it made there; false if there is none (gateway.Receiver).
func (r receiver) SentPayload(ctx context.Context, chat gateway.JID, platformID string) ([]byte, bool) {
	payload, err := r.sentPayload(ctx, chat, platformID)
	if err != nil {
		r.logger.ErrorContext(ctx, "message to be sent again not found",
			slog.Any("error", err))
	}
	return payload, len(payload) > 0
}

func (r receiver) sentPayload(ctx context.Context, chat gateway.JID, platformID string) ([]byte, error) {
	change, isChange, err := r.config.Store.FindChange(ctx, r.instanceID, platformID)
	if err != nil {
		return nil, fmt.Errorf("messaging: find a change to send again: %w", err)
	}
	id := platformID
	if isChange {
		id = change.MessageID // the change is in the chat of its message
	}
	found, err := r.config.Store.FindMessages(ctx, r.instanceID, id)
	if err != nil {
		return nil, fmt.Errorf("messaging: find a message to send again: %w", err)
	}
	for _, message := range found {
		switch {
		case !message.Chat.Is(chat):
		case isChange:
			return change.Payload, nil
		case message.FromMe && message.PlatformID == platformID && len(message.Payload) > 0:
			return disappearing(ctx, r.config.Store, r.config.Encoder, message)
		}
	}
	return nil, nil
}

// disappearing is the payload of a message as it goes to the platform. In a chat in which
// messages disappear it says when, as phones write it: what the chat is set to now, and not
// when the message was composed.
func disappearing(ctx context.Context, store DisappearingStore, encoder gateway.Encoder, message gateway.Message) ([]byte, error) {
	after, err := store.DisappearsAfter(ctx, message.InstanceID, message.Chat)
	if err != nil || after == 0 {
		return message.Payload, err
	}
	payload, err := encoder.EncodeDisappearing(message.Payload, after)
	if err != nil {
		return nil, fmt.Errorf("messaging: encode a message that disappears: %w", err)
	}
	return payload, nil
}
