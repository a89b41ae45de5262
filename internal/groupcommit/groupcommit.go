// Package groupcommit lets writes that arrive at the same time share one transaction, and
// with it one wait for the disk. It knows neither SQL nor a database: its users, the
// SQLite file and the PostgreSQL writers, pass in the function that runs a transaction.
package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// maxBatch bounds how many writes share one commit, and with it how long the
// first of them waits.
const maxBatch = 512

// patience bounds how long a write that can wait does so for one that can't, and
// maxPatient how many such writes wait one after another: many receipts that come at once
// must not wait for each other.
const (
	patience   = 4 * time.Millisecond
	maxPatient = 2
)

// ErrClosed is the error of a write that comes after Close.
var ErrClosed = errors.New("groupcommit: closed")

// errPanicked makes the transaction roll back; the caller never sees it.
var errPanicked = errors.New("groupcommit: write panicked")

// SpoiledError is the error of a transaction that one of its writes has spoiled, although run
// returned nil. It is certain that nothing was committed.
type SpoiledError struct{ Err error }

// Error is the error of the write.
func (s *SpoiledError) Error() string { return s.Err.Error() }

// Unwrap returns the error of the write.
func (s *SpoiledError) Unwrap() error { return s.Err }

// Transact runs one transaction: it begins it, calls run with it, and commits if run
// returned nil. Otherwise it rolls back and returns that error. If it finds out only at
// the commit that a write has failed, its error is a *SpoiledError.
type Transact[T any] func(run func(tx T) error) error

// Group carries out writes. It runs one transaction after another, each for all the
// writes that are waiting. It is safe for concurrent use.
//
// There is no goroutine to start and stop: one of the callers becomes the leader, and
// commits all the writes that are queued.
type Group[T any] struct {
	transact Transact[T]
	flush    func(tx T) error
	queue    chan *write[T]
	leader   chan struct{}
	closed   chan struct{}
	// urgent is when a write that can't wait came last, in nanoseconds since the group was
	// made.
	urgent atomic.Int64
	// patient counts the writes since then that could wait.
	patient atomic.Int64
	made    time.Time
}

// write is one caller's part of a batch.
type write[T any] struct {
	group     *Group[T]
	ctx       context.Context //nolint:containedctx // it belongs to the one call that waits for this write
	fn        func(ctx context.Context, tx T) error
	committed func()
	err       error
	panicked  any
	done      chan struct{}
}

// New makes a group that runs its transactions with transact, which is called by one
// goroutine at a time. flush runs in each transaction after the writes, and does work
// that they have left to be done together. Its error counts as an error of a write. It
// may be nil.
func New[T any](transact Transact[T], flush func(tx T) error) *Group[T] {
	return &Group[T]{
		transact: transact,
		flush:    flush,
		queue:    make(chan *write[T], maxBatch),
		leader:   make(chan struct{}, 1),
		closed:   make(chan struct{}),
		made:     time.Now(), //nolint:forbidigo // only the time that passes counts
	}
}

// Write runs fn in a transaction and returns after its commit. Writes that
// arrive while a commit is under way share the next one, each whole or not at
// all and in the order of their arrival.
//
// An error of fn is returned as it is, and nothing that fn did remains. fn may run a
// second time if another write of the same batch failed, so it must only use tx and
// variables that it sets anew. If ctx ends before fn has begun, Write returns the error
// of ctx and fn does not run. If ctx ends later, it has no effect: the result always
// says whether the write was committed.
//
// committed, if not nil, is called once after the commit and before Write returns. It is
// called by one goroutine at a time, and in the order in which the writes were carried
// out. It must not write or block.
func (g *Group[T]) Write(ctx context.Context, fn func(ctx context.Context, tx T) error, committed func()) error {
	return g.enqueue(ctx, fn, committed).Wait()
}

// Pending is a write that was begun. Its methods are safe for concurrent use; each of them
// may be called more than once, and returns what Write would return.
type Pending interface {
	// Wait returns when the write has been carried out, and has it carried out at once.
	Wait() error
	// WaitSoon is Wait that gives other writes a moment to share the commit, if there were
	// any in the last moment.
	WaitSoon() error
}

// Begin queues a write and returns. It is carried out with the next write that somebody
// waits for, and within some milliseconds in any case. See Write for the parameters.
func (g *Group[T]) Begin(ctx context.Context, fn func(ctx context.Context, tx T) error, committed func()) Pending {
	w := g.enqueue(ctx, fn, committed)
	time.AfterFunc(patience, w.carryOut) // it finds it done, as a rule
	return w
}

// enqueue queues a write, or answers it if it can't be queued.
func (g *Group[T]) enqueue(ctx context.Context, fn func(ctx context.Context, tx T) error, committed func()) *write[T] {
	w := &write[T]{group: g, ctx: ctx, fn: fn, committed: committed, done: make(chan struct{})}
	select {
	case g.queue <- w:
		return w
	case <-ctx.Done():
		w.err = ctx.Err()
	case <-g.closed:
		w.err = ErrClosed
	}
	close(w.done)
	return w
}

// Wait waits for the result (Pending).
func (w *write[T]) Wait() error {
	w.group.urgent.Store(int64(time.Since(w.group.made)))
	w.group.patient.Store(0)
	w.carryOut()
	return w.result()
}

// WaitSoon waits for the result (Pending).
func (w *write[T]) WaitSoon() error {
	last := time.Duration(w.group.urgent.Load())
	if last == 0 || time.Since(w.group.made)-last > patience || w.group.patient.Add(1) > maxPatient {
		w.carryOut() // nobody is likely to come, or too many wait
		return w.result()
	}
	select {
	case <-w.done: // the timer leads if nobody else does
	case <-w.group.closed:
	}
	return w.result()
}

// carryOut returns when the write has been carried out. If nobody else does it, this
// goroutine does.
func (w *write[T]) carryOut() {
	for {
		select {
		case <-w.done:
			return
		case w.group.leader <- struct{}{}:
			w.group.lead()
		case <-w.group.closed:
			return
		}
	}
}

// lead commits the writes that are waiting. It ends being the leader even if it panics.
func (g *Group[T]) lead() {
	defer func() { <-g.leader }()
	g.commit(g.takeBatch())
}

// Close waits for the commit that is under way. Later writes fail with ErrClosed. It is
// called once.
func (g *Group[T]) Close() {
	g.leader <- struct{}{} // no commit is under way from here on
	close(g.closed)
}

func (w *write[T]) result() error {
	select {
	case <-w.done:
	default:
		return ErrClosed
	}
	if w.panicked != nil {
		panic(w.panicked) // in the goroutine of the caller, which may recover from it
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

// commit runs the batch in one transaction. If a write fails, the two halves of the batch
// are committed separately, so that the other writes succeed at the cost of a few more
// commits. If the commit itself fails, all writes fail: it may have taken place after
// all, and running them again would do them twice.
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
	// As with fn, a panic is passed on to the caller.
	defer func() { w.panicked = recover() }()
	w.committed()
}

// transaction runs the batch, and reports whether one of its writes failed. A panic of
// the transaction itself becomes the error of all its writes, because each caller waits
// for a result.
func (g *Group[T]) transaction(batch []*write[T]) (spoiled bool, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			spoiled, err = false, fmt.Errorf("groupcommit: the transaction panicked: %v\n%s", failure, debug.Stack())
		}
	}()
	err = g.transact(func(tx T) error {
		spoiled = false // transact may call this again
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
	if _, late := errors.AsType[*SpoiledError](err); late {
		spoiled = true
	}
	return spoiled, err
}

// run calls fn. A panic is passed on to the caller whose write it is. Here it would hit
// the leader, which is another caller.
func (w *write[T]) run(tx T) (err error) {
	w.panicked = nil
	defer func() {
		if w.panicked = recover(); w.panicked != nil {
			err = errPanicked
		}
	}()
	// fn does not get the caller's cancellation: it would interrupt the transaction,
	// and with it the writes of other callers.
	return w.fn(context.WithoutCancel(w.ctx), tx)
}
