// Labels, which the account's owner puts on chats and messages here and on other devices.

package chatstate

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// labelCollection is the collection of the app state that has the labels.
const labelCollection = appstate.WAPatchRegular

// ChangeLabel changes a label on all devices of the account (gateway.Labels).
func (c *Chats) ChangeLabel(ctx context.Context, change gateway.LabelChange) error {
	label := change.Label
	if change.Act == gateway.LabelSet || change.Act == gateway.LabelDeleted {
		patch := appstate.BuildLabelEdit(label.ID, label.Name, int32(label.Color), change.Act == gateway.LabelDeleted) //nolint:gosec // bounded where it enters
		return c.Send(ctx, patch, gateway.CodeLabelRefused)
	}
	to, err := wire.ToJID(change.Chat.Key())
	if err != nil {
		return err
	}
	patch := appstate.BuildLabelChat(to, label.ID, change.Act == gateway.LabelPut)
	if change.MessageID != "" {
		patch = appstate.BuildLabelMessage(to, label.ID, change.MessageID, change.Act == gateway.LabelPut)
	}
	return c.Send(ctx, patch, gateway.CodeLabelRefused)
}

func isLabel(index string) bool {
	return index == appstate.IndexLabelEdit || index == appstate.IndexLabelAssociationChat || index == appstate.IndexLabelAssociationMessage
}

// labelEcho is a change of a label by this device. A message's index has two parts more, which
// always say the same.
func labelEcho(at time.Time, index ...string) echo {
	return echo{index: strings.Join(index[:min(4, len(index))], " "), at: at.UnixMilli()}
}

// LabelArrived keeps what an event of whatsmeow says about a label, and reports whether that
// was possible. An event that is about none, or says nothing, is ignored.
func (c *Chats) LabelArrived(event any) bool {
	var change gateway.LabelChange
	var own echo
	var chat types.JID
	var initial bool
	switch event := event.(type) {
	case *events.LabelEdit:
		if event.Action == nil {
			return true
		}
		change = gateway.LabelChange{Act: gateway.LabelSet, At: event.Timestamp, Label: gateway.Label{
			ID: event.LabelID, Name: event.Action.GetName(), Color: int(event.Action.GetColor()),
		}}
		if event.Action.GetDeleted() {
			change.Act = gateway.LabelDeleted
		}
		own, initial = labelEcho(event.Timestamp, appstate.IndexLabelEdit, event.LabelID), event.FromFullSync
	case *events.LabelAssociationChat:
		change, chat = put(event.LabelID, event.Action.GetLabeled(), event.Timestamp), event.JID
		own, initial = labelEcho(event.Timestamp, appstate.IndexLabelAssociationChat, event.LabelID, chat.String()), event.FromFullSync
	case *events.LabelAssociationMessage:
		change, chat = put(event.LabelID, event.Action.GetLabeled(), event.Timestamp), event.JID
		change.MessageID = event.MessageID
		own, initial = labelEcho(event.Timestamp, appstate.IndexLabelAssociationMessage, event.LabelID, chat.String(), event.MessageID), event.FromFullSync
	}
	if change.Act == "" || c.isEcho(own) {
		return true
	}
	switch chat.Server {
	case types.GroupServer:
		change.Chat = gateway.Party{JID: wire.JIDOf(chat)}
	case types.DefaultUserServer, types.HiddenUserServer:
		change.Chat = c.line.Person(chat.ToNonAD(), types.EmptyJID, "")
	case "":
	default:
		return true
	}
	change.At = change.At.UTC()
	if initial && change.At.Before(c.since) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.labels = append(c.labels, change)
		return true
	}
	return c.keep(labelCollection, change)
}

func put(labelID string, on bool, at time.Time) gateway.LabelChange {
	change := gateway.LabelChange{Act: gateway.LabelTaken, Label: gateway.Label{ID: labelID}, At: at}
	if on {
		change.Act = gateway.LabelPut
	}
	return change
}

// keepLabels keeps what was read of the whole collection: the labels first, wherever they stand
// in it.
func (c *Chats) keepLabels(all gateway.LabelChanges) bool {
	slices.SortStableFunc(all, func(a, b gateway.LabelChange) int { return rank(a) - rank(b) })
	for part := range slices.Chunk(all, maxBatch) {
		if !c.keep(labelCollection, part) {
			return false
		}
	}
	return true
}

func rank(change gateway.LabelChange) int {
	if change.Act == gateway.LabelSet {
		return 0
	}
	return 1
}
