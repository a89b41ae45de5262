package wire

import "sync"

// Set is the set of open connections. A server that stops ends them and waits for
// them.
type Set struct {
	mu     sync.Mutex
	open   map[*Connection]struct{}
	closed bool
	served sync.WaitGroup
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{open: map[*Connection]struct{}{}}
}

// Add adds a connection. It returns false when the server is stopping.
func (cs *Set) Add(c *Connection) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return false
	}
	cs.open[c] = struct{}{}
	cs.served.Add(1)
	return true
}

// Remove takes out a connection that has ended.
func (cs *Set) Remove(c *Connection) {
	cs.mu.Lock()
	delete(cs.open, c)
	cs.mu.Unlock()
	cs.served.Done()
}

// All returns the connections that are open now.
func (cs *Set) All() []*Connection {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	list := make([]*Connection, 0, len(cs.open))
	for c := range cs.open {
		list = append(list, c)
	}
	return list
}

// Shutdown ends all connections, waits for them, and refuses new ones.
func (cs *Set) Shutdown() {
	cs.mu.Lock()
	cs.closed = true
	for c := range cs.open {
		c.Cut()
	}
	cs.mu.Unlock()
	cs.served.Wait()
}
