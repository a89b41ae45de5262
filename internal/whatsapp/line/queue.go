// Tasks that run one after another in the background, in a goroutine that lives only while
// there are any.

package line

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
	ended   chan struct{} // closed at the end of the goroutine that was started last; nil: there was none
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
		q.ended = make(chan struct{})
		go q.work(q.ended)
	}
	return true
}

// CloseWithin drops the tasks that wait, and returns when none runs any more, or after that time: the
// one that runs then may go on.
func (q *Queue) CloseWithin(wait time.Duration) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case <-q.close():
	case <-limit.C:
	}
}

// close drops the tasks that wait and accepts none any more. The channel is closed when none runs.
func (q *Queue) close() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.ended == nil {
		q.ended = make(chan struct{})
		close(q.ended)
	}
	return q.ended
}

func (q *Queue) work(ended chan<- struct{}) {
	defer close(ended)
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
