// One send and its hold on the Signal sessions while it encrypts.

package keys

import (
	"context"
	"errors"
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
	keys    *deviceKeys // nil before it has begun, and after its end
	keeps   bool        // it never releases the ratchet before its end
	holds   bool        // the ratchet
	watched map[string]bool
	stale   bool // one of those watched was moved; guarded by the lock of the rows

	// ready is called before anything is sent; may be nil.
	ready func(ctx context.Context) error
}

type sendingKey struct{}

// isSending reports whether ctx is that of a send.
func isSending(ctx context.Context) bool { return ctx.Value(sendingKey{}) != nil }

// withSending returns a context for one try of a send, and a function to call after it: a
// send that failed half-way must release the ratchet.
func withSending(ctx context.Context, last bool, ready func(ctx context.Context) error) (context.Context, func()) {
	s := &sending{keeps: last, ready: ready}
	return context.WithValue(ctx, sendingKey{}, s), s.end
}

// beginSending takes the ratchet for the send of ctx, and returns that send; nil if ctx has
// none, or it has begun before.
func (k *deviceKeys) beginSending(ctx context.Context) *sending {
	s, ok := ctx.Value(sendingKey{}).(*sending)
	if !ok || s.keys != nil {
		return nil
	}
	k.ratchet.Lock()
	s.keys, s.holds, s.stale = k, true, false
	return s
}

// letGo releases the ratchet and watches the sessions with the addresses.
func (s *sending) letGo(addresses []string) {
	s.watched = make(map[string]bool, len(addresses))
	for _, address := range addresses {
		s.watched[nameOf(address)] = true
	}
	s.keys.rows.mu.Lock()
	if s.keys.sends == nil {
		s.keys.sends = map[*sending]struct{}{}
	}
	s.keys.sends[s] = struct{}{}
	s.keys.rows.mu.Unlock()
	s.holds = false
	s.keys.ratchet.Unlock()
}

// takeAgain takes the ratchet again if it was released. Its error is errSessionMoved if a
// session has moved meanwhile.
func (s *sending) takeAgain() error {
	if s.keys == nil || s.holds {
		return nil
	}
	s.keys.ratchet.Lock()
	s.holds = true
	s.keys.rows.mu.Lock()
	stale := s.stale
	s.keys.rows.mu.Unlock()
	if stale {
		return errSessionMoved
	}
	return nil
}

// end releases what the send holds. It may be called twice.
func (s *sending) end() {
	if s.keys == nil {
		return
	}
	s.keys.rows.mu.Lock()
	delete(s.keys.sends, s)
	s.keys.rows.mu.Unlock()
	if s.holds {
		s.keys.ratchet.Unlock()
	}
	s.keys, s.holds, s.watched = nil, false, nil
}

// moved marks the sends that watch a session as stale, except the one that has moved it.
// The caller holds the lock of the rows.
func (k *deviceKeys) moved(by *sending, session string) {
	for send := range k.sends {
		if send != by && send.watched[session] {
			send.stale = true
		}
	}
}
