// The memory that request bodies may take together.

package body

import (
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// retryAfter is when there is probably room for another body.
const retryAfter = time.Second

// budget bounds the bytes of request bodies that are held at a time, in memory
// and in temporary files: those of all requests, and those of one owner, so that no
// owner shuts the others out. It is safe for concurrent use.
type budget struct {
	total    int64
	perOwner int64

	mu      sync.Mutex
	held    int64
	byOwner map[string]int64
}

// newBudget makes a budget of total bytes, three quarters of which may be one
// owner's.
func newBudget(total int64) *budget {
	return &budget{total: total, perOwner: total / 4 * 3, byOwner: map[string]int64{}}
}

// lease is what one request holds of a budget. It belongs to one goroutine.
type lease struct {
	budget *budget
	owner  string
	held   int64
}

func (b *budget) lease(owner string) *lease { return &lease{budget: b, owner: owner} }

// growTo reserves what is missing to size bytes. Its error is Unavailable where that
// is too much at the moment.
func (l *lease) growTo(size int64) error {
	more := size - l.held
	if more <= 0 {
		return nil
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	if err := l.budget.check(l.owner, more); err != nil {
		return err
	}
	l.budget.held += more
	l.budget.byOwner[l.owner] += more
	l.held = size
	return nil
}

// release returns everything. It may be called twice.
func (l *lease) release() {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	l.budget.held -= l.held
	if l.budget.byOwner[l.owner] -= l.held; l.budget.byOwner[l.owner] == 0 {
		delete(l.budget.byOwner, l.owner)
	}
	l.held = 0
}

func (b *budget) check(owner string, more int64) error {
	whose := "the gateway"
	switch {
	case b.held+more > b.total:
	case b.byOwner[owner]+more > b.perOwner:
		whose = "this API key"
	default:
		return nil
	}
	refusal := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable,
		"%s has as many bytes of requests in progress as allowed: send fewer large requests at a time", whose)
	refusal.RetryAfter = retryAfter
	return refusal
}
