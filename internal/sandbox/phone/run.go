package phone

import (
	"context"
	"fmt"
	"sync"

	"github.com/recado-project/recado/internal/sandbox/database"
)

// Restore continues the work of the last process: phones work through their
// mailboxes and read messages.
func (s *Service) Restore(ctx context.Context) error {
	numbers, err := database.Strings(ctx, s.db.Reader(), "SELECT DISTINCT number FROM mailbox")
	if err != nil {
		return fmt.Errorf("phone: list mailboxes: %w", err)
	}
	for _, number := range numbers {
		of, err := s.config.Accounts.Find(ctx, number)
		if err != nil {
			return err
		}
		if of != nil {
			s.config.Accounts.Mail.Wake(of)
		}
	}
	due, err := firstDue(ctx, s.db)
	if err != nil {
		return fmt.Errorf("phone: list messages to read: %w", err)
	}
	if !due.IsZero() {
		s.reads.wakeAt(due)
	}
	return nil
}

// Run lets phones work through their mailboxes and read messages. It blocks until
// ctx ends.
func (s *Service) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range mailboxWorkers {
		workers.Go(func() { s.mailboxWorker(ctx) })
	}
	s.readWorker(ctx)
	workers.Wait()
}
