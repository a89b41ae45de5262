// What becomes of sends when the program stops: what was not begun is not begun any more, and what was
// begun gets an answer.

package messaging

import (
	"context"
	"errors"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// defaultLastAnswer is the usual Config.LastAnswer. It is less than the program waits for its requests.
const defaultLastAnswer = 10 * time.Second

// errLate is the cause of a context that has ended after that.
var errLate = errors.New("messaging: the program stops")

// untilStop returns a context that ends when the program begins to stop, for what comes before a
// message or a change is accepted. The caller calls done.
func (s *Service) untilStop(ctx context.Context) (preparing context.Context, done func()) {
	preparing, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(s.config.Stopping, func() { cancel(gateway.ErrStopping) })
	return preparing, func() {
		unwatch()
		cancel(nil)
	}
}

// unlessStopped returns gateway.ErrStopping for an error that comes from the end of a context of untilStop.
func unlessStopped(preparing context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(preparing), gateway.ErrStopping) {
		return gateway.ErrStopping
	}
	return err
}

// turn waits until nothing else is handed to the session of an instance: the platform takes one message or
// change after another, and who waits has begun nothing. The caller calls done. Its error is
// gateway.ErrStopping when the program begins to stop, gateway.ErrDatabaseAway while nothing could be kept, or
// the end of ctx.
func (s *Service) turn(ctx context.Context, instanceID string) (done func(), err error) {
	waiting, waited := s.untilStop(ctx)
	defer waited()
	if done, err = s.turns.Lock(waiting, instanceID); err != nil {
		return nil, unlessStopped(waiting, err)
	}
	switch {
	case s.config.Stopping.Err() != nil:
		err = gateway.ErrStopping
	case s.config.DatabaseFails(): // who was before has found that out: those behind need not wait as long as he did
		err = gateway.ErrDatabaseAway
	default:
		return done, nil
	}
	done()
	return nil, err
}

// untilLate returns a context that ends some time after the program has begun to stop, for what waits for
// the platform's acknowledgement. The caller calls done.
func (s *Service) untilLate(ctx context.Context) (sending context.Context, done func()) {
	sending, cancel := context.WithCancelCause(ctx)
	unwatch := context.AfterFunc(s.config.Stopping, func() {
		timer := time.AfterFunc(s.config.LastAnswer, func() { cancel(errLate) })
		context.AfterFunc(sending, func() { timer.Stop() })
	})
	return sending, func() {
		unwatch()
		cancel(nil)
	}
}

// unlessLate returns the error of something that the platform may have, for one that comes from the end of
// a context of untilLate.
func unlessLate(sending context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(sending), errLate) {
		return &gateway.Error{
			Kind: gateway.PlatformTimeout, Code: gateway.CodePlatformTimeout, Cause: err,
			Message: "the gateway stopped before the platform acknowledged: what was asked for may have been done",
		}
	}
	return err
}
