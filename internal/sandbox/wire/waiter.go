// Requests of the server to a client, and the answers that it waits for.

package wire

import (
	"context"
	"errors"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// ErrGone says that the client has disconnected before it answered.
var ErrGone = errors.New("wire: the client has disconnected")

// waiters passes a client's answers to the goroutines that asked it.
type waiters struct {
	mu     sync.Mutex
	byID   map[string]chan waBinary.Node
	closed bool
}

// expect returns the channel on which the answer with this ID will come.
func (w *waiters) expect(id string) <-chan waBinary.Node {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := make(chan waBinary.Node, 1)
	if w.closed {
		close(answer)
		return answer
	}
	if w.byID == nil {
		w.byID = map[string]chan waBinary.Node{}
	}
	w.byID[id] = answer
	return answer
}

// answer passes an answer on. It returns false if nothing waits for it.
func (w *waiters) answer(id string, n waBinary.Node) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting, ok := w.byID[id]
	if ok {
		delete(w.byID, id)
		waiting <- n
	}
	return ok
}

// forget stops waiting for an answer.
func (w *waiters) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byID, id)
}

// close ends all waiting without an answer.
func (w *waiters) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, waiting := range w.byID {
		close(waiting)
	}
	clear(w.byID)
}

// Request sends an iq to the client and waits for its answer.
func (c *Connection) Request(ctx context.Context, iq waBinary.Node) (waBinary.Node, error) {
	id := AttrString(iq, "id")
	answer := c.waiting.expect(id)
	defer c.waiting.forget(id)
	if err := c.Send(ctx, iq); err != nil {
		return waBinary.Node{}, err
	}
	select {
	case n, ok := <-answer:
		if !ok {
			return waBinary.Node{}, ErrGone
		}
		return n, nil
	case <-ctx.Done():
		return waBinary.Node{}, context.Cause(ctx)
	}
}
