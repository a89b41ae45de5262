// Package taskqueue runs tasks one after another in the background, in a goroutine that
// lives only while there are any.
package taskqueue

import (
	"sync"
	"time"
)

// maxTasks bounds how many tasks wait.
const maxTasks = 256

// Queue runs its tasks in order, one at a time. The zero value is empty and ready. It is
// safe for concurrent use.
type Queue struct {
	mu      sync.Mutex
	waiting []func()
	busy    bool
	closed  bool
	running sync.WaitGroup
}

// Add has task run after those that wait. It reports false if that will not happen,
// because too many wait or the queue is closed. It never blocks.
func (q *Queue) Add(task func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.waiting) >= maxTasks {
		return false
	}
	q.waiting = append(q.waiting, task)
	if !q.busy {
		q.busy = true
		q.running.Go(q.work)
	}
	return true
}

// Close drops the tasks that wait, and returns when none runs any more.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.running.Wait()
}

// CloseWithin drops the tasks that wait, and returns when none runs any more, or after that time: the
// one that runs then may go on.
func (q *Queue) CloseWithin(wait time.Duration) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		q.Close()
	}()
	select {
	case <-closed:
	case <-time.After(wait):
	}
}

func (q *Queue) work() {
	for task := q.next(); task != nil; task = q.next() {
		task()
	}
}

// next returns the task to run now; nil ends the goroutine.
func (q *Queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.waiting) == 0 {
		q.waiting, q.busy = nil, false
		return nil
	}
	task := q.waiting[0]
	q.waiting = q.waiting[1:]
	return task
}
