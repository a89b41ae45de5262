package instance

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
)

// Files keeps the files of instances, each instance's in a folder that is named by
// its id.
type Files interface {
	// Folders returns the names of all folders.
	Folders(ctx context.Context) ([]string, error)
	// DeleteFolder removes a folder; one that does not exist is no error.
	DeleteFolder(ctx context.Context, name string) error
}

// Webhooks delivers the events of instances.
type Webhooks interface {
	// Forget drops what is held in memory of an instance that was deleted.
	Forget(instanceID string)
}

// Delete logs the instance out and removes it with everything that belongs to it:
// its messages, events and webhook, and its files.
func (s *Service) Delete(ctx context.Context, id string) error {
	err := s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		if err := sup.logout(ctx); err != nil {
			return err
		}
		return s.sessions.config.Store.DeleteInstance(ctx, id)
	})
	if err != nil {
		return err
	}
	s.sessions.mu.Lock()
	delete(s.sessions.supervisors, id)
	s.sessions.mu.Unlock()
	if s.config.Webhooks != nil {
		s.config.Webhooks.Forget(id)
	}
	if s.sessions.config.Owns != nil {
		s.sessions.config.Owns.Forget(id)
	}
	if s.config.Files != nil {
		s.deleteFiles(ctx, id)
	}
	return nil
}

// deleteFiles removes the files of an instance that does not exist any more. The
// instance is gone whether this succeeds or not.
func (s *Service) deleteFiles(ctx context.Context, id string) {
	if err := s.config.Files.DeleteFolder(context.WithoutCancel(ctx), id); err != nil {
		s.config.Logger.ErrorContext(ctx, "files of a deleted instance could not be removed: the next start tries again",
			slog.String("instance_id", id), slog.Any("error", err))
	}
}

// finishDeletions removes the files of instances that were deleted by a process that
// died before it had removed them.
func (s *Service) finishDeletions(ctx context.Context) error {
	if s.config.Files == nil {
		return nil
	}
	// The folders first: an instance that is created after that has none of them.
	folders, err := s.config.Files.Folders(ctx)
	if err != nil {
		return fmt.Errorf("instance: list folders: %w", err)
	}
	instances, err := s.sessions.config.Store.AllInstances(ctx)
	if err != nil {
		return fmt.Errorf("instance: finish deletions: %w", err)
	}
	if len(instances) == 0 {
		// More likely a start with the wrong database than the end of all instances,
		// and the platform may not have the files any more.
		return nil
	}
	known := make(map[string]bool, len(instances))
	for _, instance := range instances {
		known[instance.ID] = true
	}
	for _, folder := range folders {
		if !known[folder] && uuid.Validate(folder) == nil { // other folders are not ours
			s.deleteFiles(ctx, folder)
		}
	}
	return nil
}
