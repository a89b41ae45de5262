// What the account's owner does to the messages of a chat as a whole.

package chatstate

import (
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// keepStarred is the part of an index that says that messages which are starred stay.
const keepStarred = "0"

// Cleared keeps that a chat was cleared on another device, and reports whether that was possible.
// whatsmeow's own event of it does not say whether messages that are starred stay, so this reads
// the entry itself. What was cleared before this device was told never came here.
func (c *Chats) Cleared(entry *events.AppState) bool {
	action := entry.GetClearChatAction()
	at := time.UnixMilli(entry.GetTimestamp())
	if len(entry.Index) < 2 || entry.Index[0] != appstate.IndexClearChat || action == nil || at.Before(c.since) {
		return true
	}
	jid, err := types.ParseJID(entry.Index[1])
	if err != nil {
		return true
	}
	chat, ok := c.partyOf(jid)
	if !ok {
		return true
	}
	return c.keep(appstate.WAPatchRegularHigh, gateway.ChatUpdate{
		Chat: chat, Cleared: true, KeepStarred: len(entry.Index) > 2 && entry.Index[2] == keepStarred,
		Through: through(action.GetMessageRange(), at), At: at.UTC(),
	})
}
