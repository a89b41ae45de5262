// Package instance holds the use cases of an instance: creating, linking,
// restarting, stopping, logging out and deleting it, and keeping its session
// alive in between. It owns every running session; the packages that use one ask it for
// the session.
package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

const (
	// codeWait is how long a request for a code waits for the first one.
	codeWait = 10 * time.Second
	// logoutWait bounds how long a logout on the platform may take, with connecting if
	// there is no connection; after it the keys are forgotten all the same.
	logoutWait = 10 * time.Second
	// writePause is the pause after a failed write of a status, before the next try.
	writePause = 500 * time.Millisecond
)

// Store keeps instances. Each method is a transaction of its own, which includes the
// events that it causes.
type Store interface {
	Reader

	CreateInstance(ctx context.Context, instance gateway.Instance) error
	UpdateInstance(ctx context.Context, id string,
		change func(*gateway.Instance) ([]eventlog.Event, error)) (gateway.Instance, error)
	DeleteInstance(ctx context.Context, id string) error
}

// Reader finds instances.
type Reader interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
	ListInstances(ctx context.Context, accountID string, ids []string, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	AllInstances(ctx context.Context) ([]gateway.Instance, error)
	// InstancesByID returns those of the instances that exist, in any order.
	InstancesByID(ctx context.Context, ids []string) ([]gateway.Instance, error)
}

// Ownership says which instances this process works for, where several share a database.
type Ownership interface {
	gateway.Tenures
	// Create calls create with a context under the first tenure of a new instance.
	Create(ctx context.Context, instanceID string, create func(ctx context.Context) error) error
	// Forget ends the tenure of an instance that was deleted.
	Forget(instanceID string)
	// Shared reports whether other processes work with the same database.
	Shared() bool
	// Contested reports whether this process still has a tenure that another node may have had
	// before.
	Contested(ctx context.Context, tenure gateway.Tenure) bool
	// StatusHolds returns those of the instances whose stored status was written by a node
	// that works for them now, and is alive.
	StatusHolds(ctx context.Context, instanceIDs []string) (map[string]bool, error)
}

// Log takes events that stand for themselves.
type Log interface {
	Append(ctx context.Context, events ...eventlog.Event) error
}

// Receivers gives the receiver of an instance's content.
type Receivers interface {
	For(instanceID string) gateway.Receiver
}

// Config is what the service stands on. The first part is required.
type Config struct {
	Store     Store
	Connector gateway.Connector
	Receivers Receivers // of what the sessions receive
	Log       Log
	Logger    *slog.Logger

	// Connected is told of an instance whenever it is connected; it must not wait. nil: nobody
	// is told.
	Connected func(ctx context.Context, instanceID string)

	// Failed is told of each attempt to connect that has failed; it must not wait. nil: nobody is
	// told.
	Failed func(why Failure)

	Webhooks Webhooks         // nil: there are none
	Files    Files            // nil: there are none
	Owns     Ownership        // nil: the process works for every instance
	Now      func() time.Time // nil: the wall clock

	LogoutWait time.Duration // how long a logout may wait for the platform; 0: ten seconds
	// DatabaseFails reports whether the database takes no writes at the moment; nil: it always does.
	DatabaseFails func() bool
}

// Service carries out the use cases and owns the sessions. It is safe for
// concurrent use; commands to one instance are carried out one after another.
type Service struct {
	config Config

	mu          sync.Mutex
	supervisors map[string]*supervisor
	due         []gateway.Tenure     // of instances that have to be brought back, in this order
	moved       map[string]time.Time // when instances were taken up that other nodes had, until they are connected
	closed      bool

	wake chan struct{} // there is something due
}

// New makes the service; Run brings the linked instances back.
func New(config Config) (*Service, error) {
	if err := required.Check("instance", config, "Connected", "DatabaseFails", "Failed", "Files", "Now", "Owns", "Webhooks"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.DatabaseFails == nil {
		config.DatabaseFails = func() bool { return false }
	}
	if config.LogoutWait == 0 {
		config.LogoutWait = logoutWait
	}
	return &Service{
		config: config, supervisors: map[string]*supervisor{}, moved: map[string]time.Time{}, wake: make(chan struct{}, 1),
	}, nil
}

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
	create := func(ctx context.Context) error { return s.config.Store.CreateInstance(ctx, instance) }
	if s.config.Owns == nil {
		return instance, create(ctx)
	}
	return instance, s.config.Owns.Create(ctx, instance.ID, create)
}

// Get returns an instance. Its error is NotFound for an unknown one.
func (s *Service) Get(ctx context.Context, id string) (gateway.Instance, error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	if err != nil {
		return instance, err
	}
	one := []gateway.Instance{instance}
	err = s.correct(ctx, one)
	return one[0], err
}

// List returns the instances that the key may use, oldest first.
func (s *Service) List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error) {
	instances, err := s.config.Store.ListInstances(ctx, key.AccountID, key.InstanceIDs, page)
	if err == nil {
		err = s.correct(ctx, instances.Items)
	}
	return instances, err
}

// correct makes sure that a client that reads "connected" can send. The stored status says
// so for longer than it is true: after a start of the process until the instance is
// brought back, and while the loss of a connection can't be written.
func (s *Service) correct(ctx context.Context, instances []gateway.Instance) error {
	var elsewhere []string
	for n := range instances {
		instance := &instances[n]
		if instance.Status != gateway.StatusConnected {
			continue
		}
		if s.config.Owns != nil {
			if _, here := s.config.Owns.Hold(ctx, instance.ID); !here {
				elsewhere = append(elsewhere, instance.ID)
				continue
			}
		}
		s.mu.Lock()
		sup := s.supervisors[instance.ID]
		s.mu.Unlock()
		if sup == nil || sup.connected() == nil {
			instance.Status = gateway.StatusConnecting
		}
	}
	if len(elsewhere) == 0 {
		return nil
	}
	holds, err := s.config.Owns.StatusHolds(ctx, elsewhere)
	if err != nil {
		return fmt.Errorf("instance: %w", err)
	}
	for _, id := range elsewhere {
		at := slices.IndexFunc(instances, func(instance gateway.Instance) bool { return instance.ID == id })
		if !holds[id] {
			instances[at].Status = gateway.StatusConnecting
		}
	}
	return nil
}

// Session returns the session of an instance that is connected. Its error is
// PaymentRequired or Conflict if it is not connected, NotFound if it does not exist.
func (s *Service) Session(ctx context.Context, id string) (gateway.Session, error) {
	if session := s.supervisor(id).connected(); session != nil {
		return session, nil
	}
	instance, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if instance.Status == gateway.StatusConnecting && s.isMoving(id) {
		return nil, gateway.ErrTenureOver
	}
	if instance.Status == gateway.StatusPaymentPending {
		return nil, paymentRequired()
	}
	refusal := gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
		"the instance is not connected: its status is %s; the dashboard says why, and what to do (/instances/%s)", instance.Status, id)
	if why, ok := gateway.AsError(s.supervisor(id).lastTrouble()); ok { // it was written for clients
		refusal.Message = "the instance is not connected: " + why.Message
	}
	if instance.Status == gateway.StatusConnecting {
		if s.config.DatabaseFails() { // no session goes on that can't keep what comes in
			return nil, gateway.ErrDatabaseAway
		}
		refusal.RetryAfter = connectingWait
	}
	return nil, refusal
}

// connectingWait is when a client should try again whose instance is connecting: most are connected soon
// after a start, or after they have lost their connection.
const connectingWait = 2 * time.Second

// Known returns what the device of an instance knows of people, connected or not; linked is false
// if it has no device, which knows nobody. Its error is NotFound if the instance does not exist.
func (s *Service) Known(ctx context.Context, id string) (people gateway.KnownPeople, linked bool, err error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	if err != nil || !instance.Linked() {
		return nil, false, err
	}
	return s.config.Connector.Known(instance), true, nil
}

// KnownGroups returns the groups of an instance as they were listed last, connected or not; known
// is false if they never were. One that is not linked has none. Its error is NotFound if the
// instance does not exist.
func (s *Service) KnownGroups(ctx context.Context, id string) (groups []gateway.Group, known bool, err error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	if err != nil || !instance.Linked() {
		return nil, err == nil, err
	}
	return s.config.Connector.KnownGroups(ctx, instance)
}

// AwaitConnected waits until the instance is connected and its status says so. Its error
// is that of ctx.
func (s *Service) AwaitConnected(ctx context.Context, id string) error {
	return s.supervisor(id).awaitConnected(ctx)
}

func paymentRequired() error {
	return gateway.Errorf(gateway.PaymentRequired, gateway.CodePaymentRequired,
		"the instance waits for its payment")
}

// errUnchanged ends an update that would change nothing.
var errUnchanged = errors.New("instance: unchanged")
