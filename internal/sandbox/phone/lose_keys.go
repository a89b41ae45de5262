package phone

import "context"

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
