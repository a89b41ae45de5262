package backlog

import (
	"container/heap"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// entry is an event past the cursor. Once it is done, only its number is kept.
type entry struct {
	sequence int64
	event    eventlog.Event
	done     bool
}

func (e *entry) markDone() {
	e.done, e.event = true, eventlog.Event{}
}

// place says where a chat queue is.
type place int

const (
	nowhere   place = iota
	inReady         // its head can be sent
	inHeld          // its head failed, and it is not known yet whose fault that is
	inBlocked       // its head is at fault; it waits for its next try
	busy            // its head is in flight, or its events are being read
)

// chatQueue holds the events of one chat, which are delivered one after another.
type chatQueue struct {
	chat    gateway.JID
	place   place
	entries []*entry // loaded, the head first
	// failedAt is the tick of the head's last failure, 0 where it has not failed;
	// retryAt is when it is tried again if nothing is learned before.
	failedAt int64
	retryAt  time.Time
	// block is set while the chat is blocked: the cursor has passed its events up
	// to block.Through, and they are read for this queue alone.
	block *BlockedChat
}

// blockedQueues is a heap of chat queues by the time of their next try.
type blockedQueues []*chatQueue

func (h blockedQueues) Len() int           { return len(h) }
func (h blockedQueues) Less(i, j int) bool { return h[i].block.NextTry.Before(h[j].block.NextTry) }
func (h blockedQueues) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push is for the heap.
func (h *blockedQueues) Push(q any) { *h = append(*h, q.(*chatQueue)) } //nolint:forcetypeassert // only chat queues are pushed

// Pop is for the heap.
func (h *blockedQueues) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *blockedQueues) push(q *chatQueue) {
	q.place = inBlocked
	heap.Push(h, q)
}

func (h *blockedQueues) pop() *chatQueue {
	q, _ := heap.Pop(h).(*chatQueue)
	return q
}
