package whatsapp

import (
	"log/slog"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// receiptArrived hands a receipt on and reports whether it was kept.
func (s *session) receiptArrived(event *events.Receipt) bool {
	if event.Type == types.ReceiptTypeRetry {
		s.logger.InfoContext(s.ctx, "a recipient could not decrypt a message; it is sent again",
			slog.String("platform_id", event.MessageIDs[0]))
	}
	status, ok := receiptStatus(event)
	if !ok {
		return true
	}
	s.completeAddresses(&event.MessageSource)
	name := ""
	if event.IsGroup { // elsewhere it is clear who it is
		name = s.knownName(event.Sender, event.SenderAlt)
	}
	err := s.handler.ReceiptArrived(s.ctx, gateway.Receipt{
		Chat:       chatOf(event.MessageSource),
		By:         partyOf(event.Sender, event.SenderAlt, name),
		MessageIDs: event.MessageIDs,
		Status:     status,
		At:         event.Timestamp.UTC(),
	})
	return s.kept(err, "receipt")
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
