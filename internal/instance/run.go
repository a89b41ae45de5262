package instance

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/recado-project/recado/internal/gateway"
)

// Run finishes the deletions and brings back the instances that the end of a process
// interrupted, then keeps the sessions until ctx ends, and closes them. The keys stay.
func (s *Service) Run(ctx context.Context) error {
	if err := s.finishDeletions(ctx); err != nil && ctx.Err() == nil {
		// The instances work all the same.
		s.config.Logger.ErrorContext(ctx, "files of deleted instances could not be looked for: the next start tries again", slog.Any("error", err))
	}
	instances, err := s.config.Store.AllInstances(ctx)
	if err != nil {
		return fmt.Errorf("instance: bring instances back: %w", err)
	}
	for _, instance := range instances {
		if next := resumed.next(instance.Status, instance.Linked()); next == instance.Status && next != gateway.StatusConnecting {
			continue // nothing changes
		}
		err := s.command(ctx, instance.ID, func(ctx context.Context, sup *supervisor) error {
			return sup.resume(ctx)
		})
		// One that can't be brought back must not stop the others.
		if err != nil {
			s.config.Logger.ErrorContext(ctx, "instance not brought back",
				slog.String("instance_id", instance.ID), slog.Any("error", err))
		}
	}
	<-ctx.Done()
	s.close()
	return nil
}

// close ends all sessions. The statuses stay as they are: they say which instances the
// next start brings back.
func (s *Service) close() {
	s.mu.Lock()
	s.closed = true
	supervisors := s.supervisors
	s.supervisors = map[string]*supervisor{}
	s.mu.Unlock()
	var group sync.WaitGroup
	for _, sup := range supervisors {
		group.Go(func() {
			sup.command <- struct{}{}
			defer func() { <-sup.command }()
			if session := sup.detach(); session != nil {
				session.Close()
			}
		})
	}
	group.Wait()
}
