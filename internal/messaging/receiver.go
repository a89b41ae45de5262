package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Receiver keeps what the sessions receive, and appends the events of it, in one
// transaction. It is safe for concurrent use.
type Receiver struct {
	config   ReceiverConfig
	reporter reporter
}

// ReceiverConfig is what a receiver stands on. All parts are required.
type ReceiverConfig struct {
	Store   ReceiverStore
	Log     Log
	Encoder gateway.Encoder
	Logger  *slog.Logger
}

// Log takes events that stand for themselves.
type Log interface {
	Append(ctx context.Context, events ...eventlog.Event) error
}

// NewReceiver makes the receiver of all instances.
func NewReceiver(config ReceiverConfig) (*Receiver, error) {
	if config.Store == nil || config.Log == nil || config.Encoder == nil || config.Logger == nil {
		return nil, errors.New("messaging: a part of the receiver is missing")
	}
	return &Receiver{config: config, reporter: reporter{config.Encoder}}, nil
}

// For returns the receiver of one instance's sessions.
func (r *Receiver) For(instanceID string) gateway.Receiver {
	return receiver{Receiver: r, instanceID: instanceID}
}

// receiver takes what the sessions of one instance receive.
type receiver struct {
	*Receiver

	instanceID string
}

// Receive keeps something that a session received and appends its events
// (gateway.Receiver). It returns nil only once both are committed; a second delivery
// changes nothing.
func (r receiver) Receive(ctx context.Context, incoming gateway.Incoming) error {
	switch incoming := incoming.(type) {
	case gateway.Message:
		return r.receiveMessage(ctx, incoming)
	case gateway.History:
		return r.receiveHistory(ctx, incoming)
	case gateway.Change:
		return r.receiveChange(ctx, incoming)
	case gateway.Receipt:
		return r.receiveReceipt(ctx, incoming)
	case gateway.GroupChange:
		group := gateway.Party{JID: incoming.Group}
		return r.orPlaceholder(ctx, arrival{
			what: "group_change", chat: group, by: incoming.Actor, key: incoming.SourceKey, at: incoming.At,
		}, r.append(ctx, group, incoming.SourceKey, eventlog.NewGroupUpdated(incoming), incoming.At))
	case gateway.ContactChange:
		return r.orPlaceholder(ctx, arrival{
			what: "contact_change", chat: incoming.Contact, by: incoming.Contact, key: incoming.SourceKey, at: incoming.At,
		}, r.append(ctx, incoming.Contact, incoming.SourceKey, eventlog.NewContactUpdated(incoming), incoming.At))
	case gateway.Call:
		return r.orPlaceholder(ctx, arrival{
			what: "call", chat: incoming.Chat, by: incoming.From, key: incoming.ID, at: incoming.At,
		}, r.append(ctx, incoming.Chat, "call/"+incoming.ID, eventlog.NewCallReceived(incoming), incoming.At))
	case gateway.ContactPresence:
		return r.append(ctx, incoming.Chat, "", eventlog.NewPresence(incoming), incoming.At)
	case gateway.Restriction:
		return r.append(ctx, gateway.Party{}, "", eventlog.NewInstanceRestricted(incoming), incoming.At)
	default:
		return fmt.Errorf("messaging: receive: no way to keep a %T", incoming)
	}
}

// append appends an event that stands for itself.
func (r receiver) append(ctx context.Context, chat gateway.Party, sourceKey string, data eventlog.Data, at time.Time) error {
	event, err := eventlog.NewEvent(r.instanceID, chat.Key(), sourceKey, at, data)
	if err != nil {
		return fmt.Errorf("messaging: make event %s: %w", data.Kind(), err)
	}
	return r.appendEvents(ctx, event)
}

func (r receiver) appendEvents(ctx context.Context, events ...eventlog.Event) error {
	if err := r.config.Log.Append(ctx, events...); err != nil {
		return fmt.Errorf("messaging: append event %s: %w", events[0].Kind, err)
	}
	return nil
}

// SentPayload returns the payload of a message that this instance sent to the chat,
// or of a change that it made there; false if there is none (gateway.Receiver).
func (r receiver) SentPayload(ctx context.Context, chat gateway.JID, platformID string) ([]byte, bool) {
	payload, err := r.sentPayload(ctx, chat, platformID)
	if err != nil {
		r.config.Logger.ErrorContext(ctx, "message to be sent again not found",
			slog.String("instance_id", r.instanceID), slog.Any("error", err))
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
		id = change.MessageID // its chat is the change's
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
			return message.Payload, nil
		}
	}
	return nil, nil
}
