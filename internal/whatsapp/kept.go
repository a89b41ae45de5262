package whatsapp

import (
	"context"
	"log/slog"
)

// What whatsmeow tells the platform, and when (SynchronousAck is on):
//
//   - messages: the receipt is sent after the handler has succeeded, and not at
//     all otherwise; EnableDecryptedEventBuffer keeps the plaintext meanwhile.
//   - receipts and group notifications (w:gp2): the ack waits for the handler,
//     and is left out where it failed.
//   - profile pictures, calls and restrictions: the ack waits for the handler, but
//     is sent whatever it says. It is left out where the connection's context has
//     ended before, and that is what a failure does here.
//   - a message that is "unavailable", and one that can't be decrypted: the ack is
//     sent before the handler is called.
//   - presences have no ack. Names and LIDs are told by the way, from goroutines
//     of their own, after whatsmeow has written them down.
//
// A connection on which something could not be kept is given up: without that
// what was not acknowledged would come again only after the next accident, and
// what came after it would be out of order.

// kept reports whether what was handed on was kept, and gives the connection up
// where it was not: the platform brings it again over the next one.
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

// newConnection returns the context of the next connection.
func (s *session) newConnection() context.Context {
	ctx, end := context.WithCancel(s.connCtx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connEnd = end
	s.followed.clear()
	return ctx
}

// endConnection ends the connection's context, and reports whether it did: one
// that was given up has none any more. After an orderly end it comes last: it
// would break the connection while that is being closed.
func (s *session) endConnection() bool {
	s.mu.Lock()
	end := s.connEnd
	s.connEnd = nil
	s.mu.Unlock()
	if end == nil {
		return false
	}
	end()
	return true
}

// giveUp ends the connection in use. Nothing is acknowledged on it any more.
// whatsmeow's reader notices, and tells that the connection was lost; closing it
// at the same time would be a race inside of whatsmeow.
func (s *session) giveUp() {
	if s.endConnection() {
		s.tell(signal{kind: connectionGivenUp})
	}
}

// connected reports whether there is a connection that was not given up.
func (s *session) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connEnd != nil
}

// hear makes a call of the handler, unless the session has been closed. Whoever
// is called by whatsmeow's event handler is inside of one already.
func (s *session) hear(call func()) {
	s.hearing.RLock()
	defer s.hearing.RUnlock()
	if !s.deaf {
		call()
	}
}
