// What the account's owner does with messages, for the account alone.

package chatstate

import (
	"context"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// deletionVersion is the version of the format of a deletion in the app state.
const deletionVersion = 3

// nobody stands in the app state for a sender that need not be named.
const nobody = "0"

// StarMessage stars a message, or takes the star away (gateway.Chats).
func (c *Chats) StarMessage(ctx context.Context, key gateway.MessageKey, starred bool) error {
	index, err := indexOf(appstate.IndexStar, key)
	if err != nil {
		return err
	}
	patch := appstate.BuildStar(types.EmptyJID, types.EmptyJID, key.PlatformID, key.FromMe, starred)
	patch.Mutations[0].Index = index
	return c.Send(ctx, patch, gateway.CodeChatRefused)
}

// DeleteForMe deletes a message (gateway.Chats).
func (c *Chats) DeleteForMe(ctx context.Context, key gateway.MessageKey, sentAt time.Time) error {
	index, err := indexOf(appstate.IndexDeleteMessageForMe, key)
	if err != nil {
		return err
	}
	return c.Send(ctx, appstate.PatchInfo{Type: appstate.WAPatchRegularHigh, Mutations: []appstate.MutationInfo{{
		Index: index, Version: deletionVersion,
		Value: &waSyncAction.SyncActionValue{DeleteMessageForMeAction: &waSyncAction.DeleteMessageForMeAction{
			DeleteMedia: new(true), MessageTimestamp: new(sentAt.Unix()),
		}},
	}}}, gateway.CodeChatRefused)
}

// indexOf names a message in the app state, as the phone does: people by LID, and the sender only
// where a group has several.
func indexOf(kind string, key gateway.MessageKey) ([]string, error) {
	chat, err := wire.ToJID(key.Chat.Key())
	if err != nil {
		return nil, err
	}
	fromMe, sender := "0", nobody
	if key.FromMe {
		fromMe = "1"
	} else if chat.Server == types.GroupServer {
		sender = string(key.Sender.Key())
	}
	return []string{kind, chat.String(), key.PlatformID, fromMe, sender}, nil
}

// messageArrived keeps what an event of whatsmeow says about a message, and reports whether that
// was possible; ours is false for other events. Of what was deleted before the link nothing came
// here.
func (c *Chats) messageArrived(event any) (kept, ours bool) {
	var update gateway.MessageUpdate
	var chat types.JID
	kind := appstate.IndexStar
	switch event := event.(type) {
	case *events.Star:
		chat, update.PlatformID, update.FromMe, update.At = event.ChatJID, event.MessageID, event.IsFromMe, event.Timestamp.UTC()
		update.Starred = new(event.Action.GetStarred())
		update.Earlier = event.FromFullSync && event.Timestamp.Before(c.since)
	case *events.DeleteForMe:
		chat, update.PlatformID, update.FromMe, update.At = event.ChatJID, event.MessageID, event.IsFromMe, event.Timestamp.UTC()
		kind, update.Deleted = appstate.IndexDeleteMessageForMe, true
		update.Earlier = event.FromFullSync && event.Timestamp.Before(c.since)
	default:
		return false, false
	}
	if c.isEcho(echo{kind, chat, update.At.UnixMilli()}) {
		return true, true
	}
	party, known := c.partyOf(chat)
	if !known {
		return true, true
	}
	update.Chat = party
	if c.line.Receive(update, "what was done with a message", slog.String("platform_id", update.PlatformID)) {
		return true, true
	}
	c.notKept(appstate.WAPatchRegularHigh)
	return false, true
}

// partyOf is the party of a chat; false for what is no chat here.
func (c *Chats) partyOf(chat types.JID) (gateway.Party, bool) {
	switch chat.Server {
	case types.GroupServer:
		return gateway.Party{JID: wire.JIDOf(chat)}, true
	case types.DefaultUserServer, types.HiddenUserServer:
		return c.line.Person(chat.ToNonAD(), types.EmptyJID, ""), true
	default:
		return gateway.Party{}, false
	}
}
