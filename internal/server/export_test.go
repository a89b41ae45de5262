package server

import (
	"context"
	"errors"
)

// SweepAll removes everything that is old, as the program does from time to time.
func (s *Server) SweepAll(ctx context.Context) error {
	return errors.Join(s.use.retention.Sweep(ctx), s.use.messages.Expire(ctx), s.use.messages.Sweep(ctx), s.use.users.Sweep(ctx), s.blobs.Sweep(ctx))
}
