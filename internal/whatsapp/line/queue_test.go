package line_test

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/whatsapp/line"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueueRunsTasksInOrder(t *testing.T) {
	t.Parallel()
	var queue line.Queue
	var ran []int
	done := make(chan struct{})
	for n := range 3 {
		queue.Add(func() { ran = append(ran, n) })
	}
	queue.Add(func() { close(done) })
	<-done
	queue.CloseWithin(time.Hour)
	if want := []int{0, 1, 2}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

// held gives a queue a task that runs until release is called.
func held(queue *line.Queue) (release func()) {
	started, released := make(chan struct{}), make(chan struct{})
	queue.Add(func() {
		close(started)
		<-released
	})
	<-started
	return func() { close(released) }
}

// A queue that is full, or closed, takes no more tasks.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	var queue line.Queue
	release := held(&queue)
	waiting := 0
	for queue.Add(func() {}) {
		waiting++
		if waiting > 10_000 {
			t.Fatal("it takes any number of tasks")
		}
	}
	release()
	queue.CloseWithin(time.Hour)
	if queue.Add(func() {}) {
		t.Error("a closed queue takes a task")
	}
}

// A caller that can't wait for the task that runs leaves it alone; none of the others runs.
func TestQueueIsLeftAlone(t *testing.T) {
	t.Parallel()
	var queue line.Queue
	release := held(&queue)
	queue.Add(func() { t.Error("a task was begun after the end") })
	queue.CloseWithin(time.Millisecond)
	release()
	queue.CloseWithin(time.Hour)
}
