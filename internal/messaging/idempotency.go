// Repeats of a send under one Idempotency-Key.

package messaging

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// repeatAge is how long a repeat is recognised.
	repeatAge = 24 * time.Hour
	// repeatWait is when a client should ask again while the first request still runs.
	repeatWait = time.Second
)

// Repeat identifies a request: another one with the same key is a repeat of it.
type Repeat struct {
	KeyID string // the API key
	Key   string // the Idempotency-Key
	Hash  []byte // of the whole request
}

// part is the repeat of one message of several that a request sends; nil without a key. No client
// can choose such a key: a header has no control characters.
func (r *Repeat) part(n int) *Repeat {
	if r == nil {
		return nil
	}
	return &Repeat{KeyID: r.KeyID, Key: r.Key + "\x01" + strconv.Itoa(n), Hash: r.Hash}
}

type repeatKey struct{ keyID, key string }

// record is what is kept with the message of a request; nil without a key.
func (r *Repeat) record(messageID, instanceID string, at time.Time) *gateway.Idempotency {
	if r == nil {
		return nil
	}
	return &gateway.Idempotency{
		KeyID:       r.KeyID,
		Key:         r.Key,
		RequestHash: r.Hash,
		InstanceID:  instanceID,
		MessageID:   messageID,
		CreatedAt:   at,
	}
}

// sendUnlessRepeated sends a message unless a request with the same key was accepted
// before; then it returns the answer of that one. Only one request of a key runs at a
// time.
func (s *Service) sendUnlessRepeated(ctx context.Context, request Request, compose composition) (Result, error) {
	repeat := request.Repeat
	key := repeatKey{repeat.KeyID, repeat.Key}
	if !s.claim(key) {
		err := gateway.Errorf(gateway.Conflict, gateway.CodeIdempotencyConflict,
			"the first request with this Idempotency-Key is still running")
		err.RetryAfter = repeatWait
		return Result{}, err
	}
	defer s.release(key)

	first, found, err := s.config.Store.FindIdempotency(ctx, repeat.KeyID, repeat.Key)
	if err != nil {
		return Result{}, err
	}
	var result Result
	now := s.config.Now()
	if found && now.Sub(first.CreatedAt) >= repeatAge {
		// A clock that was set must not make a request run twice.
		trusted, ok := s.config.RemovalTime(ctx)
		if now = trusted; !ok {
			now = first.CreatedAt
		}
	}
	if found && now.Sub(first.CreatedAt) < repeatAge {
		if !bytes.Equal(first.RequestHash, repeat.Hash) {
			return Result{}, gateway.Errorf(gateway.Conflict, gateway.CodeIdempotencyConflict,
				"this Idempotency-Key was used for another request")
		}
		if first.Failure != nil {
			return Result{}, first.Failure
		}
		result, err = s.answerRepeat(ctx, first, request.Later)
	} else {
		if found {
			if err := s.config.Store.ForgetIdempotency(ctx, repeat.KeyID, repeat.Key, now.Add(-repeatAge)); err != nil {
				return Result{}, err
			}
		}
		result, err = s.accept(ctx, request, compose)
	}
	if err != nil && isFinal(err) {
		// The failure is remembered only if the message was accepted; a request that was
		// refused before that may be repeated and is carried out.
		failErr := s.config.Store.FailIdempotency(context.WithoutCancel(ctx), repeat.KeyID, repeat.Key, asGateway(err))
		if failErr != nil {
			return Result{}, fmt.Errorf("messaging: keep the answer of a request: %w (%w)", failErr, err)
		}
	}
	return result, err
}

// isFinal reports whether a repeat gets the same answer, because the platform has refused
// the message. After a lost connection, a time-out, a failure of this program or too many
// requests a repeat may succeed.
func isFinal(err error) bool {
	refusal := asGateway(err)
	switch refusal.Kind {
	case gateway.PlatformFailed:
		return refusal.RetryAfter == 0
	case gateway.Invalid:
		return true
	default:
		return refusal.Code == gateway.CodeRecipientRestricted
	}
}

// answerRepeat gives the answer of the first request. If the outcome of its message is not
// known, or the process died before there was an answer, the message is sent again under
// its identifier, by which the platform recognises it if it has it already. What is in the
// queue, or later says that it was meant for it, is not sent again: the queue has done, or
// will do, what can be done.
func (s *Service) answerRepeat(ctx context.Context, first gateway.Idempotency, later bool) (Result, error) {
	waiting, found, err := s.queue.Find(ctx, first.InstanceID, first.MessageID)
	if err != nil {
		return Result{}, err
	}
	if found {
		return Result{ID: waiting.ID, MessageID: waiting.PlatformID, Replayed: true, Queued: true}, nil
	}
	message, err := s.Find(ctx, first.InstanceID, gateway.MessageRef{ID: first.MessageID})
	if err != nil {
		return Result{}, err
	}
	result := Result{ID: message.ID, MessageID: message.PlatformID, Replayed: true}
	if message.Status > gateway.MessageFailed || later {
		result.Queued = later
		return result, nil
	}
	session, err := s.config.Sessions.Session(ctx, first.InstanceID)
	if err != nil {
		return Result{}, err
	}
	instance, err := s.config.Store.GetInstance(ctx, first.InstanceID)
	if err != nil {
		return Result{}, err
	}
	if err := s.mayWrite(ctx, instance, message.Chat); err != nil {
		return Result{}, err
	}
	done, err := s.turn(ctx, first.InstanceID)
	if err != nil {
		return Result{}, err
	}
	defer done()
	if _, err := s.transmit(ctx, session, message, nil); err != nil {
		return Result{}, err
	}
	return result, nil
}

// claim reports whether no other request with the key runs, and marks this one as running.
func (s *Service) claim(key repeatKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, running := s.sending[key]; running {
		return false
	}
	s.sending[key] = struct{}{}
	return true
}

func (s *Service) release(key repeatKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sending, key)
}
