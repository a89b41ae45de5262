// Receipts that a session received.

package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

func receiptOrigin(receipt gateway.Receipt) origin {
	return origin{
		what: "receipt", chat: receipt.Chat, by: receipt.By, at: receipt.At,
		key: receipt.Status.String() + " [" + strings.Join(receipt.MessageIDs, " ") + "]",
	}
}

// keepReceipt moves the messages of a receipt forward and appends events of it,
// also for messages of this account that are not stored: those sent before the link.
// A receipt counts only for messages of the chat that it comes from. A receipt for an
// edit, a deletion or a reaction of ours confirms that the platform has it.
func (r receiver) keepReceipt(ctx context.Context, receipt gateway.Receipt) error {
	var participant gateway.Party
	if receipt.Chat.JID.IsGroup() || receipt.Chat.JID.IsStatus() {
		participant = receipt.By
	}
	var others []string // identifiers that belong to no stored message
	err := r.reporter.describing(ctx, func(d *descriptions) error {
		return r.config.Store.UpdateMessagesSoon(ctx, r.instanceID, receipt.MessageIDs,
			func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error) {
				changed, events, others, err = r.advanceAll(found, receipt, participant, d)
				return changed, events, err
			})
	})
	if err != nil {
		return fmt.Errorf("messaging: move messages to %s: %w", receipt.Status, err)
	}
	return r.receiptForOthers(ctx, others, receipt, participant)
}

// advanceAll moves the messages of a receipt forward. It returns the changed messages,
// their events, and the identifiers that belong to no stored message. Its error is
// errNotDescribed if a message is not described yet; then all such messages are noted.
func (r receiver) advanceAll(found []gateway.Message, receipt gateway.Receipt, participant gateway.Party, d *descriptions) (
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
		moved, failure := r.reporter.advance(&found[n], receipt.Status, participant, receipt.At, d)
		if failure != nil {
			err = failure
			continue
		}
		if found[n].Status != before {
			changed = append(changed, found[n])
		}
		events = append(events, moved...)
	}
	return changed, events, others, err
}

// sameChat reports whether two parties are one chat.
func sameChat(one, other gateway.Party) bool { return one.Is(other.JID) || one.Is(other.LID) }

// receiptForOthers takes a receipt for identifiers that belong to no stored message:
// those of changes, and of messages that were sent elsewhere.
func (r receiver) receiptForOthers(
	ctx context.Context, platformIDs []string, receipt gateway.Receipt, participant gateway.Party,
) error {
	var events []eventlog.Event
	for _, id := range platformIDs {
		change, isChange, err := r.config.Store.FindChange(ctx, r.instanceID, id)
		if err != nil {
			return fmt.Errorf("messaging: find a change: %w", err)
		}
		switch {
		case !isChange:
			event, err := r.unknownStatus(id, receipt, participant)
			if err != nil {
				return err
			}
			events = append(events, event)
		case !change.Confirmed:
			if _, err := r.config.Store.ConfirmChange(ctx, r.instanceID, id, r.reporter.confirm); err != nil {
				return fmt.Errorf("messaging: write a change: %w", err)
			}
		}
	}
	if len(events) == 0 {
		return nil
	}
	return r.append(ctx, events...)
}

// unknownStatus is the event of a receipt for a message that is not stored.
func (r receiver) unknownStatus(platformID string, receipt gateway.Receipt, participant gateway.Party) (eventlog.Event, error) {
	return statusEvent(gateway.Message{
		InstanceID: r.instanceID, PlatformID: platformID, Chat: receipt.Chat,
		Status: receipt.Status, StatusAt: receipt.At,
	}, participant)
}
