package platform

import (
	"context"
	"time"
)

// Ban bans the account of the number: its devices are cut off and refused, for
// good where d is 0.
func (s *Server) Ban(ctx context.Context, number string, d time.Duration) error {
	if d < 0 {
		return invalidf("seconds", "must not be negative")
	}
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	until := int64(bannedForGood)
	if d > 0 {
		until = s.now().Add(d).UnixMilli()
	}
	u := s.newUnit()
	u.exec("UPDATE accounts SET banned_until = $1 WHERE number = $2", until, of.number)
	u.then(func() {
		of.mu.Lock()
		of.bannedUntil = until
		of.mu.Unlock()
	})
	if err := u.commit(ctx); err != nil {
		return err
	}
	for _, linked := range of.companions() {
		if c := linked.conn.Load(); c != nil {
			c.cut()
		}
	}
	return nil
}
