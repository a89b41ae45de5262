package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Inbox takes what the sessions receive: it keeps it, and appends the events
// that tell of it, in one transaction. It is safe for concurrent use.
type Inbox struct {
	store    Store
	log      Log
	reporter reporter
	logger   *slog.Logger
}

// Log takes events that stand for themselves.
type Log interface {
	Append(ctx context.Context, events ...eventlog.Event) error
}

// NewInbox makes the inbox.
func NewInbox(store Store, log Log, encoder Encoder, logger *slog.Logger) *Inbox {
	return &Inbox{store: store, log: log, reporter: reporter{encoder}, logger: logger}
}

// MessageArrived keeps a message and tells of it. It returns nil only once both
// are committed; a message that is there already changes nothing.
func (i *Inbox) MessageArrived(ctx context.Context, instanceID string, message gateway.Message) error {
	return i.orPlaceholder(ctx, instanceID, arrival{
		what: "message", chat: message.Chat, by: message.Sender, fromMe: message.FromMe, key: message.WireKey, at: message.SentAt,
	}, i.keepMessage(ctx, instanceID, message))
}

func (i *Inbox) keepMessage(ctx context.Context, instanceID string, message gateway.Message) error {
	if err := identify(&message, instanceID); err != nil {
		return err
	}
	event, err := receivedEvent(message)
	if err != nil {
		return fmt.Errorf("messaging: tell of a message: %w", err)
	}
	if _, err := i.store.AddMessage(ctx, message, event); err != nil {
		return fmt.Errorf("messaging: keep message: %w", err)
	}
	return nil
}

// HistoryArrived keeps messages from before the link. Nothing is told of them:
// nobody wants a flood of the past.
func (i *Inbox) HistoryArrived(ctx context.Context, instanceID string, messages []gateway.Message) error {
	messages = slices.Clone(messages)
	for n := range messages {
		if err := identify(&messages[n], instanceID); err != nil {
			return err
		}
		// The same message may yet arrive by itself, and then it is to be told.
		messages[n].WireKey = ""
	}
	err := i.store.AddHistory(ctx, instanceID, messages)
	if !errors.Is(err, gateway.ErrUnstorable) {
		return wrap("keep history", err)
	}
	// One of them is to blame, and the others are not to be lost with it.
	for _, message := range messages {
		err := i.store.AddHistory(ctx, instanceID, []gateway.Message{message})
		if errors.Is(err, gateway.ErrUnstorable) {
			i.logger.ErrorContext(ctx, "the database refuses a message of a history; it is left out",
				slog.String("instance_id", instanceID), slog.Any("error", err))
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

// ChangeArrived tells of an edit, a deletion or a reaction, and applies the
// first two to the message that they name, if we have that message. Whoever may not
// do what he claims to have done is not believed: nothing is changed, and nothing
// told. Reactions change no message.
func (i *Inbox) ChangeArrived(ctx context.Context, instanceID string, change gateway.Change) error {
	return i.orPlaceholder(ctx, instanceID, arrival{
		what: "change", chat: change.Chat, by: change.By, fromMe: change.FromMe, key: change.SourceKey, at: change.At,
	}, i.keepChange(ctx, instanceID, change))
}

func (i *Inbox) keepChange(ctx context.Context, instanceID string, change gateway.Change) error {
	event, err := changeEvent(instanceID, change)
	if err != nil {
		return fmt.Errorf("messaging: tell of a change: %w", err)
	}
	if change.FromMe {
		// Its receipts come to us as well, and are of no message that we have.
		err := i.store.AcceptChange(ctx, gateway.SentChange{
			PlatformID: change.ID, InstanceID: instanceID, Kind: change.Kind, By: change.By, At: change.At, Settled: true,
		})
		if err != nil {
			return fmt.Errorf("messaging: keep a change: %w", err)
		}
	}
	if change.Kind == gateway.ChangeReaction {
		return i.append(ctx, event)
	}
	err = i.store.UpdateMessages(ctx, instanceID, []string{change.PlatformID},
		func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
			for n := range found {
				if mayChange(change, found[n]) {
					return apply(change, found[n]), []eventlog.Event{event}, nil
				}
			}
			if len(found) > 0 {
				i.logger.InfoContext(ctx, "a change of a message is not believed: its sender may not change it",
					slog.String("instance_id", instanceID), slog.String("platform_id", change.PlatformID))
				return nil, nil, nil
			}
			// It is from before the link, so who sent it is not known here.
			return nil, []eventlog.Event{event}, nil
		})
	if err != nil {
		return fmt.Errorf("messaging: change a message: %w", err)
	}
	return nil
}

// apply returns the message as the change leaves it; nothing where it leaves it
// as it is: a reaction changes no message, and what was deleted stays so.
func apply(change gateway.Change, message gateway.Message) []gateway.Message {
	if change.Kind == gateway.ChangeReaction || !message.DeletedAt.IsZero() {
		return nil
	}
	if change.Kind == gateway.ChangeDeleted {
		message.Text, message.Payload, message.DeletedAt = "", nil, change.At
	} else {
		message.Text, message.Payload, message.EditedAt = change.Text, change.Payload, change.At
	}
	return []gateway.Message{message}
}

// mayChange reports whether the change is of this message, by its sender, or in a
// group a deletion by an administrator.
func mayChange(change gateway.Change, message gateway.Message) bool {
	if !sameChat(message.Chat, change.Chat) {
		return false
	}
	bySender := change.FromMe == message.FromMe &&
		(change.FromMe || message.Sender.Is(change.By.JID) || message.Sender.Is(change.By.LID))
	return bySender || change.Kind == gateway.ChangeDeleted && message.Chat.JID.IsGroup() && change.ByAdmin
}

// ReceiptArrived moves the messages of a receipt forward and tells of it, also of
// messages of this account that we don't have: those sent before the link. A receipt
// counts only for messages of the chat that it comes from. What
// it says of an edit, a deletion or a reaction of ours is that the platform had
// it, and nothing more.
func (i *Inbox) ReceiptArrived(ctx context.Context, instanceID string, receipt gateway.Receipt) error {
	return i.orPlaceholder(ctx, instanceID, arrival{
		what: "receipt", chat: receipt.Chat, by: receipt.By, key: fmt.Sprint(receipt.Status, receipt.MessageIDs), at: receipt.At,
	}, i.keepReceipt(ctx, instanceID, receipt))
}

func (i *Inbox) keepReceipt(ctx context.Context, instanceID string, receipt gateway.Receipt) error {
	var participant gateway.Party
	if receipt.Chat.JID.IsGroup() {
		participant = receipt.By
	}
	var others []string // that are no messages of ours
	err := i.reporter.describing(ctx, func(d *descriptions) error {
		return i.store.UpdateMessages(ctx, instanceID, receipt.MessageIDs,
			func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error) {
				changed, events, others, err = i.advanceAll(found, receipt, participant, d)
				return changed, events, err
			})
	})
	if err != nil {
		return fmt.Errorf("messaging: move messages to %s: %w", receipt.Status, err)
	}
	return i.receiptForOthers(ctx, instanceID, others, receipt, participant)
}

// advanceAll moves the messages of a receipt on, and returns what it has changed and
// tells, and the identifiers that are no messages of ours. Its error is errLacking
// where one of them is not described yet; then all of these are noted.
func (i *Inbox) advanceAll(found []gateway.Message, receipt gateway.Receipt, participant gateway.Party, d *descriptions) (
	changed []gateway.Message, events []eventlog.Event, others []string, err error,
) {
	for _, id := range receipt.MessageIDs {
		named := func(m gateway.Message) bool { return m.PlatformID == id }
		n := slices.IndexFunc(found, func(m gateway.Message) bool {
			return named(m) && m.FromMe && sameChat(m.Chat, receipt.Chat)
		})
		if n < 0 {
			if !slices.ContainsFunc(found, named) {
				others = append(others, id)
			}
			continue
		}
		before := found[n].Status
		told, failure := i.reporter.advance(&found[n], receipt.Status, participant, receipt.At, d)
		if failure != nil {
			err = failure
			continue
		}
		if found[n].Status != before {
			changed = append(changed, found[n])
		}
		events = append(events, told...)
	}
	return changed, events, others, err
}

// sameChat reports whether two parties are one chat.
func sameChat(one, other gateway.Party) bool { return one.Is(other.JID) || one.Is(other.LID) }

// receiptForOthers takes a receipt for what is no message of ours: changes, and
// messages from elsewhere.
func (i *Inbox) receiptForOthers(
	ctx context.Context, instanceID string, platformIDs []string, receipt gateway.Receipt, participant gateway.Party,
) error {
	var events []eventlog.Event
	for _, id := range platformIDs {
		change, isChange, err := i.store.FindChange(ctx, instanceID, id)
		if err != nil {
			return fmt.Errorf("messaging: find a change: %w", err)
		}
		switch {
		case !isChange:
			event, err := unknownStatus(instanceID, id, receipt, participant)
			if err != nil {
				return err
			}
			events = append(events, event)
		case !change.Settled:
			if _, err := i.store.SettleChange(ctx, instanceID, id, i.reporter.settle); err != nil {
				return fmt.Errorf("messaging: write a change: %w", err)
			}
		}
	}
	if len(events) == 0 {
		return nil
	}
	if err := i.log.Append(ctx, events...); err != nil {
		return fmt.Errorf("messaging: tell of unknown messages: %w", err)
	}
	return nil
}

// unknownStatus tells of a receipt for a message that is not ours.
func unknownStatus(instanceID, platformID string, receipt gateway.Receipt, participant gateway.Party) (eventlog.Event, error) {
	return statusEvent(gateway.Message{
		InstanceID: instanceID, PlatformID: platformID, Chat: receipt.Chat,
		Status: receipt.Status, StatusAt: receipt.At,
	}, participant)
}

// PresenceArrived tells what a contact shows.
func (i *Inbox) PresenceArrived(ctx context.Context, instanceID string, presence gateway.ContactPresence) error {
	return i.tell(ctx, instanceID, presence.Chat, "", eventlog.NewPresence(presence), presence.At)
}

// GroupChangeArrived tells that a group changed.
func (i *Inbox) GroupChangeArrived(ctx context.Context, instanceID string, change gateway.GroupChange) error {
	group := gateway.Party{JID: change.Group}
	return i.orPlaceholder(ctx, instanceID, arrival{
		what: "group_change", chat: group, by: change.Actor, key: change.SourceKey, at: change.At,
	}, i.tell(ctx, instanceID, group, change.SourceKey, eventlog.NewGroupUpdated(change), change.At))
}

// ContactChangeArrived tells news about a contact.
func (i *Inbox) ContactChangeArrived(ctx context.Context, instanceID string, change gateway.ContactChange) error {
	return i.orPlaceholder(ctx, instanceID, arrival{
		what: "contact_change", chat: change.Contact, by: change.Contact, key: change.SourceKey, at: change.At,
	}, i.tell(ctx, instanceID, change.Contact, change.SourceKey, eventlog.NewContactUpdated(change), change.At))
}

// CallArrived tells that a call rings.
func (i *Inbox) CallArrived(ctx context.Context, instanceID string, call gateway.Call) error {
	return i.orPlaceholder(ctx, instanceID, arrival{
		what: "call", chat: call.Chat, by: call.From, key: call.ID, at: call.At,
	}, i.tell(ctx, instanceID, call.Chat, "call/"+call.ID, eventlog.NewCallReceived(call), call.At))
}

// Restricted tells that the platform restricts this account.
func (i *Inbox) Restricted(ctx context.Context, instanceID string, restriction gateway.Restriction) error {
	return i.tell(ctx, instanceID, gateway.Party{}, "", eventlog.NewInstanceRestricted(restriction), restriction.At)
}

// SentPayload returns the payload of a message that this instance sent to the
// chat, or of one that told of a change there; false where there is none.
func (i *Inbox) SentPayload(ctx context.Context, instanceID string, chat gateway.JID, platformID string) ([]byte, bool, error) {
	change, isChange, err := i.store.FindChange(ctx, instanceID, platformID)
	if err != nil {
		return nil, false, fmt.Errorf("messaging: find a change to send again: %w", err)
	}
	id := platformID
	if isChange {
		id = change.MessageID // which says what chat it was in
	}
	found, err := i.store.FindMessages(ctx, instanceID, id)
	if err != nil {
		return nil, false, fmt.Errorf("messaging: find a message to send again: %w", err)
	}
	for _, message := range found {
		switch {
		case !message.Chat.Is(chat):
		case isChange:
			return change.Payload, len(change.Payload) > 0, nil
		case message.FromMe && message.PlatformID == platformID && len(message.Payload) > 0:
			return message.Payload, true, nil
		}
	}
	return nil, false, nil
}

func (i *Inbox) tell(ctx context.Context, instanceID string, chat gateway.Party, sourceKey string, data eventlog.Data, at time.Time) error {
	event, err := eventlog.NewEvent(instanceID, orderKey(chat), sourceKey, at, data)
	if err != nil {
		return fmt.Errorf("messaging: tell %s: %w", data.Kind(), err)
	}
	return i.append(ctx, event)
}

func (i *Inbox) append(ctx context.Context, event eventlog.Event) error {
	if err := i.log.Append(ctx, event); err != nil {
		return fmt.Errorf("messaging: tell %s: %w", event.Kind, err)
	}
	return nil
}
