package taskqueue_test

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/whatsapp/taskqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueueRunsTasksInOrder(t *testing.T) {
	t.Parallel()
	var queue taskqueue.Queue
	var ran []int
	done := make(chan struct{})
	for n := range 3 {
		queue.Add(func() { ran = append(ran, n) })
	}
	queue.Add(func() { close(done) })
	<-done
	queue.Close()
	if want := []int{0, 1, 2}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

// A queue that is full, or closed, takes no more tasks.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	var queue taskqueue.Queue
	started, release := make(chan struct{}), make(chan struct{})
	queue.Add(func() {
		close(started)
		<-release
	})
	<-started
	waiting := 0
	for queue.Add(func() {}) {
		waiting++
		if waiting > 10_000 {
			t.Fatal("it takes any number of tasks")
		}
	}
	close(release)
	queue.Close()
	if queue.Add(func() {}) {
		t.Error("a closed queue takes a task")
	}
}

// Whoever can't wait for the task that runs leaves it alone; none of the others runs.
func TestQueueIsLeftAlone(t *testing.T) {
	t.Parallel()
	var queue taskqueue.Queue
	started, release := make(chan struct{}), make(chan struct{})
	queue.Add(func() {
		close(started)
		<-release
	})
	queue.Add(func() { t.Error("a task was begun after the end") })
	<-started
	queue.CloseWithin(time.Millisecond)
	close(release)
	queue.CloseWithin(time.Hour)
}
