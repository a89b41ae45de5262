// The sessions of this process, where the use cases find them.

package instance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// SessionsConfig is what the sessions stand on. The first part is required.
type SessionsConfig struct {
	Store     Store
	Connector gateway.Connector

	Owns Ownership        // nil: the process works for every instance
	Now  func() time.Time // nil: the wall clock
	// DatabaseFails reports whether the database takes no writes at the moment; nil: it always does.
	DatabaseFails func() bool
}

// Sessions are the sessions of this process. Nothing starts them before there is a Service. They are
// safe for concurrent use.
type Sessions struct {
	config SessionsConfig

	mu          sync.Mutex
	supervisors map[string]*supervisor
	moved       map[string]time.Time // when instances were taken up that other nodes had, until they are connected
}

// NewSessions makes the sessions, of which none runs yet.
func NewSessions(config SessionsConfig) (*Sessions, error) {
	if err := required.Check("instance", config, "Owns", "Now", "DatabaseFails"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.DatabaseFails == nil {
		config.DatabaseFails = func() bool { return false }
	}
	return &Sessions{config: config, supervisors: map[string]*supervisor{}, moved: map[string]time.Time{}}, nil
}

// find returns the live side of an instance; nil, which is not connected, if it has none.
func (s *Sessions) find(id string) *supervisor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.supervisors[id]
}

// all returns the live sides of all instances.
func (s *Sessions) all() []*supervisor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.supervisors))
}

// get returns an instance with its status as it is now. Its error is NotFound for an unknown one.
func (s *Sessions) get(ctx context.Context, id string) (gateway.Instance, error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	if err != nil {
		return instance, err
	}
	one := []gateway.Instance{instance}
	err = s.correct(ctx, one)
	return one[0], err
}

// Session returns the session of an instance that is connected. Its error is
// PaymentRequired or Conflict if it is not connected, NotFound if it does not exist.
func (s *Sessions) Session(ctx context.Context, id string) (gateway.Session, error) {
	if session := s.find(id).connected(); session != nil {
		return session, nil
	}
	instance, err := s.get(ctx, id)
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
	if why, ok := gateway.AsError(s.find(id).lastTrouble()); ok { // it was written for clients
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
func (s *Sessions) Known(ctx context.Context, id string) (people gateway.KnownPeople, linked bool, err error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	if err != nil || !instance.Linked() {
		return nil, false, err
	}
	return s.config.Connector.Known(instance), true, nil
}

// KnownGroups returns the groups of an instance as they were listed last, connected or not; known
// is false if they never were. One that is not linked has none. Its error is NotFound if the
// instance does not exist.
func (s *Sessions) KnownGroups(ctx context.Context, id string) (groups []gateway.Group, known bool, err error) {
	instance, err := s.config.Store.GetInstance(ctx, id)
	if err != nil || !instance.Linked() {
		return nil, err == nil, err
	}
	return s.config.Connector.KnownGroups(ctx, instance)
}

// correct makes sure that a client that reads "connected" can send. The stored status says
// so for longer than it is true: after a start of the process until the instance is
// brought back, and while the loss of a connection can't be written.
func (s *Sessions) correct(ctx context.Context, instances []gateway.Instance) error {
	var elsewhere []string
	places := map[string]int{}
	for n := range instances {
		instance := &instances[n]
		if instance.Status != gateway.StatusConnected {
			continue
		}
		if s.config.Owns != nil {
			if _, here := s.config.Owns.WithTenure(ctx, instance.ID); !here {
				elsewhere, places[instance.ID] = append(elsewhere, instance.ID), n
				continue
			}
		}
		if s.find(instance.ID).connected() == nil {
			instance.Status = gateway.StatusConnecting
		}
	}
	if len(elsewhere) == 0 {
		return nil
	}
	holds, err := s.config.Owns.CurrentStatuses(ctx, elsewhere)
	if err != nil {
		return fmt.Errorf("instance: %w", err)
	}
	for _, id := range elsewhere {
		if !holds[id] {
			instances[places[id]].Status = gateway.StatusConnecting
		}
	}
	return nil
}

// movingFor is how long an instance that comes from another node counts as on its way. After
// that something else keeps it from connecting.
const movingFor = 30 * time.Second

// isMoving reports whether an instance comes from another node and is not connected yet: then
// it is soon.
func (s *Sessions) isMoving(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken, ok := s.moved[id]
	if ok && s.config.Now().Sub(taken) > movingFor {
		delete(s.moved, id)
		return false
	}
	return ok
}

// arrived notes that an instance is connected.
func (s *Sessions) arrived(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.moved, id)
}
