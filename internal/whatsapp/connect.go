// How a session connects, and how a connection ends.

package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
)

var (
	// errAbandoned says that the session was closed while it connected.
	errAbandoned = errors.New("whatsapp: closed while connecting")
	// errSilent says that the platform accepted the connection and did not answer.
	errSilent = errors.New("whatsapp: the platform accepted the connection and did not answer")
)

// dial makes the connection. whatsmeow bounds only the handshake, and does not stop when
// the session is closed, so each step has a bound here. If the session is closed meanwhile,
// dial returns within a second, and whatsmeow gives up in a goroutine that holds nothing
// but its socket.
func (s *session) dial() error {
	client, ctx := s.line.Client(), s.newConnection()
	done := make(chan error, 1)
	go func() {
		err := client.ConnectContext(ctx)
		if err == nil {
			s.queues.began()
		}
		done <- err
	}()
	limit := time.NewTimer(s.connector.config.ConnectTimeout)
	defer limit.Stop()
	select {
	case err := <-done:
		if err == nil {
			s.keepAlive(ctx, client)
		}
		return err
	case <-s.ctx.Done():
		// A connection that is just being made gets time to finish: to end it during
		// whatsmeow's handshake would be a race inside of whatsmeow.
		limit.Reset(abandonWait)
		select {
		case err := <-done:
			return err
		case <-limit.C:
			s.line.HangUp()
			return errAbandoned
		}
	case <-limit.C:
		s.line.HangUp()
	}
	select {
	case err := <-done:
		return fmt.Errorf("%w: %w", errSilent, err)
	case <-s.ctx.Done():
		return errAbandoned
	}
}

// keepAlive keeps a connection, until it ends.
func (s *session) keepAlive(ctx context.Context, client *whatsmeow.Client) {
	beginKeepalive(ctx, func(ctx context.Context) bool {
		answered, _ := client.DangerousInternals().SendKeepAlive(ctx) //nolint:staticcheck // the library's own question; the version is pinned
		return answered
	}, func() { s.signals.send(signal{kind: connectionDead}) })
}

// enter waits for a place among the sessions that connect at the same time. release gives
// the place back; it may be called twice.
func (s *session) enter() (release func(), ok bool) {
	select {
	case s.connector.logins <- struct{}{}:
	case <-s.ctx.Done():
		return nil, false
	}
	held := true
	return func() {
		if held {
			held = false
			<-s.connector.logins
		}
	}, true
}

// drain drops the signals of an earlier connection.
func (s *session) drain() {
	for {
		select {
		case <-s.signals.sent:
		default:
			return
		}
	}
}

// awaitQueues waits until whatsmeow handles nothing any more of the connections that have ended. An
// event has no mark of its connection, so one that came late would be taken for one of the next: it
// would be kept before those that were refused on its own connection, out of order.
func (s *session) awaitQueues() {
	limit := time.NewTimer(queueWait)
	defer limit.Stop()
	for {
		select {
		case <-s.queues.idle():
			return
		case <-s.signals.sent: // of what has ended; its sender keeps a queue from ending
		case <-s.ctx.Done():
			return
		case <-limit.C:
			s.logger.WarnContext(s.ctx, "the last connection has ended and something of it is still being handled")
			return
		}
	}
}

// nodeQueues counts the goroutines in which whatsmeow handles the nodes of a connection, one after
// another. Each outlives its connection by the node that it is at, and by some that wait behind it.
type nodeQueues struct {
	mu      sync.Mutex
	open    int
	waiting chan struct{} // closed once none is open; nil if nobody waits for that
}

func (q *nodeQueues) began() { q.add(1) }

// ended may come before began, if a connection ends as it is made.
func (q *nodeQueues) ended() { q.add(-1) }

func (q *nodeQueues) add(queues int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.open += queues
	if q.open <= 0 && q.waiting != nil {
		close(q.waiting)
		q.waiting = nil
	}
}

// idle returns a channel that is closed once no queue is open.
func (q *nodeQueues) idle() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open <= 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if q.waiting == nil {
		q.waiting = make(chan struct{})
	}
	return q.waiting
}

// takeOver makes a new client after a pairing. The one that paired may delete its keys if
// the pairing fails in the end, and must not be able to later.
func (s *session) takeOver() {
	s.mu.Lock()
	device, reload := s.device, s.reload
	s.reload = false
	s.mu.Unlock()
	if !reload {
		return
	}
	own, err := s.connector.keys.Load(s.ctx, s.instanceID, device)
	if err != nil {
		// The client that paired goes on.
		s.logger.WarnContext(s.ctx, "new keys not loaded", slog.Any("error", err))
		return
	}
	s.load(own)
}

// newConnection returns the context of the next connection. The platform forgets with a
// connection whose presence it was to report.
func (s *session) newConnection() context.Context {
	s.contacts.ForgetFollowed()
	return s.line.Connect(s.connCtx)
}
