// Package share divides what all requests of the program have in common, such as the memory for
// conversions, among those for whom they are made: an account never has all of it, whoever asks for
// the account shares what the account may have, and those who wait are served in turn. Every room
// that bounds something for all its callers takes a Pool for it.
package share

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	defaultPatience   = 10 * time.Second
	defaultRetryAfter = time.Second
)

// Config says what a pool has. Name, What and Total are required.
type Config struct {
	Name string // of the pool, in metrics and documents
	// What and Advice are words of a refusal: "… has as many WHAT as allowed: ADVICE".
	What, Advice string
	// Total is how much there is: bytes, or places; 0: any amount. With 2 or more, one account has three
	// quarters of it at most, and less than all.
	Total int64
	// Each, if not nil, says how much one key or user may have beside that, now; less than 0: any amount.
	// Who has it is refused as RateLimited.
	Each func() int64
	// Whole says that whoever asks may have all that the account may; otherwise it is three quarters of
	// that. It is for what is soon given back.
	Whole      bool
	Patience   time.Duration // how long Wait waits; 0 means 10 seconds
	RetryAfter time.Duration // when a refused request may be repeated; 0 means one second
}

// Pool is something that requests share. It is safe for concurrent use.
type Pool struct {
	config Config

	mu       sync.Mutex
	held     int64
	refusals int64
	accounts map[string]*account
	turns    []*account // with somebody who waits; the next to be served is the first
	waiting  int
}

// account is what is held and waited for on behalf of one account.
type account struct {
	id    string
	held  int64
	by    map[string]*asker
	turns []*asker // with somebody who waits; the next to be served is the first
}

// asker is one key or user of an account.
type asker struct {
	id     string
	held   int64
	queued []*waiter // in the order in which they came
}

// waiter is a request that waits for its turn.
type waiter struct {
	hold   *Taken
	amount int64
	served chan struct{} // closed when the amount was given
}

// New makes a pool of which nothing is held.
func New(config Config) *Pool {
	config.Patience = cmp.Or(config.Patience, defaultPatience)
	config.RetryAfter = cmp.Or(config.RetryAfter, defaultRetryAfter)
	return &Pool{config: config, accounts: map[string]*account{}}
}

// Largest is the most that one request can ever have; Total must not be 0.
func (p *Pool) Largest() int64 { return p.perAsker() }

func (p *Pool) perAccount() int64 { return part(p.config.Total) }

func (p *Pool) perAsker() int64 {
	if p.config.Whole {
		return p.perAccount()
	}
	return part(p.perAccount())
}

// part is three quarters of an amount, and at least 1.
func part(of int64) int64 { return max(1, of/4*3+of%4*3/4) }

// Taken is what one request has of a pool. It belongs to one goroutine.
type Taken struct {
	pool *Pool
	of   gateway.Requester
	held int64
}

// Begin returns a hold of nothing, for whoever the context says is asking (gateway.WithRequester).
func (p *Pool) Begin(ctx context.Context) *Taken {
	return &Taken{pool: p, of: gateway.RequesterOf(ctx)}
}

// Take gives an amount at once, or refuses it: its error is Unavailable, with the time after which
// to try again. The caller releases the hold.
func (p *Pool) Take(ctx context.Context, amount int64) (*Taken, error) {
	hold := p.Begin(ctx)
	err := hold.Grow(amount)
	return hold, err
}

// Wait gives an amount when it is its turn. Its error is Unavailable for whoever has waited as long as
// the pool allows, and the end of ctx. The caller releases the hold.
func (p *Pool) Wait(ctx context.Context, amount int64) (*Taken, error) {
	return p.WaitAtMost(ctx, amount, p.config.Patience)
}

// WaitAtMost is Wait with another patience; 0 means that of the pool.
func (p *Pool) WaitAtMost(ctx context.Context, amount int64, patience time.Duration) (*Taken, error) {
	hold := p.Begin(ctx)
	patience = cmp.Or(patience, p.config.Patience)
	p.mu.Lock()
	if p.waiting == 0 && p.check(hold.of, amount) == nil {
		p.give(hold, amount)
		p.mu.Unlock()
		return hold, nil
	}
	if p.config.Total > 0 && amount > p.perAsker() { // its turn would never come
		defer p.mu.Unlock()
		return hold, p.refused(p.check(hold.of, amount))
	}
	mine := &waiter{hold: hold, amount: amount, served: make(chan struct{})}
	p.enqueue(mine)
	p.serve()
	p.mu.Unlock()
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-mine.served:
		return hold, nil
	case <-enough.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-mine.served: // in the same moment
		return hold, nil
	default:
	}
	refusal := p.check(hold.of, amount)
	if refusal == nil { // there was room for it, and others were before it
		refusal = p.refusal(theGateway)
	}
	p.leave(mine)
	p.serve() // what stood behind it may fit
	if ctx.Err() != nil {
		return hold, fmt.Errorf("share: wait for %s: %w", p.config.Name, context.Cause(ctx))
	}
	return hold, p.refused(refusal)
}

// Grow adds what is missing to amount at once, or refuses it as Take does.
func (h *Taken) Grow(amount int64) error {
	more := amount - h.held
	if more <= 0 {
		return nil
	}
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if refusal := h.pool.check(h.of, more); refusal != nil {
		return h.pool.refused(refusal)
	}
	h.pool.give(h, more)
	return nil
}

// OfAccount returns how much the account of the hold has of the pool now, this hold included.
func (h *Taken) OfAccount() int64 {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if whose := h.pool.accounts[h.of.AccountID]; whose != nil {
		return whose.held
	}
	return 0
}

// Release gives everything back. It may be called twice, and on nil.
func (h *Taken) Release() {
	if h == nil || h.held == 0 {
		return
	}
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	whose, by := p.find(h.of)
	p.held, whose.held, by.held = p.held-h.held, whose.held-h.held, by.held-h.held
	h.held = 0
	p.forget(whose, by)
	p.serve()
}

const theGateway = "the gateway"

// check returns why somebody can't be given more; nil if that can be given.
func (p *Pool) check(of gateway.Requester, more int64) *gateway.Error {
	var ofAccount, ofAsker int64
	if whose := p.accounts[of.AccountID]; whose != nil {
		ofAccount = whose.held
		if by := whose.by[of.ID]; by != nil {
			ofAsker = by.held
		}
	}
	kind := cmp.Or(of.Kind, "this client")
	if p.config.Each != nil {
		if each := p.config.Each(); each >= 0 && ofAsker+more > each {
			refusal := p.refusal(kind)
			refusal.Kind, refusal.Code = gateway.RateLimited, gateway.CodeRateLimited
			return refusal
		}
	}
	switch {
	case p.config.Total == 0:
		return nil
	case !p.config.Whole && ofAsker+more > p.perAsker():
		return p.refusal(kind)
	case ofAccount+more > p.perAccount():
		return p.refusal("this account")
	case p.held+more > p.config.Total:
		return p.refusal(theGateway)
	default:
		return nil
	}
}

func (p *Pool) refusal(whose string) *gateway.Error {
	refusal := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable,
		"%s has as many %s as allowed: %s", whose, p.config.What, p.config.Advice)
	refusal.RetryAfter = p.config.RetryAfter
	return refusal
}

// refused counts a refusal.
func (p *Pool) refused(refusal *gateway.Error) error {
	p.refusals++
	return refusal
}

func (p *Pool) give(hold *Taken, amount int64) {
	whose, by := p.find(hold.of)
	p.held, whose.held, by.held = p.held+amount, whose.held+amount, by.held+amount
	hold.held += amount
}

// find returns the account and the asker, which are made if they are not known.
func (p *Pool) find(of gateway.Requester) (*account, *asker) {
	whose := p.accounts[of.AccountID]
	if whose == nil {
		whose = &account{id: of.AccountID, by: map[string]*asker{}}
		p.accounts[of.AccountID] = whose
	}
	by := whose.by[of.ID]
	if by == nil {
		by = &asker{id: of.ID}
		whose.by[of.ID] = by
	}
	return whose, by
}

// forget drops whoever neither holds nor waits for anything.
func (p *Pool) forget(whose *account, by *asker) {
	if by.held == 0 && len(by.queued) == 0 {
		delete(whose.by, by.id)
	}
	if len(whose.by) == 0 {
		delete(p.accounts, whose.id)
	}
}

func (p *Pool) enqueue(w *waiter) {
	whose, by := p.find(w.hold.of)
	if len(whose.turns) == 0 {
		p.turns = append(p.turns, whose)
	}
	if len(by.queued) == 0 {
		whose.turns = append(whose.turns, by)
	}
	by.queued = append(by.queued, w)
	p.waiting++
}

// leave takes a waiter out of its queue.
func (p *Pool) leave(w *waiter) {
	whose, by := p.find(w.hold.of)
	by.queued = slices.DeleteFunc(by.queued, func(other *waiter) bool { return other == w })
	p.waiting--
	if len(by.queued) == 0 {
		whose.turns = slices.DeleteFunc(whose.turns, func(other *asker) bool { return other == by })
	}
	if len(whose.turns) == 0 {
		p.turns = slices.DeleteFunc(p.turns, func(other *account) bool { return other == whose })
	}
	p.forget(whose, by)
}

// serve gives to those who wait, account by account and within it asker by asker, what can be given.
func (p *Pool) serve() {
	for p.serveOne() {
	}
}

func (p *Pool) serveOne() bool {
	for _, whose := range p.turns {
		for _, by := range whose.turns {
			next := by.queued[0]
			if p.check(next.hold.of, next.amount) != nil {
				continue
			}
			p.give(next.hold, next.amount)
			p.leave(next)
			toEnd(p.turns, whose)
			toEnd(whose.turns, by)
			close(next.served)
			return true
		}
	}
	return false
}

// toEnd moves an element to the end of a list, if it is there.
func toEnd[T comparable](of []T, one T) {
	if at := slices.Index(of, one); at >= 0 {
		copy(of[at:], of[at+1:])
		of[len(of)-1] = one
	}
}

// Usage is what is held of a pool, and by whom.
type Usage struct {
	Name        string
	Total, Held int64
	Waiting     int   // requests that wait for their turn
	Refused     int64 // requests that were refused since the start
	// Accounts is what each account holds that has a tenth of the total or more: ten at most.
	Accounts map[string]int64
}

// Usage returns what is held now.
func (p *Pool) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := Usage{
		Name: p.config.Name, Total: p.config.Total, Held: p.held, Waiting: p.waiting, Refused: p.refusals, Accounts: map[string]int64{},
	}
	for id, whose := range maps.All(p.accounts) {
		if id != "" && p.config.Total > 0 && whose.held*10 >= p.config.Total {
			used.Accounts[id] = whose.held
		}
	}
	return used
}
