package whatsapp

import (
	"log/slog"
	"slices"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// maxReceipts bounds how many messages one receipt is handed on for at a time.
const maxReceipts = 256

// receiptArrived hands a receipt on and reports whether it was kept.
func (s *session) receiptArrived(event *events.Receipt) bool {
	if event.Type == types.ReceiptTypeRetry && len(event.MessageIDs) > 0 {
		s.logger.InfoContext(s.ctx, "a recipient could not decrypt a message; it is sent again",
			slog.String("platform_id", event.MessageIDs[0]))
	}
	status, ok := receiptStatus(event)
	if !ok {
		return true
	}
	s.completeAddresses(&event.MessageSource)
	if event.IsGroup && !s.mayBeMember(jidOf(event.Chat), partyOf(event.Sender, event.SenderAlt, "")) {
		s.logger.InfoContext(s.ctx, "a receipt is not believed: its sender is not in the group")
		return true
	}
	name := ""
	if event.IsGroup { // elsewhere it is clear who it is
		name = s.knownName(event.Sender, event.SenderAlt)
	}
	for ids := range slices.Chunk(event.MessageIDs, maxReceipts) {
		err := s.receiver.Receive(s.ctx, gateway.Receipt{
			Chat:       chatOf(event.MessageSource),
			By:         partyOf(event.Sender, event.SenderAlt, name),
			MessageIDs: ids,
			Status:     status,
			At:         event.Timestamp.UTC(),
		})
		if !s.kept(err, "receipt") {
			return false
		}
	}
	return true
}

// receiptStatus is how far a receipt moves our messages. Receipts of this
// account's own devices, and those of the protocol itself, move nothing.
func receiptStatus(event *events.Receipt) (gateway.MessageStatus, bool) {
	if event.IsFromMe {
		return 0, false
	}
	switch event.Type {
	case types.ReceiptTypeDelivered, types.ReceiptTypeInactive:
		return gateway.MessageDelivered, true
	case types.ReceiptTypeRead:
		return gateway.MessageRead, true
	case types.ReceiptTypePlayed:
		return gateway.MessagePlayed, true
	default:
		return 0, false
	}
}
