package messaging

import "context"

// NewWithout makes a service without the parts that a test does not use.
func NewWithout(config Config) *Service { return &Service{config: config} }

// Turn waits for the turn of a message or a change.
func (s *Service) Turn(ctx context.Context, instanceID string) (done func(), err error) {
	return s.turn(ctx, instanceID)
}
