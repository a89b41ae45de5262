package keys

import (
	"context"
	"errors"
	"iter"
)

// errSessionMoved says that a Signal session was moved on by another message while
// the keys of a new device were waited for. What was encrypted with it is worthless;
// the send is made anew.
var errSessionMoved = errors.New("keys: a session was moved on by another message")

// sendTries is how often a send is made where that happens.
const sendTries = 4

// sending is the part of a send between reading sessions and writing them back. It
// travels in the context of the send.
//
// As a rule it holds the ratchet. Where a recipient's device is new, whatsmeow asks
// the platform for its keys in between, which takes as long as it takes: then the
// ratchet is let go, and the sessions are watched instead. Everything else of the
// instance goes on meanwhile.
type sending struct {
	cache   *cache // nil before it has begun, and after its end
	holds   bool   // the ratchet
	watched map[string]bool
	stale   bool // one of those watched was moved; guarded by the cache's mu
}

type sendingKey struct{}

// withSending returns a context for one send, and what to do after it: a send
// that failed half-way must give the ratchet back.
func withSending(ctx context.Context) (context.Context, func()) {
	s := &sending{}
	return context.WithValue(ctx, sendingKey{}, s), s.end
}

// beginSending takes the ratchet for the send that ctx belongs to, and returns that
// send; nil where there is none, or it has begun before.
func (c *cache) beginSending(ctx context.Context) *sending {
	s, ok := ctx.Value(sendingKey{}).(*sending)
	if !ok || s.cache != nil {
		return nil
	}
	c.ratchet.Lock()
	s.cache, s.holds, s.stale = c, true, false
	return s
}

// letGo gives the ratchet back and watches the sessions with the addresses.
func (s *sending) letGo(addresses []string) {
	s.watched = make(map[string]bool, len(addresses))
	for _, address := range addresses {
		s.watched[address] = true
	}
	s.cache.mu.Lock()
	if s.cache.open == nil {
		s.cache.open = map[*sending]struct{}{}
	}
	s.cache.open[s] = struct{}{}
	s.cache.mu.Unlock()
	s.holds = false
	s.cache.ratchet.Unlock()
}

// takeAgain takes the ratchet again where it was let go, and reports whether a
// session has moved meanwhile.
func (s *sending) takeAgain() error {
	if s.cache == nil || s.holds {
		return nil
	}
	s.cache.ratchet.Lock()
	s.holds = true
	s.cache.mu.Lock()
	stale := s.stale
	s.cache.mu.Unlock()
	if stale {
		return errSessionMoved
	}
	return nil
}

// end gives back what the send holds. It may be called twice.
func (s *sending) end() {
	if s.cache == nil {
		return
	}
	s.cache.mu.Lock()
	delete(s.cache.open, s)
	s.cache.mu.Unlock()
	if s.holds {
		s.cache.ratchet.Unlock()
	}
	s.cache, s.holds, s.watched = nil, false, nil
}

// moved tells the sends that watch one of the addresses that its session has moved:
// all but the one that has moved it.
func (c *cache) moved(by *sending, addresses iter.Seq[string]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 {
		return
	}
	for address := range addresses {
		for send := range c.open {
			if send != by && send.watched[address] {
				send.stale = true
			}
		}
	}
}
