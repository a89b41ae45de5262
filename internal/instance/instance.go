// Package instance holds the use cases of an instance: creating, linking,
// restarting, stopping, logging out and deleting it, and keeping its session
// alive in between. It owns every running session; the rooms that send and
// receive ask it for them.
package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

const (
	// codeWait is how long a request for a code waits for the first one.
	codeWait = 10 * time.Second
	// logoutWait bounds how long the platform may take to hear of a logout, with
	// the connecting where there is no connection; the keys are forgotten either
	// way.
	logoutWait = 10 * time.Second
	// writePause is the pause before a status is written again that could not be.
	writePause = 500 * time.Millisecond
)

// Store keeps instances.
type Store interface {
	CreateInstance(ctx context.Context, instance gateway.Instance) error
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
	ListInstances(ctx context.Context, accountID string, ids []string, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	AllInstances(ctx context.Context) ([]gateway.Instance, error)
	UpdateInstance(ctx context.Context, id string,
		change func(*gateway.Instance) ([]eventlog.Event, error)) (gateway.Instance, error)
	DeleteInstance(ctx context.Context, id string) error
}

// Log takes events that stand for themselves.
type Log interface {
	Append(ctx context.Context, events ...eventlog.Event) error
}

// Receivers gives the receiver of an instance's content.
type Receivers interface {
	For(instanceID string) gateway.Receiver
}

// Config is what the service stands on. All parts but the clock are required.
type Config struct {
	Store     Store
	Connector gateway.Connector
	Receivers Receivers // of what the sessions receive
	Log       Log
	Logger    *slog.Logger
	Now       func() time.Time // nil: the wall clock
}

// Service carries out the use cases and owns the sessions. It is safe for
// concurrent use; commands to one instance are carried out one after another.
type Service struct {
	config     Config
	deleted    func(instanceID string)
	logoutWait time.Duration // the constant; tests have less patience

	mu     sync.Mutex
	links  map[string]*link
	closed bool
}

// New makes the service; Run brings the linked instances back.
func New(config Config) (*Service, error) {
	if config.Store == nil || config.Connector == nil || config.Receivers == nil || config.Log == nil || config.Logger == nil {
		return nil, errors.New("instance: a part is missing")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{
		config: config, links: map[string]*link{}, deleted: func(string) {}, logoutWait: logoutWait,
	}, nil
}

// Deleted makes the service tell of instances that were deleted. It is called
// before Run.
func (s *Service) Deleted(deleted func(instanceID string)) { s.deleted = deleted }

// Create makes an instance that is linked to nothing yet.
func (s *Service) Create(ctx context.Context, accountID, name string) (gateway.Instance, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return gateway.Instance{}, fmt.Errorf("instance: choose id: %w", err)
	}
	now := s.config.Now().UTC()
	instance := gateway.Instance{
		ID: id.String(), AccountID: accountID, Name: name,
		Status: gateway.StatusCreated, CreatedAt: now, UpdatedAt: now,
	}
	return instance, s.config.Store.CreateInstance(ctx, instance)
}

// Get returns an instance. Its error is NotFound for an unknown one.
func (s *Service) Get(ctx context.Context, id string) (gateway.Instance, error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	s.correct(&instance)
	return instance, err
}

// List returns the instances that the key reaches, oldest first.
func (s *Service) List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error) {
	instances, err := s.config.Store.ListInstances(ctx, key.AccountID, key.InstanceIDs, page)
	for n := range instances.Items {
		s.correct(&instances.Items[n])
	}
	return instances, err
}

// correct makes sure that who reads "connected" can send. What is kept says so
// for longer than it is true: after a start of the process until the instance's
// turn has come, and while the loss of a connection can't be written.
func (s *Service) correct(instance *gateway.Instance) {
	if instance.Status != gateway.StatusConnected {
		return
	}
	s.mu.Lock()
	l := s.links[instance.ID]
	s.mu.Unlock()
	if l == nil || l.connected() == nil {
		instance.Status = gateway.StatusConnecting
	}
}

// Session returns the session of an instance that is connected. Its error is
// PaymentRequired or Conflict where the instance is not, NotFound where there
// is none.
func (s *Service) Session(ctx context.Context, id string) (gateway.Session, error) {
	if session := s.link(id).connected(); session != nil {
		return session, nil
	}
	instance, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if instance.Status == gateway.StatusPaymentPending {
		return nil, paymentRequired()
	}
	return nil, gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
		"the instance is not connected: its status is %s", instance.Status)
}

// AwaitConnected waits until the instance is connected, and its status says so,
// however it comes to be.
// Its error is that of ctx.
func (s *Service) AwaitConnected(ctx context.Context, id string) error {
	return s.link(id).awaitConnected(ctx)
}

// Restart reconnects a linked instance, without a new code, and starts linking
// one that is not. It returns when the instance is "connecting".
func (s *Service) Restart(ctx context.Context, id string) error {
	return s.command(ctx, id, func(ctx context.Context, l *link) error {
		return l.restart(ctx)
	})
}

// Stop closes the session and keeps its keys; only a restart brings it back.
func (s *Service) Stop(ctx context.Context, id string) error {
	return s.command(ctx, id, func(ctx context.Context, l *link) error {
		return l.end(ctx, stopped)
	})
}

// Logout ends the session on the platform, or a linking under way, and forgets
// the keys. A linked instance whose session is not up is connected for as long as
// it takes to tell the platform, and is never "connected" by that. Where nothing
// is linked nor being linked, it changes nothing.
func (s *Service) Logout(ctx context.Context, id string) error {
	return s.command(ctx, id, func(ctx context.Context, l *link) error {
		return l.logout(ctx)
	})
}

// SetPayment marks the payment of an instance as pending, which closes its
// session and keeps the keys, or as settled, which brings it back. Repeating
// either changes nothing.
func (s *Service) SetPayment(ctx context.Context, id string, pending bool) (gateway.Instance, error) {
	err := s.command(ctx, id, func(ctx context.Context, l *link) error {
		if pending {
			return l.end(ctx, paymentPending)
		}
		return l.settlePayment(ctx)
	})
	if err != nil {
		return gateway.Instance{}, err
	}
	return s.Get(ctx, id)
}

// Delete logs the instance out and removes it with everything that belongs to
// it.
func (s *Service) Delete(ctx context.Context, id string) error {
	err := s.command(ctx, id, func(ctx context.Context, l *link) error {
		if err := l.logout(ctx); err != nil {
			return err
		}
		return s.config.Store.DeleteInstance(ctx, id)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.links, id)
	s.mu.Unlock()
	s.deleted(id)
	return nil
}

// QR starts linking where it has to and returns the code that a person scans
// now, waiting up to ten seconds for the first one. Its error is Conflict for an
// instance that is linked already, also where that was stopped, which it stays;
// PaymentRequired for one that waits for its payment.
func (s *Service) QR(ctx context.Context, id string) (gateway.QRCode, error) {
	l, err := s.startLinking(ctx, id)
	if err != nil {
		return gateway.QRCode{}, err
	}
	code, _, err := l.waitForCode(ctx, codeWait)
	return code, err
}

// PairingCode is like QR for a person who can't scan: it returns the characters
// to type on the phone of number.
func (s *Service) PairingCode(ctx context.Context, id, number string) (gateway.PairingCode, error) {
	l, err := s.startLinking(ctx, id)
	if err != nil {
		return gateway.PairingCode{}, err
	}
	_, session, err := l.waitForCode(ctx, codeWait)
	if err != nil {
		return gateway.PairingCode{}, err
	}
	return session.PairingCode(ctx, number)
}

func (s *Service) startLinking(ctx context.Context, id string) (*link, error) {
	l := s.link(id)
	err := s.command(ctx, id, func(ctx context.Context, l *link) error {
		return l.startLinking(ctx)
	})
	return l, err
}

// command runs fn as the only command to the instance. Who leaves does not wait for his
// turn; once it has begun it is not cut short: half a logout helps nobody.
func (s *Service) command(ctx context.Context, id string, fn func(context.Context, *link) error) error {
	l := s.link(id)
	select {
	case l.command <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("instance: wait for another command: %w", ctx.Err())
	}
	defer func() { <-l.command }()
	// Only now: close waits for the commands that came before it.
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the gateway is stopping")
	}
	return fn(context.WithoutCancel(ctx), l)
}

// link returns the live side of an instance. It exists for every id that is
// asked for: whether there is such an instance is the store's to say.
func (s *Service) link(id string) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.links[id]
	if !ok {
		l = &link{service: s, id: id, command: make(chan struct{}, 1), changed: make(chan struct{})}
		s.links[id] = l
	}
	return l
}

// Run brings back every instance that a stop of the program interrupted, then
// keeps the sessions until ctx ends, and closes them. The keys stay.
func (s *Service) Run(ctx context.Context) error {
	instances, err := s.config.Store.AllInstances(ctx)
	if err != nil {
		return fmt.Errorf("instance: bring instances back: %w", err)
	}
	for _, instance := range instances {
		if next := resumed.next(instance.Status, instance.Linked()); next == instance.Status && next != gateway.StatusConnecting {
			continue // it stays as it is
		}
		err := s.command(ctx, instance.ID, func(ctx context.Context, l *link) error {
			return l.resume(ctx)
		})
		// One that can't come back must not keep the others down.
		if err != nil {
			s.config.Logger.ErrorContext(ctx, "instance not brought back",
				slog.String("instance_id", instance.ID), slog.Any("error", err))
		}
	}
	<-ctx.Done()
	s.close()
	return nil
}

// close ends all sessions. The statuses stay as they are: they say what is to be
// brought back.
func (s *Service) close() {
	s.mu.Lock()
	s.closed = true
	links := s.links
	s.links = map[string]*link{}
	s.mu.Unlock()
	var group sync.WaitGroup
	for _, l := range links {
		group.Go(func() {
			l.command <- struct{}{}
			defer func() { <-l.command }()
			if session := l.detach(); session != nil {
				session.Close()
			}
		})
	}
	group.Wait()
}

func paymentRequired() error {
	return gateway.Errorf(gateway.PaymentRequired, gateway.CodePaymentRequired,
		"the instance waits for its payment")
}

// errUnchanged ends an update that would change nothing.
var errUnchanged = errors.New("instance: unchanged")
