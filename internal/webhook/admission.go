// How many requests to endpoints, and reads of the log, run at the same time.

package webhook

import "sync"

// maxMoved bounds how many requests may run in the pool of slow endpoints. A request
// that turns out to be slow moves there even if the pool is full, so that its place
// among the healthy ones is free for others.
const maxMoved = 4_096

// admission bounds how many requests run at the same time. Endpoints that are
// slow or fail have a pool of their own: however many of them hang, they can't
// take the places of the others.
type admission struct {
	healthy *pool
	slow    *pool
	reads   *pool // of the log
}

func newAdmission(limits Limits) *admission {
	return &admission{
		healthy: &pool{size: limits.Healthy}, slow: &pool{size: limits.Slow}, reads: &pool{size: limits.Reads},
	}
}

// pool is a number of places. A pump that finds none waits without a goroutine.
type pool struct {
	mu      sync.Mutex
	size    int
	used    int
	waiting []func() bool
}

// enter takes a place. If there is none it returns false, and calls admitted once
// when a place is free, without holding the pool's lock; admitted reports whether it
// uses the place.
func (p *pool) enter(admitted func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used < p.size {
		p.used++
		return true
	}
	p.waiting = append(p.waiting, admitted)
	return false
}

// leave gives a place back, to the pump that has waited longest and can use it.
func (p *pool) leave() {
	for {
		p.mu.Lock()
		if len(p.waiting) == 0 || p.used > p.size {
			p.used--
			p.mu.Unlock()
			return
		}
		admitted := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		p.mu.Unlock()
		if admitted() {
			return
		}
	}
}

// squeeze takes a place beyond the size, if there are not too many already.
func (p *pool) squeeze() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used >= maxMoved {
		return false
	}
	p.used++
	return true
}

// slot is a request's place in one of the pools.
type slot struct {
	mu   sync.Mutex
	pool *pool // nil once it was left
}

// move changes to another pool if that has room. It reports whether the place was
// in use.
func (s *slot) move(to *pool) bool {
	s.mu.Lock()
	from := s.pool
	if from == nil || from == to || !to.squeeze() {
		s.mu.Unlock()
		return from != nil
	}
	s.pool = to
	s.mu.Unlock()
	from.leave()
	return true
}

func (s *slot) leave() {
	s.mu.Lock()
	from := s.pool
	s.pool = nil
	s.mu.Unlock()
	from.leave()
}
