// Older messages, which the phone is asked for.

package chat

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
)

// MaxOlder is how many messages the phone is asked for at most: as many as the messenger's own
// web client asks for.
const MaxOlder = 50

// unsent bounds the messages that the phone can't know, at the beginning of a chat.
const unsent = 20

// Asked is a request that the phone has to answer.
type Asked struct {
	RequestID string
	Chat      gateway.Party
	Before    string // the platform's identifier of the oldest message that is kept
	Count     int
}

// RequestOlder asks the phone for messages of a chat that are older than the oldest which is kept.
// They come later, and an event says so. Its errors are NotFound for a chat without a message,
// Conflict while the instance is not connected and while another request waits, and what the
// platform answers.
func (s *Service) RequestOlder(ctx context.Context, instanceID string, with gateway.Recipient, count int) (Asked, error) {
	session, chat, err := s.locate(ctx, instanceID, with)
	if err != nil {
		return Asked{}, err
	}
	oldest, err := s.config.Store.ListMessages(ctx, instanceID, gateway.MessageFilter{ChatID: chat.ID, OldestFirst: true}, gateway.PageRequest{Page: 1, Limit: unsent})
	if err != nil {
		return Asked{}, fmt.Errorf("chat: find the oldest message: %w", err)
	}
	for _, message := range oldest.Items {
		if message.SentAt.IsZero() || message.PlatformID == "" {
			continue
		}
		message.Chat = chat.Party
		id, err := session.Messages().RequestOlder(ctx, message, count)
		return Asked{RequestID: id, Chat: chat.Party, Before: message.PlatformID, Count: count}, err
	}
	return Asked{}, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound,
		"nothing of the chat is kept, and the phone has to be told a message that it knows")
}
