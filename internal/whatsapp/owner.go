package whatsapp

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// signal is what whatsmeow's goroutines send to the owner of a session.
type signal struct {
	kind    signalKind
	codes   []string            // of codesGiven
	pairing *events.PairSuccess // of pairingDone
	reason  gateway.Reason      // of refusal
	secret  []byte              // of passkeyWanted: the new one, which the codes to come need
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
	passkeyWanted
)

// outcome is how a connection ended.
type outcome int

const (
	lost      outcome = iota // make it anew, after a pause
	again                    // make it anew at once
	finished                 // the session is over
	outdated                 // make it anew, with another version of the web client
	abandoned                // the session was closed before there was a connection
)

// signals are on their way to the owner of a session.
type signals struct {
	ctx  context.Context //nolint:containedctx // of the session
	sent chan signal
}

// send sends a signal to the owner. It waits while the owner is busy, until the session
// ends.
func (s signals) send(sig signal) {
	select {
	case s.sent <- sig:
	case <-s.ctx.Done():
	}
}

// run is the owner: it keeps a connection until the session is closed, or over.
func (s *session) run() {
	pause := pauses{min: s.connector.config.ReconnectMin, max: s.connector.config.ReconnectMax}
	linking := &linking{session: s}
	for s.awaitQueues(); s.ctx.Err() == nil; s.awaitQueues() {
		s.takeOver()
		began := s.line.Now()
		end := s.connect(linking)
		if end.outcome != abandoned { // else whatsmeow holds the lock for it until its handshake ends
			s.line.Client().Disconnect()
		}
		gaveUp := !s.line.HangUp()
		if end.outcome != lost {
			s.passkeyLost()
		}
		if s.line.Now().Sub(began) > s.connector.config.ReconnectMax {
			pause.reset() // the connection held for a while, so this is another failure
		}
		switch end.outcome {
		case again:
			continue
		case abandoned:
			return
		case finished:
			s.finish(end)
			return
		case outdated:
			if !s.renew() {
				return
			}
			pause.wait(s.ctx)
		case lost:
			s.groups.ForgetAll()
			s.channels.Forget()
			s.profiles.ForgetBlocks()
			// Before the question for a passkey fails, because this takes back the code that is
			// shown: a client that hears of the failure looks for the next code at once.
			s.lifecycle.ConnectionLost(s.ctx, end.trouble)
			s.passkeyLost()
			if gaveUp && end.trouble == nil {
				pause.steady() // the failure is ours, so the platform needs no rest
			}
			pause.wait(s.ctx)
		}
	}
}

// passkeyLost ends the platform's question for a passkey, if one is open: it was asked over a
// connection that has ended.
func (s *session) passkeyLost() {
	s.endPasskey(gateway.PasskeyFailed, "the connection to the platform ended")
}

// finish informs the lifecycle that the session is over, unless it was closed before.
func (s *session) finish(end ending) {
	if s.ctx.Err() == nil {
		s.cancel()
		end.announce(context.WithoutCancel(s.ctx))
	}
}

// ending is an outcome with what the lifecycle is informed of.
type ending struct {
	outcome  outcome
	announce func(context.Context)
	trouble  error // why the platform was not reached; nil if it was
}

// connect makes one connection and follows it to its end. It waits here for as long as the
// connection lasts, so what needs room on the stack is in functions of its own: with less
// than 1,200 bytes in use, the runtime takes half of the 8 KB back that the login has needed.
func (s *session) connect(linking *linking) ending {
	release, end, reached := s.reach()
	defer release()
	if !reached {
		return end
	}
	deadline := time.NewTimer(loginWait)
	defer deadline.Stop()
	defer linking.stop()
	for {
		select {
		case <-s.ctx.Done():
			return ending{outcome: again}
		case <-deadline.C:
			return s.silent()
		case <-linking.expired():
			if !linking.next(s.ctx) {
				return ending{outcome: finished, announce: s.lifecycle.CodesExpired}
			}
		case sig := <-s.signals.sent:
			release()
			if end, over := s.follow(sig, linking, deadline); over {
				return end
			}
		}
	}
}

// reach waits for a place among the sessions that connect at the same time, dials, and
// reports whether there is a connection; else end is how it ended. release gives the place
// back; it may be called twice.
func (s *session) reach() (release func(), end ending, reached bool) {
	release, ok := s.enter()
	if !ok {
		return func() {}, ending{outcome: again}, false
	}
	s.drain()
	err := s.dial()
	switch {
	case err == nil:
		return release, ending{}, true
	case errors.Is(err, errAbandoned):
		return release, ending{outcome: abandoned}, false
	default:
		s.logger.WarnContext(s.ctx, "platform not reached", slog.Any("error", err))
		return release, ending{outcome: lost, trouble: err}, false
	}
}

// silent is the ending of a connection on which there was no sign of life in time.
func (s *session) silent() ending {
	if s.line.Connected() {
		s.logger.WarnContext(s.ctx, "platform silent after the connection was made")
	}
	return ending{outcome: lost, trouble: errSilent}
}

// follow acts on one signal and reports whether it ends the connection.
func (s *session) follow(sig signal, linking *linking, deadline *time.Timer) (ending, bool) {
	if s.line.Connected() { // else the deadline bounds how long the end may take
		deadline.Stop()
	}
	switch sig.kind {
	case codesGiven:
		s.connector.versions.Accepted(s.ctx, s.version())
		linking.begin(s.ctx, sig.codes)
	case passkeyWanted:
		linking.renew(s.ctx, sig.secret)
	case pairingDone:
		linking.stop()
		s.endPasskey(gateway.PasskeyDone, "")
		s.accept(sig.pairing)
		if linking.loginWanted {
			return ending{outcome: again}, true
		}
		deadline.Reset(afterPairing)
	case pairingFailed:
		s.endPasskey(gateway.PasskeyFailed, "the phone has linked the device, and its keys did not fit")
		s.lifecycle.PairingFailed(s.ctx)
		own, err := s.connector.keys.Load(s.ctx, s.instanceID, "")
		if err != nil {
			s.logger.ErrorContext(s.ctx, "new keys not made", slog.Any("error", err))
			return ending{outcome: lost}, true
		}
		s.load(own)
		return ending{outcome: again}, true
	case loginWanted:
		if s.Linked() {
			return ending{outcome: again}, true
		}
		// The platform asks before whatsmeow has finished the pairing.
		linking.loginWanted = true
		deadline.Reset(afterPairing)
	case loggedIn:
		s.connector.versions.Accepted(s.ctx, s.version())
		if client := s.line.Client(); s.line.Connected() && client.IsConnected() && client.IsLoggedIn() {
			if err := s.lifecycle.Connected(s.ctx, s.profile()); err != nil {
				s.logger.ErrorContext(s.ctx, "a new connection could not be written down; connecting again", slog.Any("error", err))
				return ending{outcome: lost}, true
			}
			s.pictureOnce.Do(s.loadPicture)
			s.line.Tasks.Add(func() { s.chats.ReadAgain(s.ctx) })
		}
	case connectionLost:
		if !s.line.Client().IsConnected() {
			return ending{outcome: lost}, true
		}
	case connectionDead:
		return ending{outcome: lost}, true
	case connectionGivenUp:
		// whatsmeow's reader may be stuck with a frame that is no longer taken from it.
		deadline.Reset(partingWait)
	case refusal:
		if sig.reason == gateway.ReasonClientOutdated {
			return ending{outcome: outdated}, true
		}
		return ending{outcome: finished, announce: func(ctx context.Context) { s.lifecycle.Refused(ctx, sig.reason) }}, true
	case pictureMoved:
		s.loadPicture()
	case unlinked:
		return ending{outcome: finished, announce: s.unlinked}, true
	}
	return ending{}, false
}

// renew waits until it is worth a try to connect with another version of the web client than
// the one that was refused, and reports whether the session goes on. A session that is not
// linked does not wait for long: nobody looks at the codes that it would show.
func (s *session) renew() bool {
	why := s.connector.versions.Refused(s.ctx, s.version())
	switch {
	case s.ctx.Err() != nil:
		return false
	case why == nil:
		return true
	case s.connector.versions.Fixed() || !s.Linked():
		s.finish(ending{announce: func(ctx context.Context) { s.lifecycle.Refused(ctx, gateway.ReasonClientOutdated) }})
		return false
	}
	s.lifecycle.Outdated(s.ctx, why)
	s.connector.versions.Await(s.ctx)
	return true
}

// unlinked removes the keys that the phone has made worthless, and informs the lifecycle.
func (s *session) unlinked(ctx context.Context) {
	s.mu.Lock()
	device := s.device
	s.mu.Unlock()
	err := s.connector.Forget(ctx, device)
	s.lifecycle.LoggedOut(ctx)
	if err != nil {
		// The lifecycle returned because the database takes writes again.
		err = s.connector.Forget(ctx, device)
	}
	if err != nil {
		s.logger.ErrorContext(ctx, "keys of an unlinked session not removed", slog.Any("error", err))
	}
}

// accept notes the account that the session belongs to now.
func (s *session) accept(event *events.PairSuccess) {
	s.line.SetSelf(gateway.Party{JID: wire.JIDOf(event.ID), LID: wire.JIDOf(event.LID)})
	s.mu.Lock()
	s.linked = true
	s.device = event.ID.String()
	s.reload = true
	s.mu.Unlock()
	s.lifecycle.Paired(s.ctx)
}
