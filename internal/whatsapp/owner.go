package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// signal is what whatsmeow's goroutines tell the owner of a session.
type signal struct {
	kind    signalKind
	codes   []string            // of codesGiven
	pairing *events.PairSuccess // of pairingDone
	reason  gateway.Reason      // of refusal
}

type signalKind int

const (
	codesGiven signalKind = iota
	pairingDone
	pairingFailed
	loginWanted
	loggedIn
	connectionLost
	connectionDead
	connectionGivenUp
	refusal
	unlinked
	pictureMoved
)

// outcome is how a connection ended.
type outcome int

const (
	lost      outcome = iota // make it anew, after a pause
	again                    // make it anew at once
	finished                 // the session is over
	abandoned                // the session was closed before there was a connection
)

// tell hands a signal to the owner. It waits while the owner is busy; the
// session's end frees it.
func (s *session) tell(sig signal) {
	select {
	case s.inbox <- sig:
	case <-s.ctx.Done():
	}
}

// run is the owner: it keeps a connection until the session is closed, or over.
func (s *session) run() {
	pause := pauses{min: s.connector.config.ReconnectMin, max: s.connector.config.ReconnectMax}
	linking := &linking{session: s}
	for s.ctx.Err() == nil {
		s.takeOver()
		began := s.connector.config.Now()
		end := s.connect(linking)
		if end.outcome != abandoned { // else whatsmeow holds its own lock until its handshake gives up
			s.current().Disconnect()
		}
		gaveUp := !s.endConnection()
		if s.connector.config.Now().Sub(began) > s.connector.config.ReconnectMax {
			pause.reset() // it held for a while: this is a new trouble
		}
		switch end.outcome {
		case again:
			continue
		case abandoned:
			return
		case finished:
			if s.ctx.Err() == nil {
				s.cancel()
				end.announce(context.WithoutCancel(s.ctx))
			}
			return
		case lost:
			s.groups.forgetAll()
			s.lifecycle.ConnectionLost(s.ctx, end.trouble)
			if gaveUp && end.trouble == nil {
				pause.steady() // the trouble is ours, and the platform is not to be spared
			}
			pause.wait(s.ctx)
		}
	}
}

// ending is an outcome with what the handler is to hear of it.
type ending struct {
	outcome  outcome
	announce func(context.Context)
	trouble  error // why the platform was not reached; nil where it was
}

// connect makes one connection and follows it to its end.
func (s *session) connect(linking *linking) ending {
	release, ok := s.enter()
	if !ok {
		return ending{outcome: again}
	}
	defer release()
	s.drain()
	if err := s.dial(); errors.Is(err, errAbandoned) {
		return ending{outcome: abandoned}
	} else if err != nil {
		s.logger.WarnContext(s.ctx, "platform not reached", slog.Any("error", err))
		return ending{outcome: lost, trouble: err}
	}
	deadline := time.NewTimer(loginWait)
	defer deadline.Stop()
	defer linking.stop()
	for {
		select {
		case <-s.ctx.Done():
			return ending{outcome: again}
		case <-deadline.C:
			if s.connected() {
				s.logger.WarnContext(s.ctx, "platform silent after the connection was made")
			}
			return ending{outcome: lost, trouble: errSilent}
		case <-linking.expired():
			if !linking.next(s.ctx) {
				return ending{outcome: finished, announce: s.lifecycle.CodesExpired}
			}
		case sig := <-s.inbox:
			release()
			if s.connected() { // else it bounds how long the end may take
				deadline.Stop()
			}
			if end, over := s.follow(sig, linking, deadline); over {
				return end
			}
		}
	}
}

var (
	// errAbandoned says that the session was closed while it connected.
	errAbandoned = errors.New("whatsapp: closed while connecting")
	// errSilent says that the platform took the connection and said nothing.
	errSilent = errors.New("whatsapp: the platform took the connection and did not answer")
)

// dial makes the connection. Each step of it has a bound: whatsmeow's own has one
// only for the handshake, and hears of nobody who no longer wants it. Where the
// session is closed meanwhile, dial returns within a second, and whatsmeow gives up in a
// goroutine that holds nothing but its socket.
func (s *session) dial() error {
	client, ctx := s.current(), s.newConnection()
	done := make(chan error, 1)
	go func() { done <- client.ConnectContext(ctx) }()
	limit := time.NewTimer(s.connector.config.ConnectTimeout)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-s.ctx.Done():
		// One that is just being made ends in order: whatsmeow's handshake and the end
		// of its connection at the same time are a race inside of it.
		limit.Reset(abandonWait)
		select {
		case err := <-done:
			return err
		case <-limit.C:
			s.endConnection()
			return errAbandoned
		}
	case <-limit.C:
		s.endConnection()
	}
	select {
	case err := <-done:
		return fmt.Errorf("%w: %w", errSilent, err)
	case <-s.ctx.Done():
		return errAbandoned
	}
}

// follow acts on one signal and reports whether it ends the connection.
func (s *session) follow(sig signal, linking *linking, deadline *time.Timer) (ending, bool) {
	switch sig.kind {
	case codesGiven:
		linking.begin(s.ctx, sig.codes)
	case pairingDone:
		linking.stop()
		s.accept(sig.pairing)
		if linking.loginWanted {
			return ending{outcome: again}, true
		}
		deadline.Reset(afterPairing)
	case pairingFailed:
		s.lifecycle.PairingFailed(s.ctx)
		s.use(s.connector.container.NewDevice())
		return ending{outcome: again}, true
	case loginWanted:
		if s.Linked() {
			return ending{outcome: again}, true
		}
		// The platform was faster than the end of the pairing on our side.
		linking.loginWanted = true
		deadline.Reset(afterPairing)
	case loggedIn:
		if client := s.current(); s.connected() && client.IsConnected() && client.IsLoggedIn() {
			if err := s.lifecycle.Connected(s.ctx, s.profile()); err != nil {
				s.logger.ErrorContext(s.ctx, "connection not announced; it is made anew", slog.Any("error", err))
				return ending{outcome: lost}, true
			}
			s.pictureOnce.Do(s.loadPicture)
		}
	case connectionLost:
		if !s.current().IsConnected() {
			return ending{outcome: lost}, true
		}
	case connectionDead:
		return ending{outcome: lost}, true
	case connectionGivenUp:
		// whatsmeow's reader may be stuck with a frame that nobody takes any more.
		deadline.Reset(partingWait)
	case refusal:
		return ending{outcome: finished, announce: func(ctx context.Context) { s.lifecycle.Refused(ctx, sig.reason) }}, true
	case pictureMoved:
		s.loadPicture()
	case unlinked:
		return ending{outcome: finished, announce: s.unlinked}, true
	}
	return ending{}, false
}

// unlinked removes the keys that the phone has made worthless, and tells.
func (s *session) unlinked(ctx context.Context) {
	s.mu.Lock()
	device := s.device
	s.mu.Unlock()
	err := s.connector.Forget(ctx, device)
	s.lifecycle.LoggedOut(ctx)
	if err != nil {
		// The handler returns when the database takes writes again.
		err = s.connector.Forget(ctx, device)
	}
	if err != nil {
		s.logger.ErrorContext(ctx, "keys of an unlinked session not removed", slog.Any("error", err))
	}
}

// accept notes who the session belongs to now.
func (s *session) accept(event *events.PairSuccess) {
	s.mu.Lock()
	s.linked = true
	s.self = gateway.Party{JID: jidOf(event.ID), LID: jidOf(event.LID)}
	s.device = event.ID.String()
	s.reload = true
	s.mu.Unlock()
	if err := s.connector.config.SyncKeys(s.ctx); err != nil {
		// The next send tries again; until then a loss of power means a new link.
		s.logger.ErrorContext(s.ctx, "keys of a new link are not safe from a loss of power", slog.Any("error", err))
	}
	s.lifecycle.Paired(s.ctx)
}

// takeOver makes a client anew after a pairing: the one that paired has keys
// whose store came into being under its hands, and is used by it still.
func (s *session) takeOver() {
	s.mu.Lock()
	device, reload := s.device, s.reload
	s.reload = false
	s.mu.Unlock()
	if !reload {
		return
	}
	own, err := s.connector.load(s.ctx, device)
	if err != nil {
		// The client that paired goes on; it is only slower.
		s.logger.WarnContext(s.ctx, "new keys not loaded", slog.Any("error", err))
		return
	}
	s.use(own)
}

// enter waits for a place among those that connect at the same time. The
// returned function gives the place back; it may be called twice.
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

// drain drops what an earlier connection still said.
func (s *session) drain() {
	for {
		select {
		case <-s.inbox:
		default:
			return
		}
	}
}

// pauses are the waits between tries: none, then growing ones with jitter, so
// that sessions which fell together don't come back together.
type pauses struct {
	min, max time.Duration
	next     time.Duration
	failed   bool
}

// steady makes the next wait the shortest one, however often it comes.
func (p *pauses) steady() { p.next, p.failed = p.min, true }

func (p *pauses) reset() { p.next, p.failed = 0, false }

func (p *pauses) wait(ctx context.Context) {
	if !p.failed {
		p.failed, p.next = true, p.min
		return
	}
	pause := p.next
	p.next = min(2*p.next, p.max)
	jittered := pause*3/4 + rand.N(pause/2+1) //nolint:gosec // jitter is no secret
	timer := time.NewTimer(jittered)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
