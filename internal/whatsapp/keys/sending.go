// One send and its hold on the Signal sessions while it encrypts.

package keys

import (
	"context"
	"errors"
	"iter"
)

// errSessionMoved says that another message has moved a Signal session on while the send
// waited for the keys of a new device. The encrypted message is useless, and has to be
// encrypted again.
var errSessionMoved = errors.New("keys: a session was moved on by another message")

// sendTries is how often a send is tried if that happens.
const sendTries = 4

// sending is the part of a send between reading sessions and writing them back. It
// travels in the context of the send.
//
// As a rule it holds the ratchet. If a recipient's device is new, whatsmeow asks the
// platform for its keys in between, which may take long: then the send releases the
// ratchet and watches the sessions instead, so that everything else of the instance goes
// on meanwhile. Its last try keeps the ratchet: it delays what is received rather than
// fail.
type sending struct {
	cache   *cache // nil before it has begun, and after its end
	keeps   bool   // it never releases the ratchet before its end
	holds   bool   // the ratchet
	watched map[string]bool
	stale   bool // one of those watched was moved; guarded by the cache's mu
}

type sendingKey struct{}

// withSending returns a context for one try of a send, and a function to call after it: a
// send that failed half-way must release the ratchet.
func withSending(ctx context.Context, last bool) (context.Context, func()) {
	s := &sending{keeps: last}
	return context.WithValue(ctx, sendingKey{}, s), s.end
}

// beginSending takes the ratchet for the send of ctx, and returns that send; nil if ctx has
// none, or it has begun before.
func (c *cache) beginSending(ctx context.Context) *sending {
	s, ok := ctx.Value(sendingKey{}).(*sending)
	if !ok || s.cache != nil {
		return nil
	}
	c.ratchet.Lock()
	s.cache, s.holds, s.stale = c, true, false
	return s
}

// letGo releases the ratchet and watches the sessions with the addresses.
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

// takeAgain takes the ratchet again if it was released. Its error is errSessionMoved if a
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

// end releases what the send holds. It may be called twice.
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

// moved marks the sends that watch one of the addresses as stale, except the one that has
// moved its session.
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
