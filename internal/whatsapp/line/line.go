// Package line is what the parts of a session share: the client in use and its account, the
// connection, the way to the receiver, who people are, and tasks in the background.
package line

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"golang.org/x/sync/semaphore"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Config is what a line is made of. All of it is required.
type Config struct {
	Context  context.Context //nolint:containedctx // until the session is over; its handlers need it
	Client   *whatsmeow.Client
	Receiver gateway.Receiver
	GivenUp  func() // called when a connection was given up
	Logger   *slog.Logger
	Now      func() time.Time
	Wait     time.Duration // how long the platform may take for one answer
}

// Line is what the parts of a session share. It is safe for concurrent use.
type Line struct {
	Context context.Context //nolint:containedctx // until the session is over
	Logger  *slog.Logger
	Now     func() time.Time
	Wait    time.Duration // how long the platform may take for one answer
	Tasks   Queue         // of all parts, in the background
	// AppState has one place, for whoever reads or changes the app state: a change stands on all
	// that was read before.
	AppState *semaphore.Weighted

	receiver gateway.Receiver
	givenUp  func()
	// handlers is read-locked during every call of the lifecycle or the receiver. Once closed is
	// set there are no more such calls.
	handlers   sync.RWMutex
	closed     bool
	numberless caches.People // whom events have shown without a number

	mu     sync.Mutex // guards the fields below
	client *whatsmeow.Client
	self   gateway.Party
	hangUp context.CancelFunc // ends the connection's context; nil without a connection, or after it was given up
}

// New makes the line of a session.
func New(config Config) *Line {
	l := &Line{
		Context: config.Context, Logger: config.Logger, Now: config.Now, Wait: config.Wait,
		AppState: semaphore.NewWeighted(1), receiver: config.Receiver, givenUp: config.GivenUp,
	}
	l.Use(config.Client)
	return l
}

// Use makes a client, and the account of its keys, those in use.
func (l *Line) Use(client *whatsmeow.Client) {
	self := gateway.Party{}
	if own := client.Store; own.ID != nil {
		self = gateway.Party{JID: wire.JIDOf(*own.ID), LID: wire.JIDOf(own.LID), Name: own.PushName}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client, l.self = client, self
}

// Client returns the client in use. It changes after a pairing, whether that succeeded or
// failed.
func (l *Line) Client() *whatsmeow.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// Self returns the account; empty before the session is linked.
func (l *Line) Self() gateway.Party {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.self
}

// SetSelf notes the account that the session was linked to.
func (l *Line) SetSelf(self gateway.Party) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.self = self
}

// Rename notes the account's name.
func (l *Line) Rename(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.self.Name = name
}

// Connect returns the context of the next connection, within that of all connections.
func (l *Line) Connect(within context.Context) context.Context {
	ctx, hangUp := context.WithCancel(within)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hangUp = hangUp
	return ctx
}

// HangUp ends the connection's context, and reports whether it did: a connection that was
// given up has none. After an orderly end HangUp comes last: it would break the connection
// while that is being closed.
func (l *Line) HangUp() bool {
	l.mu.Lock()
	hangUp := l.hangUp
	l.hangUp = nil
	l.mu.Unlock()
	if hangUp == nil {
		return false
	}
	hangUp()
	return true
}

// GiveUp ends the connection in use. Nothing is acknowledged on it any more. whatsmeow's
// reader notices, and signals that the connection was lost; to close it at the same time
// would be a race inside of whatsmeow.
func (l *Line) GiveUp() {
	if l.HangUp() {
		l.givenUp()
	}
}

// Connected reports whether there is a connection that was not given up.
func (l *Line) Connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hangUp != nil
}

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

// Receive delivers something and reports whether it was stored, as Stored does. what names it in
// the log.
func (l *Line) Receive(incoming gateway.Incoming, what string, attrs ...slog.Attr) bool {
	return l.Stored(l.Deliver(l.Context, incoming), what, attrs...)
}

// Stored reports whether something was stored, and gives the connection up if it was not:
// the platform delivers it again over the next one.
func (l *Line) Stored(err error, what string, attrs ...slog.Attr) bool {
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

// Enter begins a call of the event handler, which ends with leave. open is false once the line is
// closed: then neither the lifecycle nor the receiver may be called. For an event that is
// acknowledged to the platform, it is also false once the connection was given up: nothing can be
// acknowledged any more, and what is kept now would be out of order.
func (l *Line) Enter(acknowledged bool) (leave func(), open bool) {
	l.handlers.RLock()
	return l.handlers.RUnlock, !l.closed && (!acknowledged || l.Connected())
}

// WhileOpen makes a call of the lifecycle or the receiver, unless the line is closed. Code
// that whatsmeow's event handler calls is inside of such a call already.
func (l *Line) WhileOpen(call func()) {
	leave, open := l.Enter(false)
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
