package instance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// supervisor is the live side of one instance: its session, if one runs, and the code
// that is being shown.
//
// It has two locks. command is held for the whole of a command, so that there is never a
// second session beside one that is still closing. A command may wait for the platform,
// so a caller that waits for the lock may give up. mu guards the fields; it is never held
// while a session is called, because its Close waits for calls of the lifecycle, which
// take mu.
type supervisor struct {
	service *Service
	id      string

	command chan struct{} // the lock: a command holds its one place

	mu         sync.Mutex
	session    gateway.SupervisedSession
	generation int // of the session; calls of an older one are ignored
	up         bool
	announced  bool // while up: the status says so
	ended      bool // the session is over by itself, and not closed yet
	// wantedSince is since when a linked session is to be connected and is not; a restart in between
	// changes nothing. Zero while it is connected, or nobody wants it to be.
	wantedSince time.Time
	over        bool // this process does not work for the instance any more
	replaced    int  // how often the session was replaced of late
	replacedAt  time.Time
	code        gateway.QRCode
	passkey     gateway.PasskeyQuestion // of the current session's linking
	pairing     pairing                 // counts only as long as its session is the current one
	trouble     error                   // why the platform was not reached in the last attempt, or refuses the version; else nil
	failure     error                   // why no code will come; the status that it mentions is written
	changed     chan struct{}           // closed and made anew when the fields above change
}

// isOver reports whether the supervisor must not begin anything any more.
func (s *supervisor) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// connected returns the session if it is up, else nil.
func (s *supervisor) connected() gateway.SupervisedSession {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.up {
		return nil
	}
	return s.session
}

// lastTrouble returns why the last attempt to connect failed; nil if it did not, or if the
// platform was reached.
func (s *supervisor) lastTrouble() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trouble
}

// awaitConnected waits until the session is up and its status written.
func (s *supervisor) awaitConnected(ctx context.Context) error {
	for {
		s.mu.Lock()
		done, changed := s.up && s.announced, s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// restart is the command behind Service.Restart.
func (s *supervisor) restart(ctx context.Context) error {
	instance, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil {
		return err
	}
	if instance.Status == gateway.StatusPaymentPending {
		return paymentRequired()
	}
	return s.start(ctx, started)
}

// resume is the command that follows a start of the process.
func (s *supervisor) resume(ctx context.Context) error {
	instance, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil {
		return err
	}
	if s.running() {
		return nil // another command was faster
	}
	if resumed.next(instance.Status, instance.Linked()) == gateway.StatusConnecting {
		return s.start(ctx, resumed)
	}
	return s.write(ctx, resumed, nil)
}

// settlePayment is the command that brings an instance back after its payment.
func (s *supervisor) settlePayment(ctx context.Context) error {
	instance, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil || instance.Status != gateway.StatusPaymentPending {
		return err
	}
	if instance.Linked() {
		return s.start(ctx, paymentSettled)
	}
	return s.write(ctx, paymentSettled, nil)
}

// start writes that the instance connects, closes a session that is there, and
// starts a new one.
func (s *supervisor) start(ctx context.Context, cause occurrence) error {
	old := s.detach()
	instance, err := s.update(ctx, update{cause: cause, reason: cause.reason()})
	if old != nil {
		old.Close()
	}
	if err != nil {
		return err
	}
	session, err := s.open(ctx, instance)
	if err != nil {
		return errors.Join(err, s.write(ctx, refused, nil))
	}
	if instance.Linked() && !session.Linked() {
		// The process died while a phone was accepting, or the keys are gone. A person has
		// to link anew; after a start of the process there may be none who waits.
		if cause == resumed {
			s.detach()
			session.Close()
			return s.write(ctx, codesExpired, forget)
		}
		if err := s.write(ctx, described, forget); err != nil {
			return err
		}
	}
	session.Start()
	return nil
}

// open makes a session the current one.
func (s *supervisor) open(ctx context.Context, instance gateway.Instance) (gateway.SupervisedSession, error) {
	s.mu.Lock()
	generation := s.generation
	s.mu.Unlock()
	session, err := s.service.sessions.config.Connector.Open(ctx, instance,
		&lifecycle{supervisor: s, generation: generation}, s.service.config.Receivers.For(s.id))
	if err != nil {
		return nil, fmt.Errorf("instance: open session: %w", err)
	}
	s.mu.Lock()
	s.session = session
	s.wants(s.service.sessions.config.Now())
	s.mu.Unlock()
	return session, nil
}

// end closes the session and keeps its keys.
func (s *supervisor) end(ctx context.Context, cause occurrence) error {
	instance, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil {
		return err
	}
	if instance.Status == gateway.StatusPaymentPending && cause != paymentPending {
		return paymentRequired()
	}
	old := s.detach()
	s.mu.Lock()
	s.wantedSince = time.Time{}
	s.mu.Unlock()
	err = s.write(ctx, cause, nil)
	if old != nil {
		old.Close()
	}
	return err
}

// running reports whether a session is at work, up or not.
func (s *supervisor) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session != nil && !s.ended
}

// detach takes the session away, if there is one. From here on its calls of the lifecycle
// are ignored. The caller closes it.
func (s *supervisor) detach() gateway.SupervisedSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.session
	s.session, s.up, s.announced, s.ended, s.code, s.pairing = nil, false, false, false, gateway.QRCode{}, pairing{}
	s.passkey = gateway.PasskeyQuestion{}
	s.trouble, s.failure = nil, nil
	s.generation++
	s.wake()
	return session
}

// wake wakes the goroutines that wait for a change of a field. The caller holds mu.
func (s *supervisor) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
