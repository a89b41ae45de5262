package server

import (
	"context"
	"errors"
)

// SweepAll removes everything that is old, as the program does from time to time.
func (s *Server) SweepAll(ctx context.Context) error {
	return errors.Join(s.retention.Sweep(ctx), s.messages.Expire(ctx), s.messages.Sweep(ctx), s.users.Sweep(ctx), s.blobs.Sweep(ctx))
}
