// What becomes of a message after an attempt to send it.

package queue

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// settle writes what became of a message that was to be sent. The context of the process's
// work may have ended meanwhile.
func (l *instanceQueue) settle(ctx context.Context, it *item, message Message, sent error) {
	q := l.queue
	ctx = context.WithoutCancel(ctx)
	verdict := judge(sent)
	err := error(nil)
	if verdict == failed {
		refusal, _ := gateway.AsError(sent)
		if err = q.config.Sender.Fail(ctx, message, refusal); err != nil {
			verdict = retried
		}
	}
	if verdict == finished || verdict == failed {
		if err = q.config.Sender.Remove(ctx, message.InstanceID, message.ID); err != nil {
			verdict = retried
		}
	}
	switch {
	case err != nil:
		l.logger().ErrorContext(ctx, "outcome of a queued message not written; it is tried again",
			slog.String("message_id", message.ID), slog.Any("error", err))
	case verdict == retried:
		l.logger().WarnContext(ctx, "queued message not sent; it is tried again",
			slog.String("message_id", message.ID), slog.Any("error", sent))
	}
	now := q.config.Steady()
	q.mu.Lock()
	defer q.mu.Unlock()
	it.sending = false
	l.flights--
	of := l.chats[it.Chat]
	of.busy = false
	switch verdict {
	case finished, failed:
		of.pause = pause{}
		l.slowed = 0
		l.drop(it)
	case unconnected:
		l.pause = pause{until: now.Add(recheckInterval), reason: ReasonNotConnected}
	case slowed:
		l.pause = pause{until: now.Add(cmp.Or(retryAfter(sent), backoff(l.slowed))), reason: ReasonRetry}
		l.slowed++
	case restricted:
		of.pause = pause{until: now.Add(cmp.Or(retryAfter(sent), restrictedRetry)), reason: ReasonRestricted}
	case retried:
		of.pause = pause{until: now.Add(max(retryAfter(sent), backoff(it.failures))), reason: ReasonRetry}
		it.failures++
	}
	l.wake()
}

// backoff is how long to wait after so many failures before.
func backoff(failures int) time.Duration { return min(firstRetry<<min(failures, 10), lastRetry) }

// verdict is what becomes of a message after an attempt.
type verdict int

const (
	finished    verdict = iota // it is sent
	failed                     // it never will be
	unconnected                // as soon as the instance is connected
	slowed                     // the platform wants fewer requests
	restricted                 // the account may not begin chats for now
	retried                    // it may be sent the next time
)

// judge says what becomes of a message whose attempt ended with an error.
func judge(err error) verdict {
	if err == nil {
		return finished
	}
	refusal, ok := gateway.AsError(err)
	if !ok {
		return retried
	}
	switch refusal.Code {
	case gateway.CodeNotConnected, gateway.CodePaymentRequired:
		return unconnected
	case gateway.CodeRecipientRestricted:
		return restricted
	}
	switch refusal.Kind {
	case gateway.Invalid, gateway.NotFound, gateway.TooLarge:
		return failed
	case gateway.PlatformFailed:
		if refusal.RetryAfter > 0 {
			return retried
		}
		return failed
	case gateway.RateLimited:
		return slowed
	default:
		return retried
	}
}

func retryAfter(err error) time.Duration {
	refusal, ok := gateway.AsError(err)
	if !ok {
		return 0
	}
	return refusal.RetryAfter
}
