package webhook

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

func (e *entry) finish() {
	e.done, e.event = true, eventlog.Event{}
}

// place says where a lane is.
type place int

const (
	nowhere   place = iota
	inReady         // its head can be sent
	inHeld          // its head failed, and nobody knows yet whose fault that is
	inBlocked       // its head is to blame; it waits for its time
	busy            // its head is in flight, or it is being loaded
)

// lane is the events of one chat, which go one after another.
type lane struct {
	chat  gateway.JID
	place place
	queue []*entry // loaded, the head first
	// failedAt is the tick of the head's last failure, 0 where it has not failed;
	// retryAt is when it is tried again if nothing is learned before.
	failedAt int64
	retryAt  time.Time
	// block is set where the chat is blocked: its events up to block.Through are
	// passed by the cursor, and are loaded for this lane alone.
	block *BlockedChat
}

// blockedLanes is a heap of lanes by the time of their next try.
type blockedLanes []*lane

func (h blockedLanes) Len() int           { return len(h) }
func (h blockedLanes) Less(i, j int) bool { return h[i].block.NextTry.Before(h[j].block.NextTry) }
func (h blockedLanes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push is for the heap.
func (h *blockedLanes) Push(l any) { *h = append(*h, l.(*lane)) } //nolint:forcetypeassert // only lanes are pushed

// Pop is for the heap.
func (h *blockedLanes) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}

func (h *blockedLanes) push(l *lane) {
	l.place = inBlocked
	heap.Push(h, l)
}

func (h *blockedLanes) pop() *lane {
	l, _ := heap.Pop(h).(*lane)
	return l
}
