package api

import (
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// defaultMaxBodies is the usual Config.MaxBodies.
const defaultMaxBodies = 256 << 20

// bodiesRetry is when room for another body is likely.
const bodiesRetry = time.Second

// budget bounds the bytes of request bodies that are held at a time, in memory
// and in temporary files: of all requests, and of those of one key, so that none
// shuts the others out. It is safe for concurrent use.
type budget struct {
	total  int64
	perKey int64

	mu    sync.Mutex
	held  int64
	byKey map[string]int64
}

// newBudget makes a budget of total bytes, three quarters of which may be one
// key's.
func newBudget(total int64) *budget {
	return &budget{total: total, perKey: total / 4 * 3, byKey: map[string]int64{}}
}

// lease is what one request holds of a budget. It belongs to one goroutine.
type lease struct {
	budget *budget
	key    string
	held   int64
}

func (b *budget) lease(key string) *lease { return &lease{budget: b, key: key} }

// growTo takes what is missing to size bytes, and refuses where that is too much
// at the moment.
func (l *lease) growTo(size int64) error {
	more := size - l.held
	if more <= 0 {
		return nil
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	if err := l.budget.check(l.key, more); err != nil {
		return err
	}
	l.budget.held += more
	l.budget.byKey[l.key] += more
	l.held = size
	return nil
}

// release gives everything back. It may be called twice.
func (l *lease) release() {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	l.budget.held -= l.held
	if l.budget.byKey[l.key] -= l.held; l.budget.byKey[l.key] == 0 {
		delete(l.budget.byKey, l.key)
	}
	l.held = 0
}

func (b *budget) check(key string, more int64) error {
	whose := "the gateway"
	switch {
	case b.held+more > b.total:
	case b.byKey[key]+more > b.perKey:
		whose = "this API key"
	default:
		return nil
	}
	refusal := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable,
		"%s has as many bytes of requests under way as it may: send fewer large requests at a time", whose)
	refusal.RetryAfter = bodiesRetry
	return refusal
}
