// How the progress of all webhooks is saved.

package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const (
	// flushSlice is how many webhooks are saved in one transaction; others that
	// write wait for it.
	flushSlice = 512
	// flushAttempts is about how many attempts are saved at a time, of all
	// webhooks together, but of each at least minAttempts.
	flushAttempts = 1_000
	minAttempts   = 4
	// storeTimeout bounds a call of the store, so that a database that does not
	// answer can't block everything behind it.
	storeTimeout = 30 * time.Second
	// maxFlushPause bounds the wait after a save that failed.
	maxFlushPause = 5 * time.Second
)

// flusher saves how far the webhooks have come: all that made progress, together, a
// few times a second. After a crash, the events whose progress was not saved are
// delivered again.
type flusher struct {
	service *Service
	signal  chan struct{} // there is something to save

	mu    sync.Mutex
	dirty []*pump
	later []*pump // are dirty when the pause is over
}

func newFlusher(s *Service) *flusher {
	return &flusher{service: s, signal: make(chan struct{}, 1)}
}

func (f *flusher) mark(p *pump) {
	f.mu.Lock()
	f.dirty = append(f.dirty, p)
	f.mu.Unlock()
	f.wake()
}

// wake makes run save.
func (f *flusher) wake() {
	select {
	case f.signal <- struct{}{}:
	default: // it is awake
	}
}

// markLater is mark for what may be saved later: a filter that leaves most events out must not
// cost as many writes as one that takes them.
func (f *flusher) markLater(p *pump) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.later = append(f.later, p); len(f.later) == 1 {
		time.AfterFunc(f.service.schedule.SkipPause, f.hurry)
	}
}

// hurry makes dirty what had time.
func (f *flusher) hurry() {
	f.mu.Lock()
	f.dirty, f.later = append(f.dirty, f.later...), nil
	f.mu.Unlock()
	f.wake()
}

// run saves until ctx ends.
func (f *flusher) run(ctx context.Context) {
	pause := f.service.schedule.FlushPause
	for {
		select {
		case <-f.signal:
		case <-ctx.Done():
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = f.service.schedule.FlushPause
		if err := f.flushAll(context.WithoutCancel(ctx)); err != nil {
			f.service.logger.ErrorContext(ctx, "states of webhooks not saved", slog.Any("error", err))
			pause = maxFlushPause
		}
	}
}

// flushAll saves every webhook that has something to save, but not yet those that have
// time.
func (f *flusher) flushAll(ctx context.Context) error {
	f.mu.Lock()
	dirty := f.dirty
	f.dirty = nil
	f.mu.Unlock()
	if len(dirty) == 0 {
		return nil
	}
	limit := min(max(flushAttempts/len(dirty), minAttempts), maxAttempts)
	var failure error
	for pumps := range slices.Chunk(dirty, flushSlice) {
		if err := f.saveFree(ctx, limit, pumps); err != nil {
			failure = err
		}
	}
	return failure
}

// flush saves one webhook now.
func (f *flusher) flush(ctx context.Context, p *pump) error {
	done, err := f.service.lock(ctx, p.id)
	if err != nil {
		return err
	}
	defer done()
	return f.save(ctx, maxAttempts, p)
}

// saveFree saves the webhooks that are not being changed. The others come with the
// next save: a change of one webhook must not wait for the progress of all.
func (f *flusher) saveFree(ctx context.Context, limit int, pumps []*pump) error {
	free, locks := make([]*pump, 0, len(pumps)), make([]func(), 0, len(pumps))
	defer func() {
		for _, unlock := range locks {
			unlock()
		}
	}()
	for _, p := range pumps {
		unlock, ok := f.service.saving.TryLock(p.id)
		if !ok {
			f.mark(p)
			continue
		}
		free, locks = append(free, p), append(locks, unlock)
	}
	return f.save(ctx, limit, free...)
}

// save saves webhooks that the caller has locked.
func (f *flusher) save(ctx context.Context, limit int, pumps ...*pump) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	progress := make([]Progress, 0, len(pumps))
	saved := make([]*pump, 0, len(pumps))
	for _, p := range pumps {
		if one, ok := p.take(limit); ok {
			progress, saved = append(progress, one), append(saved, p)
		}
	}
	if len(progress) == 0 {
		return nil
	}
	err := f.service.store.SaveProgress(ctx, progress)
	if errors.Is(err, gateway.ErrTenureOver) {
		return f.saveEach(ctx, progress, saved)
	}
	if err != nil {
		for i, p := range saved {
			p.putBack(progress[i])
		}
		return fmt.Errorf("save progress: %w", err)
	}
	for i, p := range saved {
		p.gaveUp(ctx, progress[i].DeadLetters)
	}
	return nil
}

// saveEach saves webhooks one by one: another node has one of them at least. Its progress is
// of no use any more.
func (f *flusher) saveEach(ctx context.Context, progress []Progress, pumps []*pump) (failure error) {
	for i, p := range pumps {
		err := f.service.store.SaveProgress(ctx, progress[i:i+1])
		switch {
		case errors.Is(err, gateway.ErrTenureOver):
			p.close(true)
		case err != nil:
			p.putBack(progress[i])
			failure = fmt.Errorf("save progress: %w", err)
		default:
			p.gaveUp(ctx, progress[i].DeadLetters)
		}
	}
	return failure
}

// gaveUp tells of events that have become dead letters, after that was saved.
func (p *pump) gaveUp(ctx context.Context, letters []backlog.DeadLetter) {
	if len(letters) == 0 {
		return
	}
	p.service.watcher.GaveUp(len(letters))
	for _, letter := range letters {
		p.logger().LogAttrs(ctx, slog.LevelWarn, "an event is not delivered: the endpoint has refused it each time",
			slog.String("event_id", letter.EventID), slog.Int64("sequence", letter.Sequence), slog.String("kind", string(letter.Kind)),
			slog.Int("status", letter.Status), slog.String("error", letter.Error))
	}
}

// saveLocked saves webhooks whose configuration nobody changes any more.
func (f *flusher) saveLocked(ctx context.Context, pumps []*pump) error {
	var locks []func()
	defer func() {
		for _, unlock := range locks {
			unlock()
		}
	}()
	for _, p := range pumps {
		unlock, err := f.service.saving.Lock(ctx, p.id)
		if err != nil {
			return err
		}
		locks = append(locks, unlock)
	}
	return f.save(ctx, maxAttempts, pumps...)
}

// take returns the progress to save; ok is false if there is none.
func (p *pump) take(limit int) (progress Progress, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty, p.later = false, false
	if p.forgotten || !p.there || !p.backlog.Unsaved() && !p.backlog.Skipped() && len(p.attempts.pending) == 0 {
		return Progress{}, false
	}
	progress.ID, progress.InstanceID, progress.Tenure = p.id, p.instanceID, p.tenure
	progress.Progress = p.backlog.Take()
	progress.State.Attempts = p.attempts.made
	progress.Attempts = p.attempts.take(limit)
	return progress, true
}

// putBack undoes take.
func (p *pump) putBack(progress Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backlog.PutBack(progress.Progress)
	p.attempts.putBack(progress.Attempts)
	p.markDirty()
}
