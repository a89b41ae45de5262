// Sets of people.

package caches

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/types"
)

// maxPeople bounds how many people are remembered.
const maxPeople = 1024

// People is a bounded set of people, by the user part of their LIDs. The zero value is
// empty and ready. It is safe for concurrent use.
type People struct {
	mu    sync.Mutex
	known *lru.Cache[string, struct{}]
}

// Add adds somebody. In a full set the one who was added first makes room.
func (p *People) Add(who types.JID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known, _ = lru.New[string, struct{}](maxPeople) // it fails for sizes below one
	}
	p.known.Add(who.User, struct{}{})
}

// Has reports whether somebody is in the set.
func (p *People) Has(who types.JID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known != nil && p.known.Contains(who.User)
}

// Remove takes somebody out of the set.
func (p *People) Remove(who types.JID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		p.known.Remove(who.User)
	}
}
