// Messages that a session received.

package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
)

func messageOrigin(message gateway.Message) origin {
	return origin{
		what: "message", chat: message.Chat, by: message.Sender, fromMe: message.FromMe, key: message.WireKey, at: message.SentAt,
	}
}

// keepMessage keeps a message and appends its event. A message that is stored already
// changes nothing.
func (r receiver) keepMessage(ctx context.Context, message gateway.Message) error {
	if err := identify(&message, r.instanceID); err != nil {
		return err
	}
	event, err := receivedEvent(message)
	if err != nil {
		return fmt.Errorf("messaging: make the event of a message: %w", err)
	}
	if _, err := r.config.Store.AddMessage(ctx, message, event); err != nil {
		return fmt.Errorf("messaging: keep message: %w", err)
	}
	return nil
}

// keepHistory keeps messages from before the link. They cause no events, because
// a flood of old messages would be of no use to a client.
func (r receiver) keepHistory(ctx context.Context, messages gateway.History) error {
	messages = slices.Clone(messages)
	for n := range messages {
		if err := identify(&messages[n], r.instanceID); err != nil {
			return err
		}
		// The same message may still arrive by itself, and then it gets its event.
		messages[n].WireKey = ""
		if at := messages[n].SentAt; !at.IsZero() && at.Before(messages[n].CreatedAt) {
			messages[n].CreatedAt = at // so that it stands in its place
		}
	}
	err := r.config.Store.AddHistory(ctx, r.instanceID, messages)
	if !errors.Is(err, gateway.ErrUnstorable) {
		return wrap("keep history", err)
	}
	// The database refuses one of them, and the others must not be lost with it.
	for _, message := range messages {
		err := r.config.Store.AddHistory(ctx, r.instanceID, []gateway.Message{message})
		if errors.Is(err, gateway.ErrUnstorable) {
			r.logger.ErrorContext(ctx, "the database refuses a message of a history; it is left out",
				slog.Any("error", err))
			continue
		}
		if err != nil {
			return wrap("keep history", err)
		}
	}
	return nil
}

// wrap says in an error what was being done; it leaves nil as it is.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("messaging: %s: %w", doing, err)
}

func identify(message *gateway.Message, instanceID string) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("messaging: choose message id: %w", err)
	}
	message.ID, message.InstanceID = id.String(), instanceID
	message.StatusAt = message.SentAt
	return nil
}
