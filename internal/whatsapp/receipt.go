// Receipts.

package whatsapp

import (
	"log/slog"
	"slices"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxReceipts bounds how many messages are passed on in one receipt.
const maxReceipts = 256

// receiptArrived passes on a receipt for messages of this account, and reports whether it
// was kept.
func (s *session) receiptArrived(event *events.Receipt) bool {
	if event.Type == types.ReceiptTypeRetry && len(event.MessageIDs) > 0 {
		s.logger.InfoContext(s.ctx, "a recipient could not decrypt a message; it is sent again",
			slog.String("platform_id", event.MessageIDs[0]))
	}
	if event.IsFromMe {
		return s.readElsewhere(event)
	}
	status, ok := wire.ReceiptStatus(event)
	if !ok {
		return true
	}
	s.line.Complete(&event.MessageSource)
	by := wire.PartyOf(event.Sender, event.SenderAlt, "")
	if event.Chat.Server == types.GroupServer && !s.mayBeMember(wire.JIDOf(event.Chat), by) {
		s.logger.InfoContext(s.ctx, "a receipt is ignored: its sender is not in the group")
		return true
	}
	if event.IsGroup { // elsewhere the chat names the sender
		by.Name = s.line.NameOf(by, event.Sender, event.SenderAlt)
	}
	for ids := range slices.Chunk(event.MessageIDs, maxReceipts) {
		kept := s.line.Receive(gateway.Receipt{
			Chat: wire.ChatOf(event.MessageSource), By: by,
			MessageIDs: ids, Status: status, At: event.Timestamp.UTC(),
		}, "receipt")
		if !kept {
			return false
		}
	}
	return true
}

// readElsewhere passes on that the account's owner has read messages on another device.
func (s *session) readElsewhere(event *events.Receipt) bool {
	switch event.Type {
	case types.ReceiptTypeRead, types.ReceiptTypeReadSelf, types.ReceiptTypePlayed, types.ReceiptTypePlayedSelf:
	default:
		return true
	}
	if event.Chat == types.StatusBroadcastJID {
		return true // no list of chats has it
	}
	s.line.Complete(&event.MessageSource)
	chat := wire.ChatOf(event.MessageSource)
	for ids := range slices.Chunk(event.MessageIDs, maxReceipts) {
		if !s.line.Receive(gateway.ChatUpdate{Chat: chat, ReadIDs: ids, At: event.Timestamp.UTC()}, "messages read elsewhere") {
			return false
		}
	}
	return true
}
