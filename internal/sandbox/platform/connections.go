package platform

import "sync"

// connections knows every open connection, so that stopping can wait for them.
type connections struct {
	mu     sync.Mutex
	open   map[*connection]struct{}
	closed bool
	served sync.WaitGroup
}

func newConnections() *connections {
	return &connections{open: map[*connection]struct{}{}}
}

// add registers a connection; false where the server is stopping.
func (cs *connections) add(c *connection) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return false
	}
	cs.open[c] = struct{}{}
	cs.served.Add(1)
	return true
}

// remove forgets a connection that has ended.
func (cs *connections) remove(c *connection) {
	cs.mu.Lock()
	delete(cs.open, c)
	cs.mu.Unlock()
	cs.served.Done()
}

// all returns the connections that are open now.
func (cs *connections) all() []*connection {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	list := make([]*connection, 0, len(cs.open))
	for c := range cs.open {
		list = append(list, c)
	}
	return list
}

// shutdown ends all connections, waits for them, and lets no more in.
func (cs *connections) shutdown() {
	cs.mu.Lock()
	cs.closed = true
	for c := range cs.open {
		c.cut()
	}
	cs.mu.Unlock()
	cs.served.Wait()
}
