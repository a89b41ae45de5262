// Package groupcommit lets writers that come at the same time share one
// transaction, and with it one wait for the disk. It knows neither SQL nor a
// database: those who use it, the SQLite file and the PostgreSQL writers, bring
// the transaction.
package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// maxBatch bounds how many writes share one commit, and with it how long the
// first of them waits.
const maxBatch = 512

// ErrClosed is what a write is answered that comes after Close.
var ErrClosed = errors.New("groupcommit: closed")

// errPanicked makes the transaction roll back; the caller never sees it.
var errPanicked = errors.New("groupcommit: write panicked")

// Transact runs one transaction: it begins it, calls run with it, and commits
// where run returned nil; else it rolls back and returns that error.
type Transact[T any] func(run func(tx T) error) error

// Group carries out writes, one transaction after another, each for all the
// writes that wait. It is safe for concurrent use.
//
// There is no goroutine that would have to be started and stopped: whoever gets
// the leader's place commits for all that are queued.
type Group[T any] struct {
	transact Transact[T]
	flush    func(tx T) error
	queue    chan *write[T]
	leader   chan struct{}
	closed   chan struct{}
}

// write is one caller's part of a batch.
type write[T any] struct {
	ctx       context.Context //nolint:containedctx // it belongs to the one call that waits for this write
	fn        func(ctx context.Context, tx T) error
	committed func()
	err       error
	panicked  any
	done      chan struct{}
}

// New makes a group over transact, which is called by one goroutine at a time.
// flush, where not nil, runs in each transaction after its writes and does what
// they left to be done together; its error counts as one of theirs.
func New[T any](transact Transact[T], flush func(tx T) error) *Group[T] {
	return &Group[T]{
		transact: transact,
		flush:    flush,
		queue:    make(chan *write[T], maxBatch),
		leader:   make(chan struct{}, 1),
		closed:   make(chan struct{}),
	}
}

// Write runs fn in a transaction and returns after its commit. Writes that
// arrive while a commit is under way share the next one, each whole or not at
// all and in the order of their arrival.
//
// An error of fn is returned as it is and nothing of fn remains. fn may run a
// second time where another write of the same batch failed, so it touches
// nothing but tx and variables that it sets anew. Where ctx ends before fn
// began, its error is returned and fn has not run; later it has no effect, so
// that the answer is always the truth.
//
// committed, where not nil, is called once after the commit and before Write
// returns, by one goroutine at a time and in the order in which the writes were
// carried out; it must not write or block.
func (g *Group[T]) Write(ctx context.Context, fn func(ctx context.Context, tx T) error, committed func()) error {
	w := &write[T]{ctx: ctx, fn: fn, committed: committed, done: make(chan struct{})}
	select {
	case g.queue <- w:
	case <-ctx.Done():
		return ctx.Err()
	case <-g.closed:
		return ErrClosed
	}
	for {
		select {
		case <-w.done:
			return w.result()
		case g.leader <- struct{}{}:
			g.lead()
		case <-g.closed:
			return ErrClosed
		}
	}
}

// lead commits for all that wait, and gives the leader's place back whatever happens.
func (g *Group[T]) lead() {
	defer func() { <-g.leader }()
	g.commit(g.takeBatch())
}

// Close waits for the commit that is under way; later writes are answered
// ErrClosed. It is called once.
func (g *Group[T]) Close() {
	g.leader <- struct{}{} // no commit is under way from here on
	close(g.closed)
}

func (w *write[T]) result() error {
	if w.panicked != nil {
		panic(w.panicked) // where the caller's own recovery sees it
	}
	return w.err
}

func (g *Group[T]) takeBatch() []*write[T] {
	var batch []*write[T]
	for len(batch) < maxBatch {
		select {
		case w := <-g.queue:
			if w.err = w.ctx.Err(); w.err != nil {
				close(w.done)
				continue
			}
			batch = append(batch, w)
		default:
			return batch
		}
	}
	return batch
}

// commit runs the batch in one transaction. Where a write of it fails, its two halves
// are run by themselves, so that one failure does not spoil the others and costs them
// few commits more. Where the commit fails, all fail: it may have happened after all,
// and what is run again would be done twice.
func (g *Group[T]) commit(batch []*write[T]) {
	if len(batch) == 0 {
		return
	}
	spoiled, err := g.transaction(batch)
	if err != nil && spoiled && len(batch) > 1 {
		g.commit(batch[:len(batch)/2])
		g.commit(batch[len(batch)/2:])
		return
	}
	for _, w := range batch {
		w.answer(err)
	}
}

// answer ends the wait of a write's caller.
func (w *write[T]) answer(err error) {
	defer close(w.done)
	w.err = err
	if err != nil || w.committed == nil {
		return
	}
	// As with fn: a panic is the caller's own.
	defer func() { w.panicked = recover() }()
	w.committed()
}

// transaction carries out the batch, and reports whether one of its writes
// spoiled it. A panic of the transaction itself is an error of all its writes: each
// of their callers waits for an answer.
func (g *Group[T]) transaction(batch []*write[T]) (spoiled bool, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			spoiled, err = false, fmt.Errorf("groupcommit: the transaction panicked: %v\n%s", failure, debug.Stack())
		}
	}()
	err = g.transact(func(tx T) error {
		spoiled = false // of an attempt before this one nothing counts
		for _, w := range batch {
			if err := w.run(tx); err != nil {
				spoiled = true
				return err
			}
		}
		if g.flush == nil {
			return nil
		}
		err := g.flush(tx)
		spoiled = err != nil
		return err
	})
	return spoiled, err
}

// run calls fn. A panic is carried to the caller that brought it: here it would
// take down whoever happens to be the leader.
func (w *write[T]) run(tx T) (err error) {
	w.panicked = nil
	defer func() {
		if w.panicked = recover(); w.panicked != nil {
			err = errPanicked
		}
	}()
	// Without the caller's cancellation: half a transaction is interrupted by
	// it, and the other callers' writes with it.
	return w.fn(context.WithoutCancel(w.ctx), tx)
}
