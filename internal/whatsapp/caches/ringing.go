// The calls that ring.

package caches

import (
	"slices"
	"sync"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// maxRinging bounds how many calls of a session ring at a time. Of more, the oldest are
// forgotten: they can't be rejected any more.
const maxRinging = 128

// Ringing are the calls of a session that have rung and not ended. Its zero value has none.
// It is safe for concurrent use.
type Ringing struct {
	mu    sync.Mutex
	calls []RingingCall // oldest first
}

// RingingCall is a call, with the address that the platform knows its caller under.
type RingingCall struct {
	Call gateway.Call

	Creator types.JID
}

// Add adds a call. One that is delivered again is there once.
func (r *Ringing) Add(call RingingCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = slices.DeleteFunc(r.calls, func(c RingingCall) bool { return c.Call.ID == call.Call.ID })
	r.calls = append(r.calls, call)
	if len(r.calls) > maxRinging {
		r.calls = slices.Clone(r.calls[len(r.calls)-maxRinging:])
	}
}

// End takes a call out; found is false if it does not ring.
func (r *Ringing) End(id string) (call RingingCall, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.calls, func(c RingingCall) bool { return c.Call.ID == id })
	if at < 0 {
		return RingingCall{}, false
	}
	call = r.calls[at]
	r.calls = slices.Delete(r.calls, at, at+1)
	return call, true
}
