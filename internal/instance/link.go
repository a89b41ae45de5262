package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// link is the live side of one instance: its session, if one runs, and the code
// that is being shown.
//
// Two locks: command is held for the whole of a command, so that there is never
// a second session beside one that is still closing; it may wait for the platform, so
// whoever waits for it may leave. mu guards the fields and
// is never held while a session is called: its Close waits for its handlers.
type link struct {
	service *Service
	id      string

	command chan struct{} // holds one: who carries out a command

	mu         sync.Mutex
	session    gateway.Session
	generation int // of the session; what an older one still says is ignored
	up         bool
	announced  bool // while up: the status says so
	ended      bool // the session is over by itself; nobody has closed it yet
	code       gateway.QRCode
	trouble    error         // why the platform was not reached when it was tried last; nil where it was
	failure    error         // why no code will come; the status that it speaks of is written
	changed    chan struct{} // closed and made anew when the fields above change
}

// connected returns the session where it is up, else nil.
func (l *link) connected() gateway.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return nil
	}
	return l.session
}

// awaitConnected waits until the session is up and its status written.
func (l *link) awaitConnected(ctx context.Context) error {
	for {
		l.mu.Lock()
		done, changed := l.up && l.announced, l.changed
		l.mu.Unlock()
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
func (l *link) restart(ctx context.Context) error {
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil {
		return err
	}
	if instance.Status == gateway.StatusPaymentPending {
		return paymentRequired()
	}
	return l.start(ctx, started)
}

// startLinking is the command behind Service.QR: one session at most is started,
// and none where a code is being shown already.
func (l *link) startLinking(ctx context.Context) error {
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil {
		return err
	}
	if instance.Status == gateway.StatusPaymentPending {
		return paymentRequired()
	}
	if instance.Linked() && instance.Status == gateway.StatusManuallyStopped {
		// Looking for a code does not undo what its owner did.
		return gateway.Errorf(gateway.Conflict, gateway.CodeAlreadyConnected,
			"the instance is linked and was stopped; restart it to bring it back, or log it out to link it anew")
	}
	if !l.running() {
		if err := l.start(ctx, started); err != nil {
			return err
		}
		// Keys that were gone are forgotten by now.
		if instance, err = l.service.config.Store.GetInstance(ctx, l.id); err != nil {
			return err
		}
	}
	if instance.Linked() {
		return gateway.Errorf(gateway.Conflict, gateway.CodeAlreadyConnected,
			"the instance is linked already; log it out to link it anew")
	}
	return nil
}

// resume is the command that follows a start of the process.
func (l *link) resume(ctx context.Context) error {
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil {
		return err
	}
	if l.running() {
		return nil // somebody was faster
	}
	if resumed.next(instance.Status, instance.Linked()) == gateway.StatusConnecting {
		return l.start(ctx, resumed)
	}
	return l.write(ctx, resumed, nil)
}

// settlePayment is the command that brings an instance back after its payment.
func (l *link) settlePayment(ctx context.Context) error {
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil || instance.Status != gateway.StatusPaymentPending {
		return err
	}
	if instance.Linked() {
		return l.start(ctx, paymentSettled)
	}
	return l.write(ctx, paymentSettled, nil)
}

// start writes that the instance connects, closes a session that is there, and
// starts a new one.
func (l *link) start(ctx context.Context, cause occurrence) error {
	old := l.detach()
	err := l.write(ctx, cause, nil)
	if old != nil {
		old.Close()
	}
	if err != nil {
		return err
	}
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil {
		return err
	}
	session, err := l.open(ctx, instance)
	if err != nil {
		return errors.Join(err, l.write(ctx, refused, nil))
	}
	if instance.Linked() && !session.Linked() {
		// The process died while a phone was accepting, or the platform took the
		// keys away. A person has to link anew, if one is there.
		if cause == resumed {
			l.detach()
			session.Close()
			return l.write(ctx, codesExpired, forget)
		}
		if err := l.write(ctx, described, forget); err != nil {
			return err
		}
	}
	session.Start()
	return nil
}

// open makes a session the current one.
func (l *link) open(ctx context.Context, instance gateway.Instance) (gateway.Session, error) {
	l.mu.Lock()
	generation := l.generation
	l.mu.Unlock()
	session, err := l.service.config.Connector.Open(ctx, instance.Device,
		&handler{link: l, generation: generation}, l.service.config.Receivers.For(l.id))
	if err != nil {
		return nil, fmt.Errorf("instance: open session: %w", err)
	}
	l.mu.Lock()
	l.session = session
	l.mu.Unlock()
	return session, nil
}

// end closes the session and keeps its keys.
func (l *link) end(ctx context.Context, cause occurrence) error {
	instance, err := l.service.config.Store.GetInstance(ctx, l.id)
	if err != nil {
		return err
	}
	if instance.Status == gateway.StatusPaymentPending && cause != paymentPending {
		return paymentRequired()
	}
	old := l.detach()
	err = l.write(ctx, cause, nil)
	if old != nil {
		old.Close()
	}
	return err
}

// running reports whether a session is at work, up or not.
func (l *link) running() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session != nil && !l.ended
}

// detach takes the session away, if there is one. From here on nothing that it
// says is heard. The caller closes it.
func (l *link) detach() gateway.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	session := l.session
	l.session, l.up, l.announced, l.ended, l.code = nil, false, false, false, gateway.QRCode{}
	l.trouble, l.failure = nil, nil
	l.generation++
	l.wake()
	return session
}

// wake tells those who wait that a field has changed. The caller holds mu.
func (l *link) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// write moves the status as the state machine says and applies change, in one
// transaction.
func (l *link) write(ctx context.Context, cause occurrence, change func(*gateway.Instance)) error {
	return l.update(ctx, update{cause: cause, reason: cause.reason(), change: change})
}

// update is one change of an instance as it is kept.
type update struct {
	cause  occurrence
	reason gateway.Reason // written where the status changes
	change func(*gateway.Instance)
	// current says, inside the transaction, whether the update still counts;
	// nil means it does.
	current func() bool
}

// update carries out u. updatedAt moves only where something else does.
func (l *link) update(ctx context.Context, u update) error {
	var from gateway.Status
	after, err := l.service.config.Store.UpdateInstance(ctx, l.id, func(instance *gateway.Instance) ([]eventlog.Event, error) {
		if u.current != nil && !u.current() {
			return nil, errUnchanged
		}
		before := *instance
		from = before.Status
		instance.Status = u.cause.next(before.Status, before.Linked())
		if instance.Status != before.Status {
			instance.Reason = u.reason
		}
		if u.change != nil {
			u.change(instance)
		}
		if *instance == before {
			return nil, errUnchanged
		}
		instance.UpdatedAt = l.service.config.Now().UTC()
		if instance.Status == before.Status {
			return nil, nil
		}
		event, err := eventlog.NewEvent(l.id, "", "", instance.UpdatedAt, eventlog.NewInstanceStatus(*instance, before.Status))
		return []eventlog.Event{event}, err
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("instance: write status: %w", err)
	}
	if after.Status != from {
		l.service.config.Logger.InfoContext(ctx, "instance status changed",
			slog.String("instance_id", l.id), slog.String("from", string(from)),
			slog.String("to", string(after.Status)), slog.String("reason", string(after.Reason)))
	}
	return nil
}

func (o occurrence) reason() gateway.Reason {
	switch o {
	case codesExpired:
		return gateway.ReasonQRExpired
	case connectionLost:
		return gateway.ReasonConnectionLost
	case loggedOut:
		return gateway.ReasonLoggedOut
	case unlinked:
		return gateway.ReasonUnlinked
	case stopped:
		return gateway.ReasonStopped
	case paymentPending:
		return gateway.ReasonPayment
	default:
		return ""
	}
}

// forget empties what a link had filled.
func forget(instance *gateway.Instance) {
	instance.Device = ""
	instance.Profile = gateway.Profile{}
}

// waitForCode waits until a code is shown, and returns it with the session that
// shows it.
func (l *link) waitForCode(ctx context.Context, limit time.Duration) (gateway.QRCode, gateway.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		l.mu.Lock()
		code, session, trouble, failure, changed := l.code, l.session, l.trouble, l.failure, l.changed
		l.mu.Unlock()
		switch {
		case failure != nil:
			return gateway.QRCode{}, nil, failure
		case session == nil:
			return gateway.QRCode{}, nil, linkingEnded()
		case code.Code != "":
			return code, session, nil
		case isNoHost(trouble): // to wait would not bring it about
			return gateway.QRCode{}, nil, noCode(trouble, limit)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return gateway.QRCode{}, nil, noCode(trouble, limit)
		}
	}
}

// noCode says why there is no code: to ask again helps only where the platform can be
// reached.
func noCode(trouble error, limit time.Duration) error {
	if trouble == nil {
		return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
			"the platform gave no code within %s; ask again", limit)
	}
	why := "it did not answer in time"
	if failure, ok := errors.AsType[*net.DNSError](trouble); ok && isNoHost(trouble) {
		why = "its host " + failure.Name + " does not exist, or this machine can't look names up"
	} else if errors.Is(trouble, syscall.ECONNREFUSED) {
		why = "it refuses connections"
	}
	return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
		"the platform can't be reached: %s; the gateway goes on trying", why)
}

// isNoHost reports whether the platform's name leads nowhere.
func isNoHost(trouble error) bool {
	failure, ok := errors.AsType[*net.DNSError](trouble)
	return ok && failure.IsNotFound
}

func linkingEnded() error {
	return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
		"linking was ended; ask for the code again to start anew")
}
