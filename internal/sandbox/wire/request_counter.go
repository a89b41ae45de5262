package wire

import (
	"maps"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// Counter counts requests by kind. The kinds that are not known show what a new
// version of a client needs.
type Counter struct {
	mu     sync.Mutex
	counts map[string]int
}

// maxKinds bounds how many kinds are counted separately.
const maxKinds = 256

// NewCounter returns a counter at zero.
func NewCounter() *Counter { return &Counter{counts: map[string]int{}} }

// Count counts one request.
func (ic *Counter) Count(kind string) {
	ic.mu.Lock()
	defer ic.mu.Unlock()
	if _, known := ic.counts[kind]; !known && len(ic.counts) >= maxKinds {
		kind = "other"
	}
	ic.counts[kind]++
}

// All returns how often each kind of request came.
func (ic *Counter) All() map[string]int {
	ic.mu.Lock()
	defer ic.mu.Unlock()
	counts := make(map[string]int, len(ic.counts))
	maps.Copy(counts, ic.counts)
	return counts
}

// RequestKind names a request by its type, its namespace and its first child.
func RequestKind(iq waBinary.Node) string {
	first := ""
	if children := iq.GetChildren(); len(children) > 0 {
		first = children[0].Tag
	}
	return AttrString(iq, "type") + " " + AttrString(iq, "xmlns") + " " + first
}
