package whatsapp

import (
	"context"
	"log/slog"
	"time"

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

// receive passes something on to the receiver and reports whether it was kept. what
// names it in the log.
func (s *session) receive(incoming gateway.Incoming, what string, attrs ...slog.Attr) bool {
	return s.kept(s.receiver.Receive(s.ctx, incoming), what, attrs...)
}

// kept reports whether something was kept, and gives the connection up if it was not:
// the platform delivers it again over the next one.
func (s *session) kept(err error, what string, attrs ...slog.Attr) bool {
	if err == nil {
		return true
	}
	if s.ctx.Err() != nil {
		return false // the session is being closed
	}
	s.logger.LogAttrs(s.ctx, slog.LevelError, "not kept; the platform will bring it again",
		append(attrs, slog.String("what", what), slog.Any("error", err))...)
	s.giveUp()
	return false
}

// callHandler makes a call of the lifecycle or the receiver, unless the session has been
// closed. Code that whatsmeow's event handler calls is inside of such a call already.
func (s *session) callHandler(call func()) {
	s.handlers.RLock()
	defer s.handlers.RUnlock()
	if !s.handlers.closed {
		call()
	}
}

// cleanReceiver stands between a session and its receiver. Everything that the
// platform or a contact has written passes through here and is cleaned and bounded:
// names, identifiers, times. The content of messages was cleaned before it was read,
// and chat IDs when they were translated.
type cleanReceiver struct {
	gateway.Receiver

	now func() time.Time
}

// Receive passes on something that was received, cleaned.
func (r cleanReceiver) Receive(ctx context.Context, incoming gateway.Incoming) error {
	cleaned := incoming.Cleaned(r.now().UTC())
	if cleaned == nil {
		return nil
	}
	return r.Receiver.Receive(ctx, cleaned)
}

// cleanLifecycle cleans what the lifecycle learns of the account.
type cleanLifecycle struct {
	gateway.Lifecycle
}

// Connected cleans the account's name.
func (l cleanLifecycle) Connected(ctx context.Context, profile gateway.Profile) error {
	return l.Lifecycle.Connected(ctx, profile.Cleaned())
}

// ProfileChanged cleans the account's name.
func (l cleanLifecycle) ProfileChanged(ctx context.Context, profile gateway.Profile) {
	l.Lifecycle.ProfileChanged(ctx, profile.Cleaned())
}

// PictureChanged cleans the picture's URL.
func (l cleanLifecycle) PictureChanged(ctx context.Context, url string) {
	l.Lifecycle.PictureChanged(ctx, gateway.CleanURL(url))
}
