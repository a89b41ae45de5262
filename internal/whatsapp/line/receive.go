package line

import (
	"context"
	"log/slog"

	"github.com/recado-project/recado/internal/gateway"
)

// What whatsmeow acknowledges to the platform, and when (SynchronousAck is on):
//
//   - messages: the receipt is sent after the handler has succeeded, and not at
//     all otherwise; EnableDecryptedEventBuffer keeps the plaintext meanwhile.
//   - receipts and group notifications (w:gp2): the ack waits for the handler,
//     and is left out where it failed.
//   - profile pictures, calls and restrictions: the ack waits for the handler, but
//     is sent whether it succeeds or fails. It is left out where the connection's
//     context has ended before, and that is what a failure does here.
//   - a message that is "unavailable", and one that can't be decrypted: the ack is
//     sent before the handler is called.
//   - presences have no ack. Names and LIDs come from goroutines of their own, after
//     whatsmeow has stored them.
//
// A connection on which something could not be kept is given up. Otherwise what was not
// acknowledged would come again only after the next accident, and what came after it
// would be out of order.

// Deliver passes something on to the receiver. Everything that the platform or a contact has
// written is cleaned and bounded here: names, identifiers, times. The content of messages was
// cleaned before it was read, and chat IDs when they were translated. The caller is whatsmeow's
// event handler, or within WhileOpen.
func (l *Line) Deliver(ctx context.Context, incoming gateway.Incoming) error {
	cleaned := incoming.Cleaned(l.Now().UTC())
	if cleaned == nil {
		return nil
	}
	return l.receiver.Receive(ctx, cleaned)
}

// Receive delivers something and reports whether it was kept, as Kept does. what names it in
// the log.
func (l *Line) Receive(incoming gateway.Incoming, what string, attrs ...slog.Attr) bool {
	return l.Kept(l.Deliver(l.Context, incoming), what, attrs...)
}

// Kept reports whether something was kept, and gives the connection up if it was not:
// the platform delivers it again over the next one.
func (l *Line) Kept(err error, what string, attrs ...slog.Attr) bool {
	if err == nil {
		return true
	}
	if l.Context.Err() != nil {
		return false // the session is being closed
	}
	l.Logger.LogAttrs(l.Context, slog.LevelError, "not kept; the platform will bring it again",
		append(attrs, slog.String("what", what), slog.Any("error", err))...)
	l.GiveUp()
	return false
}

// Report delivers something that the platform does not deliver again, so a failure is only
// logged. what names it in the log.
func (l *Line) Report(ctx context.Context, incoming gateway.Incoming, what string) {
	if err := l.Deliver(ctx, incoming); err != nil && l.Context.Err() == nil {
		l.Logger.WarnContext(ctx, what+" not kept", slog.Any("error", err)) //nolint:sloglint // callers pass constants
	}
}

// SentPayload finds the payload of a message that this instance sent (gateway.Receiver).
func (l *Line) SentPayload(chat gateway.JID, platformID string) (payload []byte, ok bool) {
	return l.receiver.SentPayload(l.Context, chat, platformID)
}

// Enter begins a call of the event handler, which ends with leave. open is false once the
// line is closed: then neither the lifecycle nor the receiver may be called.
func (l *Line) Enter() (leave func(), open bool) {
	l.handlers.RLock()
	return l.handlers.RUnlock, !l.closed
}

// WhileOpen makes a call of the lifecycle or the receiver, unless the line is closed. Code
// that whatsmeow's event handler calls is inside of such a call already.
func (l *Line) WhileOpen(call func()) {
	leave, open := l.Enter()
	defer leave()
	if open {
		call()
	}
}

// Close waits for the calls of the lifecycle and the receiver that are under way, and lets no
// more through.
func (l *Line) Close() {
	l.handlers.Lock()
	defer l.handlers.Unlock()
	l.closed = true
}
