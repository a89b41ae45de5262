package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// FollowOptions select the events that Follow yields, and how it reconnects. The zero
// value means every event from now on.
type FollowOptions struct {
	// After is the sequence of the last event that was processed, 0 for none.
	// nil begins with the next event.
	After *int64
	Types []string // none means all
	// MaxEvent bounds one event, in bytes; 0 means DefaultMaxEvent.
	MaxEvent int
	// Silence is how long nothing may arrive before the connection counts as
	// dead; 0 means 45 seconds. The gateway sends a sign of life every 15
	// seconds.
	Silence time.Duration
	// Reconnecting, if set, is called when the stream was cut: with the reason, and
	// how long Follow waits before it reconnects.
	Reconnecting func(cause error, wait time.Duration)
}

const (
	defaultSilence = 45 * time.Second
	firstWait      = 500 * time.Millisecond
	longestWait    = 30 * time.Second
)

// errSilent is the reason why a connection without any sign of life was closed.
var errSilent = errors.New("nothing has arrived for too long")

// Follow yields the events of an instance, in order and without gaps, until ctx ends.
// If the connection is cut or silent, or the gateway is down, it reconnects by itself,
// after a wait that grows up to 30 seconds, and continues where it was. The sequence
// ends with an error that reconnecting would not fix: ctx's own, ErrEventTooLarge, or
// an *Error such as CodeUnauthorized, CodeForbidden, CodeInstanceNotFound or
// CodeEventsExpired.
//
// To continue after a restart of your own program, store the Sequence of the last
// event that you have processed, and pass it as After. An event that was in progress
// comes again with the same ID.
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

// errStopped ends a call whose caller wants no more events.
var errStopped = errors.New("the caller has stopped")

// following is one call of Follow.
type following struct {
	client     *Client
	instanceID string
	options    FollowOptions
	yield      func(Event, error) bool

	position *int64 // after which to continue; nil: begin with the next event
	alive    bool   // whether the last stream sent more than its beginning
	retry    time.Duration
}

// run reads one stream after the other until an error that reconnecting does not fix.
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

// passes reports whether reconnecting may fix the error that ended a stream.
func passes(err error) bool {
	for _, stays := range []error{errStopped, ErrEventTooLarge, errNoEvent, errBadAddress} {
		if errors.Is(err, stays) {
			return false
		}
	}
	refusal, ok := errors.AsType[*Error](err)
	return !ok || refusal.Temporary()
}

// jittered is a random wait between half of the given one and all of it, so that many
// readers do not reconnect at the same moment.
func jittered(wait time.Duration) time.Duration {
	return wait/2 + rand.N(wait/2+1) //nolint:gosec // not a secret
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
	defer func() { _ = stream.Close() }() // it is not read any more
	for {
		event, err := stream.Next()
		f.position, f.retry = stream.Position(), stream.retry
		if err != nil {
			f.alive = f.alive || stream.messages > 1 // the first is sent at once
			return silenceOr(ctx, err)
		}
		f.alive = true
		// The time that the caller takes does not count as silence.
		watch.Stop()
		if !f.yield(event, nil) {
			return errStopped
		}
		watch.Reset(f.options.Silence)
	}
}

// silenceOr returns errSilent if silence is why a connection was cut, and else err.
func silenceOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		return fmt.Errorf("the connection to the gateway is dead: %w", cause)
	}
	return err
}
