// How a pump reads the events that its backlog wants.

package webhook

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const (
	// readPause is how long a pump waits after the log could not be read.
	readPause = time.Second
	// maxChatEvents is how many events of a blocked chat are read at once.
	maxChatEvents = 16
	// maxScan is how much of the log is searched at once for them, and for events that a
	// filter lets through.
	maxScan = 20_000
)

// read begins a read of the log if the backlog wants one: one at a time. The lock
// is held.
func (p *pump) read(now time.Time) {
	if p.reading || p.readAt.After(now) || !p.backlog.WantsRead(now) {
		return
	}
	p.reading = true
	if p.service.admitted.reads.enter(p.mayRead) {
		p.beginRead(now)
	}
}

// mayRead uses a place that was waited for, and reports whether it did.
func (p *pump) mayRead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.service.steady()
	if p.closed || p.to == nil || !p.backlog.WantsRead(now) {
		p.reading = false
		return false
	}
	p.beginRead(now)
	return true
}

// beginRead reads in a goroutine.
func (p *pump) beginRead(now time.Time) {
	read, _ := p.backlog.BeginRead(now) // there is one: WantsRead has just said so
	p.begin(func() { p.carryOut(p.base, read) })
}

// carryOut reads from the log and gives the backlog what it has read.
func (p *pump) carryOut(ctx context.Context, read backlog.Read) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	var (
		events  []eventlog.Event
		through int64
		err     error
	)
	p.mu.Lock()
	filter := p.filter
	p.mu.Unlock()
	switch {
	case read.Chat != nil:
		events, through, err = p.readChat(ctx, *read.Chat, filter)
	case filter.takesAll():
		events, err = p.service.log.ReadSlice(ctx, p.instanceID, read.After, read.Limit, backlog.MaxLoadedBytes)
	default:
		events, through, err = p.service.store.ReadWantedEvents(ctx, p.instanceID, filter,
			read.After, min(read.After+maxScan, read.Through), read.Limit, backlog.MaxLoadedBytes)
	}
	p.service.admitted.reads.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = false
	if err != nil {
		p.readFailed(ctx, err)
		p.backlog.FailRead(read, p.readAt)
	} else {
		p.backlog.FinishRead(read, events, through, p.service.steady())
	}
	p.drive(nil, false)
}

// readChat reads the first events of a blocked chat that were not delivered. Where
// there are none, through is how far the log was searched.
func (p *pump) readChat(ctx context.Context, chat backlog.BlockedChat, filter Filter) (events []eventlog.Event, through int64, err error) {
	for after := chat.Sequence - 1; after < chat.Through; after = through {
		through = min(after+maxScan, chat.Through)
		events, err = p.service.store.ReadChatEvents(ctx, p.instanceID, chat.Chat, after, through, maxChatEvents)
		if err != nil {
			return nil, through, err
		}
		if len(events) == maxChatEvents {
			through = events[maxChatEvents-1].Sequence // there may be more
		}
		events = slices.DeleteFunc(events, func(event eventlog.Event) bool { return !filter.Takes(event) })
		if len(events) > 0 {
			return events, through, nil
		}
	}
	return nil, chat.Through, nil
}

// readFailed notes that the log could not be read; it is tried again soon.
func (p *pump) readFailed(ctx context.Context, err error) {
	p.readAt = p.service.steady().Add(readPause)
	if !p.closed {
		p.logger().LogAttrs(ctx, slog.LevelError, "events for a webhook could not be read", slog.Any("error", err))
	}
}
