package wire

import (
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// ReceiptStatus is the status to which a receipt moves our messages. Receipts of this
// account's own devices, and those of the protocol itself, move nothing.
func ReceiptStatus(event *events.Receipt) (gateway.MessageStatus, bool) {
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

// HistoryStatus is the status that a message of this account had before the link.
func HistoryStatus(status waWeb.WebMessageInfo_Status) gateway.MessageStatus {
	switch status {
	case waWeb.WebMessageInfo_ERROR:
		return gateway.MessageFailed
	case waWeb.WebMessageInfo_DELIVERY_ACK:
		return gateway.MessageDelivered
	case waWeb.WebMessageInfo_READ:
		return gateway.MessageRead
	case waWeb.WebMessageInfo_PLAYED:
		return gateway.MessagePlayed
	default: // acknowledged, or still on its way from the phone
		return gateway.MessageSent
	}
}
