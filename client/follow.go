package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// FollowOptions say what Follow gives, and how it comes back. The zero value is
// every event from now on.
type FollowOptions struct {
	// After is the sequence of the last event that was worked on, 0 for none.
	// nil begins with what happens next.
	After *int64
	Types []string // none means all
	// MaxEvent bounds one event, in bytes; 0 means DefaultMaxEvent.
	MaxEvent int
	// Silence is how long nothing may arrive before the connection counts as
	// dead; 0 means 45 seconds. The gateway says every 15 seconds that it is
	// there.
	Silence time.Duration
	// Reconnecting, where set, is told why the stream was cut, and how long
	// Follow waits before it comes back.
	Reconnecting func(cause error, wait time.Duration)
}

const (
	defaultSilence = 45 * time.Second
	firstWait      = 500 * time.Millisecond
	longestWait    = 30 * time.Second
)

// errSilent is why a connection was given up on which nothing arrived.
var errSilent = errors.New("nothing has arrived for too long")

// Follow gives the events of an instance, in order and without a hole, for as
// long as ctx lasts. Where the connection is cut or falls silent, or the gateway
// is down, it comes back by itself, after a wait that grows up to 30 seconds, and
// goes on where it was. The sequence ends with an error that coming back would not
// mend: ctx's own, ErrEventTooLarge, or an *Error such as CodeUnauthorized,
// CodeForbidden, CodeInstanceNotFound or CodeEventsExpired.
//
// To go on after a restart of your own program, keep the Sequence of what you
// have worked on, and give it as After. An event that was being worked on comes
// again: its ID is the same.
func (c *Client) Follow(ctx context.Context, instanceID string, options FollowOptions) iter.Seq2[Event, error] {
	if options.Silence == 0 {
		options.Silence = defaultSilence
	}
	return func(yield func(Event, error) bool) {
		f := &following{client: c, instanceID: instanceID, options: options, position: options.After, yield: yield}
		if err := f.run(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(Event{}, err)
		}
	}
}

// errStopped says that the caller wants no more.
var errStopped = errors.New("the caller has stopped")

// following is one call of Follow.
type following struct {
	client     *Client
	instanceID string
	options    FollowOptions
	yield      func(Event, error) bool

	position *int64 // after which to go on; nil: what happens next
	alive    bool   // whether the last stream was more than accepted
	retry    time.Duration
}

// run reads one stream after the other until an error that stays.
func (f *following) run(ctx context.Context) error {
	wait := firstWait
	for {
		err := f.read(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !passes(err):
			return err
		}
		if f.alive {
			f.alive, wait = false, max(firstWait, f.retry)
		}
		pause := jittered(wait)
		if refusal, ok := errors.AsType[*Error](err); ok {
			pause = max(pause, refusal.RetryAfter)
		}
		if f.options.Reconnecting != nil {
			f.options.Reconnecting(err, pause)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		wait = min(2*wait, longestWait)
	}
}

// passes reports whether coming back may mend what ended a stream.
func passes(err error) bool {
	for _, stays := range []error{errStopped, ErrEventTooLarge, errNoEvent, errBadAddress} {
		if errors.Is(err, stays) {
			return false
		}
	}
	refusal, ok := errors.AsType[*Error](err)
	return !ok || refusal.Temporary()
}

// jittered is a wait between half of it and all of it, so that many readers do
// not come back in the same moment.
func jittered(wait time.Duration) time.Duration {
	return wait/2 + rand.N(wait/2+1) //nolint:gosec // nothing is to be kept secret
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read reads one stream to its end. Its error is never nil.
func (f *following) read(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(f.options.Silence, func() { cancel(errSilent) })
	defer watch.Stop()
	stream, err := f.client.openStream(ctx, f.instanceID, EventsParams{
		After: f.position, Types: f.options.Types, MaxEvent: f.options.MaxEvent,
	}, func() { watch.Reset(f.options.Silence) })
	if err != nil {
		return silenceOr(ctx, err)
	}
	defer func() { _ = stream.Close() }() // it is read no further
	for {
		event, err := stream.Next()
		f.position, f.retry = stream.Position(), stream.retry
		if err != nil {
			f.alive = f.alive || stream.messages > 1 // the first is sent at once
			return silenceOr(ctx, err)
		}
		f.alive = true
		// What the caller does with it is no silence of the gateway.
		watch.Stop()
		if !f.yield(event, nil) {
			return errStopped
		}
		watch.Reset(f.options.Silence)
	}
}

// silenceOr names the silence where that is why a connection was cut.
func silenceOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return fmt.Errorf("the connection to the gateway is dead: %w", cause)
	}
	return err
}
