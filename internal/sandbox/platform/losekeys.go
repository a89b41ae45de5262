package platform

import "context"

// LoseKeys has the phone of the number lose its encryption sessions, as one does
// that is set up anew: what is on its way to it can't be read any more, and it asks
// for that again.
func (s *Server) LoseKeys(ctx context.Context, number string) error {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	of.phone.Lock()
	defer of.phone.Unlock()
	u := s.newUnit()
	u.exec("DELETE FROM records WHERE number = $1", of.number)
	u.then(func() { clear(of.records) })
	return u.commit(ctx)
}
