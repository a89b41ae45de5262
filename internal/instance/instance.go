// Package instance holds the use cases of an instance: creating, linking,
// restarting, stopping, logging out and deleting it, and keeping its session
// alive in between. Its Sessions are made first: other use cases find a session there.
package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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

	// FindInstance returns the account's instance with an external name, and whether there is one.
	FindInstance(ctx context.Context, accountID, externalName string) (gateway.Instance, bool, error)
	CreateInstance(ctx context.Context, instance gateway.Instance) error
	UpdateInstance(ctx context.Context, id string,
		change func(*gateway.Instance) ([]eventlog.Event, error)) (gateway.Instance, error)
	DeleteInstance(ctx context.Context, id string) error
}

// Reader finds instances.
type Reader interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
	ListInstances(ctx context.Context, accountID string, ids []string, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	// InstanceOutlines returns what people look for and sort by in the account's instances, oldest
	// first, limit at most: of those with the ids, or of all where there are no ids. It is less than ListInstances
	// has of each, so that all can be read at once.
	InstanceOutlines(ctx context.Context, accountID string, ids []string, limit int) ([]gateway.Instance, error)
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
	// CurrentStatuses returns those of the instances whose stored status was written by a node
	// that works for them now, and is alive.
	CurrentStatuses(ctx context.Context, instanceIDs []string) (map[string]bool, error)
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
	Sessions  *Sessions // with the store and the connector
	Receivers Receivers // of what the sessions receive
	Log       Log
	Logger    *slog.Logger

	// Connected is told of an instance whenever it is connected, and when the name of its account has
	// changed, without which nobody is online; it must not wait. nil: nobody is told.
	Connected func(ctx context.Context, instanceID string)

	// OnlineChanged is told when an instance was set to be always online, or not to be any more; it must
	// not wait. nil: nobody is told.
	OnlineChanged func(ctx context.Context, instanceID string)

	// Failed is told of each attempt to connect that has failed; it must not wait. nil: nobody is
	// told.
	Failed func(why Failure)

	Webhooks Webhooks // nil: there are none
	Files    Files    // nil: there are none

	LogoutWait time.Duration // how long a logout may wait for the platform; 0: ten seconds
}

// Service carries out the use cases, and starts and ends the sessions. It is safe for
// concurrent use; commands to one instance are carried out one after another.
type Service struct {
	config   Config
	sessions *Sessions // its lock guards the fields below as well

	due    []gateway.Tenure // of instances that have to be brought back, in this order
	closed bool

	wake chan struct{} // there is something due
}

// New makes the service; Run brings the linked instances back.
func New(config Config) (*Service, error) {
	if err := required.Check("instance", config, "Connected", "Failed", "Files", "OnlineChanged", "Webhooks"); err != nil {
		return nil, err
	}
	if config.LogoutWait == 0 {
		config.LogoutWait = logoutWait
	}
	return &Service{config: config, sessions: config.Sessions, wake: make(chan struct{}, 1)}, nil
}

// Draft is an instance to be made.
type Draft struct {
	Name         string
	ExternalName string // empty: none
}

// Create makes an instance that is linked to nothing yet. Its error is Invalid for names with
// characters that nobody sees, Conflict for an external name that another instance of the account has.
func (s *Service) Create(ctx context.Context, accountID string, draft Draft) (gateway.Instance, error) {
	if gateway.HasInvisible(draft.Name) {
		return gateway.Instance{}, gateway.InvalidField("name", nameProblem(draft.Name, maxName))
	}
	if draft.ExternalName != "" {
		if problem := nameProblem(draft.ExternalName, maxName); problem != "" {
			return gateway.Instance{}, gateway.InvalidField("externalName", problem)
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return gateway.Instance{}, fmt.Errorf("instance: choose id: %w", err)
	}
	now := s.sessions.config.Now().UTC()
	instance := gateway.Instance{
		ID: id.String(), AccountID: accountID, Name: draft.Name, ExternalName: draft.ExternalName,
		Status: gateway.StatusCreated, CreatedAt: now, UpdatedAt: now,
	}
	create := func(ctx context.Context) error { return s.sessions.config.Store.CreateInstance(ctx, instance) }
	if s.sessions.config.Owns == nil {
		return instance, create(ctx)
	}
	return instance, s.sessions.config.Owns.Create(ctx, instance.ID, create)
}

// Get returns an instance. Its error is NotFound for an unknown one.
func (s *Service) Get(ctx context.Context, id string) (gateway.Instance, error) {
	return s.sessions.get(ctx, id)
}

// List returns the instances that the key may use, oldest first.
func (s *Service) List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error) {
	instances, err := s.sessions.config.Store.ListInstances(ctx, key.AccountID, key.InstanceIDs, page)
	if err == nil {
		err = s.sessions.correct(ctx, instances.Items)
	}
	return instances, err
}

// Named is List for the instance with an external name: it is on the first page, if the key may use it.
func (s *Service) Named(ctx context.Context, key gateway.Key, externalName string, page gateway.PageRequest) (gateway.Page[gateway.Instance], error) {
	found, ok, err := s.sessions.config.Store.FindInstance(ctx, key.AccountID, externalName)
	if err != nil || !ok || len(key.InstanceIDs) > 0 && !slices.Contains(key.InstanceIDs, found.ID) {
		return gateway.Page[gateway.Instance]{}, err
	}
	instances := gateway.PageOf([]gateway.Instance{found}, page)
	return instances, s.sessions.correct(ctx, instances.Items)
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
