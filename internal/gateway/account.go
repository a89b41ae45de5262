package gateway

import (
	"context"
	"slices"
	"time"
)

// Account owns instances and API keys.
type Account struct {
	ID        string // UUID v7
	Name      string
	CreatedAt time.Time
}

// Key is an API key as it is stored: with the hash of its secret only.
type Key struct {
	ID        string // UUID v7
	AccountID string
	Name      string
	Hash      []byte // SHA-256 of the whole key
	// InstanceIDs are the scope of the key: the instances that it may use; empty means
	// every one of the account.
	InstanceIDs []string
	Partner     bool // may use the partner interface of its account

	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never used

	Spoken []Spoken // each dialect once
}

// Spoken is that a program with a key has spoken a dialect: the language of another tool.
type Spoken struct {
	Dialect string    `json:"dialect"`
	LastAt  time.Time `json:"lastAt"` // to the minute
	// Refused are the operations that this gateway can't carry out in the dialect, the latest first, each once.
	Refused []RefusedOperation `json:"refused,omitempty"`
}

// RefusedOperation is an operation of a dialect that a program has asked for in vain.
type RefusedOperation struct {
	Operation string    `json:"operation"`
	Reason    string    `json:"reason"` // for people, with what to do
	At        time.Time `json:"at"`     // the last time, to the minute
}

// maxRefused bounds how many refused operations of a dialect are kept of a key.
const maxRefused = 20

// Spoke returns what a key has spoken, with one thing more: a dialect at a time, and the operation that was refused then,
// whose name is empty where none was.
func (k Key) Spoke(dialect string, at time.Time, refused RefusedOperation) []Spoken {
	spoken := slices.Clone(k.Spoken)
	n := slices.IndexFunc(spoken, func(s Spoken) bool { return s.Dialect == dialect })
	if n < 0 {
		spoken, n = append(spoken, Spoken{Dialect: dialect}), len(spoken)
	}
	spoken[n].LastAt = at
	if refused.Operation != "" {
		others := slices.DeleteFunc(slices.Clone(spoken[n].Refused), func(o RefusedOperation) bool { return o.Operation == refused.Operation })
		refused.At = at
		spoken[n].Refused = append([]RefusedOperation{refused}, others[:min(len(others), maxRefused-1)]...)
	}
	return spoken
}

// Valid reports whether the key is neither expired nor revoked at that time.
func (k Key) Valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

// InScope reports whether the instance is in the scope of the key.
func (k Key) InScope(instance Instance) bool {
	if k.AccountID != instance.AccountID {
		return false
	}
	return len(k.InstanceIDs) == 0 || slices.Contains(k.InstanceIDs, instance.ID)
}

// Covers reports whether other is within this key: it is of the same account, has no
// wider scope and ends no later. A key makes, lists and revokes only such keys.
func (k Key) Covers(other Key) bool {
	if k.AccountID != other.AccountID || other.Partner && !k.Partner {
		return false
	}
	if end, others := k.end(), other.end(); !end.IsZero() && (others.IsZero() || others.After(end)) {
		return false
	}
	if len(k.InstanceIDs) == 0 {
		return true
	}
	beyond := func(id string) bool { return !slices.Contains(k.InstanceIDs, id) }
	return len(other.InstanceIDs) > 0 && !slices.ContainsFunc(other.InstanceIDs, beyond)
}

// end is when the key expires or was revoked; zero: never.
func (k Key) end() time.Time {
	if k.RevokedAt.IsZero() || !k.ExpiresAt.IsZero() && k.ExpiresAt.Before(k.RevokedAt) {
		return k.ExpiresAt
	}
	return k.RevokedAt
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	Total int // of the whole list
}

// PageRequest asks for a part of a list, oldest first.
type PageRequest struct {
	Page  int // counts from 1
	Limit int // at most this many items
}

// Offset is how many items lie before the page.
func (p PageRequest) Offset() int { return (p.Page - 1) * p.Limit }

// PageOf returns the part of a whole list that is asked for.
func PageOf[T any](all []T, request PageRequest) Page[T] {
	first := min(request.Offset(), len(all))
	return Page[T]{Items: all[first:min(first+request.Limit, len(all))], Total: len(all)}
}

// Idempotency remembers that a client's send was accepted under a key of the
// client's choosing, so that a repeat sends nothing.
type Idempotency struct {
	KeyID       string // the API key that sent it
	Key         string // the client's Idempotency-Key
	RequestHash []byte // of the request: the same key with another request is refused
	InstanceID  string
	MessageID   string // internal identifier of the message that was accepted
	// Failure is the error of the first request after its message was accepted; nil if
	// it succeeded or has no answer yet.
	Failure   *Error
	CreatedAt time.Time
}

// Requester is for whom something is done: what is shared by all is divided by it (package share).
// The zero Requester is the gateway itself.
type Requester struct {
	AccountID string
	ID        string // of the API key or the user
	Kind      string // what that is, for refusals: "this API key"
}

type requesterKey struct{}

// WithRequester returns a context for work that somebody has asked for.
func WithRequester(ctx context.Context, requester Requester) context.Context {
	return context.WithValue(ctx, requesterKey{}, requester)
}

// RequesterOf returns for whom the work of a context is done.
func RequesterOf(ctx context.Context) Requester {
	requester, _ := ctx.Value(requesterKey{}).(Requester)
	return requester
}
