// Which instances this process works for: they are brought back, and let go.

package instance

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// resumesPerSecond is how many sessions are begun in a second at most when many have to be
	// brought back, so that neither the platform nor the database is flooded. resumeBurst of
	// them may come at once, and resumers carry them out.
	resumesPerSecond = 250
	resumeBurst      = 50
	resumers         = 8
)

// Run finishes deletions that the end of a process interrupted, brings the instances of TakeUp
// back, and keeps the sessions until ctx ends. Then it closes them. The keys stay.
func (s *Service) Run(ctx context.Context) error {
	var working sync.WaitGroup
	working.Go(func() { // nothing waits for a place of files that is slow
		if err := s.finishDeletions(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.ErrorContext(ctx, "files of deleted instances could not be looked for: the next start tries again", slog.Any("error", err))
		}
	})
	pace := rate.NewLimiter(resumesPerSecond, resumeBurst)
	for range resumers {
		working.Go(func() { s.resumeAll(ctx, pace) })
	}
	working.Wait()
	s.close()
	return nil
}

// TakeUp brings instances back that this process works for from now on. It returns before
// they are connected. After an error it may be called again.
func (s *Service) TakeUp(ctx context.Context, tenures []gateway.Tenure) error {
	ids, of := make([]string, len(tenures)), make(map[string]gateway.Tenure, len(tenures))
	for n, tenure := range tenures {
		ids[n], of[tenure.InstanceID] = tenure.InstanceID, tenure
	}
	instances, err := s.sessions.config.Store.InstancesByID(ctx, ids)
	if err != nil {
		return fmt.Errorf("instance: bring instances back: %w", err)
	}
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	for _, instance := range instances {
		next := resumed.next(instance.Status, instance.Linked())
		if next != instance.Status || next == gateway.StatusConnecting { // else nothing changes
			s.due = append(s.due, of[instance.ID])
		}
		if next == gateway.StatusConnecting && s.sessions.config.Owns != nil && s.sessions.config.Owns.Shared() {
			s.sessions.moved[instance.ID] = s.sessions.config.Now()
		}
	}
	s.wakeResumer()
	return nil
}

// LetGo closes the sessions of instances, whose statuses stay as they are: they say which
// instances the next process brings back. When it returns, nothing is received or sent for
// them any more.
func (s *Service) LetGo(tenures []gateway.Tenure) {
	gone := make(map[string]bool, len(tenures))
	for _, tenure := range tenures {
		gone[tenure.InstanceID] = true
	}
	s.sessions.mu.Lock()
	var supervisors []*supervisor
	for id := range gone {
		delete(s.sessions.moved, id)
		if sup, ok := s.sessions.supervisors[id]; ok {
			supervisors = append(supervisors, sup)
			delete(s.sessions.supervisors, id)
		}
	}
	kept := s.due[:0]
	for _, tenure := range s.due {
		if !gone[tenure.InstanceID] {
			kept = append(kept, tenure)
		}
	}
	s.due = kept
	s.sessions.mu.Unlock()
	closeAll(supervisors)
}

// wakeResumer lets a resumer look. The lock is held.
func (s *Service) wakeResumer() {
	select {
	case s.wake <- struct{}{}:
	default: // one was woken already
	}
}

// resumeAll brings back what is due until ctx ends.
func (s *Service) resumeAll(ctx context.Context, pace *rate.Limiter) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		for {
			sup, tenure, ok := s.nextDue()
			if !ok {
				break
			}
			if pace.Wait(ctx) != nil {
				return
			}
			// One that can't be brought back must not stop the others.
			if err := s.commandTo(gateway.WithTenure(ctx, tenure), sup, (*supervisor).resume); err != nil && ctx.Err() == nil {
				s.config.Logger.ErrorContext(ctx, "instance not brought back; it is tried again",
					slog.String("instance_id", tenure.InstanceID), slog.Any("error", err))
				s.comeBack(sup, tenure)
			}
		}
	}
}

// nextDue returns the next instance that has to be brought back. Its supervisor is there from
// now on, so that LetGo waits for it.
func (s *Service) nextDue() (*supervisor, gateway.Tenure, bool) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	if len(s.due) == 0 {
		return nil, gateway.Tenure{}, false
	}
	tenure := s.due[0]
	s.due = s.due[1:]
	s.wakeResumer() // the others help
	return s.supervisorLocked(tenure.InstanceID), tenure, true
}

// close ends all sessions. The statuses stay as they are: they say which instances the
// next start brings back.
func (s *Service) close() {
	s.sessions.mu.Lock()
	s.closed = true
	supervisors := slices.Collect(maps.Values(s.sessions.supervisors))
	s.sessions.supervisors = map[string]*supervisor{}
	s.sessions.mu.Unlock()
	closeAll(supervisors)
}

const (
	// replacedPause is when a session comes back that another one has replaced: by then a node
	// that stood still has noticed that it has lost the instance.
	replacedPause = 3 * time.Second
	// mostReplaced is how often it comes back within replacedAge. After that some other program
	// has the keys, and a person has to decide.
	mostReplaced = 3
	replacedAge  = 5 * time.Minute
)

// replaced brings a session back that another one has replaced, if that can only have been
// the session of a node that stood still and has not noticed yet that it has lost the
// instance. It reports whether it does.
func (l *lifecycle) replaced(ctx context.Context) bool {
	sup, tenure := l.supervisor, gateway.TenureOf(ctx)
	owns := sup.service.sessions.config.Owns
	if owns == nil || !owns.Contested(ctx, tenure) {
		return false
	}
	now := sup.service.sessions.config.Now()
	sup.mu.Lock()
	if now.Sub(sup.replacedAt) > replacedAge {
		sup.replaced = 0
	}
	sup.replacedAt = now
	sup.replaced++
	often := sup.replaced > mostReplaced
	sup.mu.Unlock()
	if often {
		return false
	}
	sup.service.config.Logger.WarnContext(ctx, "the session was replaced by that of another node; it comes back", slog.String("instance_id", sup.id))
	l.set(func(s *supervisor) { s.up, s.ended, s.code = false, true, gateway.QRCode{} })
	l.update(ctx, update{cause: connectionLost, reason: connectionLost.reason()})
	sup.service.comeBack(sup, tenure)
	return true
}

// comeBack brings an instance back after a pause, unless this process has let it go by then.
func (s *Service) comeBack(sup *supervisor, tenure gateway.Tenure) {
	time.AfterFunc(replacedPause, func() {
		s.sessions.mu.Lock()
		defer s.sessions.mu.Unlock()
		if s.sessions.supervisors[sup.id] == sup {
			s.due = append(s.due, tenure)
			s.wakeResumer()
		}
	})
}

// closeAll closes the sessions of supervisors that nobody finds any more.
func closeAll(supervisors []*supervisor) {
	var group sync.WaitGroup
	for _, sup := range supervisors {
		group.Go(func() {
			sup.command <- struct{}{}
			defer func() { <-sup.command }()
			sup.mu.Lock()
			sup.over = true
			sup.mu.Unlock()
			if session := sup.detach(); session != nil {
				session.Close()
			}
		})
	}
	group.Wait()
}
