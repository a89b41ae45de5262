package webhook

import (
	"context"
	"log/slog"
	"time"
)

// read begins a read of the log where the backlog has use for it: one at a time.
// The lock is held.
func (p *pump) read(now time.Time) {
	if p.reading || p.readAt.After(now) || !p.wantsRead(now) {
		return
	}
	p.reading = true
	if p.service.admitted.reads.enter(p.mayRead) {
		p.beginRead(now)
	}
}

func (p *pump) wantsRead(now time.Time) bool {
	_, limit := p.backlog.wants(now)
	return limit > 0 || p.backlog.laneDue(now)
}

// mayRead uses a place that was waited for, and reports whether it did.
func (p *pump) mayRead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.service.now()
	if p.closed || p.to == nil || !p.wantsRead(now) {
		p.reading = false
		return false
	}
	p.beginRead(now)
	return true
}

// beginRead reads in a goroutine. Blocked chats come first: they have waited.
func (p *pump) beginRead(now time.Time) {
	p.service.work.Add(1)
	epoch := p.backlog.epoch
	if l := p.backlog.wantsLane(now); l != nil {
		block := *l.block
		go p.readLane(p.service.base, l, block, epoch)
		return
	}
	after, limit := p.backlog.wants(now)
	p.backlog.reading = true
	go p.readWindow(p.service.base, after, p.backlog.newest, limit, epoch)
}

func (p *pump) readWindow(ctx context.Context, after, through int64, limit, epoch int) {
	defer p.service.work.Done()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	events, err := p.service.log.ReadSlice(ctx, p.instanceID, after, limit, maxLoadedBytes)
	p.service.admitted.reads.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading, p.backlog.reading = false, false
	switch {
	case err != nil:
		p.backlog.tail, p.backlog.tailBytes = nil, 0
		p.readFailed(ctx, err)
	case epoch == p.backlog.epoch:
		p.backlog.read(after, events, through)
	default:
		p.backlog.tail, p.backlog.tailBytes = nil, 0
	}
	p.drive(nil, false)
}

func (p *pump) readLane(ctx context.Context, l *lane, block BlockedChat, epoch int) {
	defer p.service.work.Done()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	loaded, through, err := p.loadLane(ctx, block)
	p.service.admitted.reads.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = false
	if err != nil {
		p.readFailed(ctx, err)
		p.backlog.laneFailed(l, p.readAt)
	} else {
		p.backlog.laneRead(l, epoch, loaded, through, p.service.now())
	}
	p.drive(nil, false)
}

// loadLane reads the first events of a blocked chat that were not delivered.
// Where there are none, through is how far it has looked.
func (p *pump) loadLane(ctx context.Context, block BlockedChat) (loaded []*entry, through int64, err error) {
	for after := block.Sequence - 1; after < block.Through; after = through {
		through = min(after+maxScan, block.Through)
		events, err := p.service.store.ReadChatEvents(ctx, p.instanceID, block.Chat, after, through, maxLane)
		if err != nil {
			return nil, 0, err
		}
		for _, event := range events {
			loaded = append(loaded, &entry{sequence: event.Sequence, event: event})
		}
		if len(loaded) > 0 {
			return loaded, through, nil
		}
	}
	return nil, block.Through, nil
}

// readFailed notes that the log could not be read; it is tried again soon.
func (p *pump) readFailed(ctx context.Context, err error) {
	p.readAt = p.service.now().Add(readPause)
	if !p.closed {
		p.service.logger.LogAttrs(ctx, slog.LevelError, "events for a webhook not read",
			slog.String("instance_id", p.instanceID), slog.Any("error", err))
	}
}
