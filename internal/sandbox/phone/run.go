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

// LoseKeys lets the phone of a number lose its encryption sessions, as a phone does
// that is set up anew. It can't decrypt messages that are on their way to it, and
// asks for them again.
func (s *Service) LoseKeys(ctx context.Context, number string) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	of.LockPhone()
	defer of.UnlockPhone()
	u := s.config.Accounts.NewUnit()
	u.Exec("DELETE FROM records WHERE number = $1", of.Number)
	u.Then(of.ForgetRecords)
	return u.Commit(ctx)
}
