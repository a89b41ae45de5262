// What people write about money: requests, payments, reminders.

package wire

import (
	"cmp"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/gateway"
)

// paymentOf reads a message about money, and what is written beside it; nil for all others.
func paymentOf(content *waE2E.Message) (payment *gateway.Payment, note string) {
	switch {
	case content == nil:
		return nil, ""
	case content.RequestPaymentMessage != nil:
		asked := content.RequestPaymentMessage
		payment = newPayment(gateway.PaymentRequested, asked.GetAmount())
		if payment.Currency == "" {
			payment.Amount, payment.Currency = int64(min(asked.GetAmount1000(), maxAmount)), gateway.CleanName(asked.GetCurrencyCodeIso4217())
		}
		payment.ExpiresAt = unixTime(asked.GetExpiryTimestamp())
		return payment, textOf(Unwrap(asked.GetNoteMessage()))
	case content.SendPaymentMessage != nil:
		return newPayment(gateway.PaymentSent, nil), textOf(Unwrap(content.SendPaymentMessage.GetNoteMessage()))
	case content.DeclinePaymentRequestMessage != nil:
		return newPayment(gateway.PaymentDeclined, nil), ""
	case content.CancelPaymentRequestMessage != nil:
		return newPayment(gateway.PaymentCancelled, nil), ""
	case content.PaymentInviteMessage != nil:
		payment = newPayment(gateway.PaymentInvited, nil)
		payment.ExpiresAt = unixTime(content.PaymentInviteMessage.GetExpiryTimestamp())
		return payment, ""
	case content.PaymentReminderMessage != nil:
		return newPayment(gateway.PaymentReminder, content.PaymentReminderMessage.GetAmount()), content.PaymentReminderMessage.GetDescription()
	case content.SplitPaymentMessage != nil:
		return newPayment(gateway.PaymentSplit, content.SplitPaymentMessage.GetTotalAmount()), content.SplitPaymentMessage.GetDescription()
	case content.SplitPaymentUpdateMessage != nil:
		return newPayment(gateway.PaymentSplit, nil), ""
	default:
		return nil, ""
	}
}

// maxAmount bounds an amount in thousandths.
const maxAmount = 1 << 53

// newPayment reads an amount, whose offset says into how many parts the unit is divided.
func newPayment(kind gateway.PaymentKind, amount *waE2E.Money) *gateway.Payment {
	value := float64(max(0, amount.GetValue())) * 1000 / float64(cmp.Or(amount.GetOffset(), 1)) //nolint:mnd // thousandths
	return &gateway.Payment{Kind: kind, Amount: int64(min(value, maxAmount)), Currency: gateway.CleanName(amount.GetCurrencyCode())}
}

// unixTime reads a time in seconds, which a sender can choose freely; zero for none.
func unixTime(seconds int64) time.Time {
	if seconds <= 0 || seconds > maxUnix {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
