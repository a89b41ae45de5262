package phone

import "context"

// LoseKeys has the phone of the number lose its encryption sessions, as one does
// that is set up anew: what is on its way to it can't be read any more, and it asks
// for that again.
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
