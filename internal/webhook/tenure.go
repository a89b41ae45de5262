// Instances come and go: which webhooks this process delivers.

package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// TakeUp loads the webhooks of instances that this process works for from now on, and
// starts to deliver. Run must have begun. After an error it may be called again.
func (s *Service) TakeUp(ctx context.Context, tenures []gateway.Tenure) error {
	s.loading.Lock()
	defer s.loading.Unlock()
	ids, of := make([]string, len(tenures)), make(map[string]gateway.Tenure, len(tenures))
	s.mu.Lock()
	for n, tenure := range tenures {
		ids[n], of[tenure.InstanceID] = tenure.InstanceID, tenure
		s.early[tenure.InstanceID] = 0
	}
	s.mu.Unlock()
	all, err := s.store.Webhooks(ctx, ids)
	if err != nil {
		err = fmt.Errorf("webhook: load: %w", err)
	}
	s.mu.Lock()
	pumps := make([]*pump, 0, len(all))
	var old []*pump // of earlier tenures
	if err == nil {
		for _, id := range ids {
			for _, p := range s.pumps[id] {
				if p.tenure != of[id] {
					old = append(old, p)
					s.drop(p)
				}
			}
		}
	}
	for _, saved := range all {
		id := saved.Webhook.InstanceID
		if !s.running || s.find(saved.Webhook.ref()) != nil {
			continue
		}
		saved.Newest = max(saved.Newest, s.early[id])
		p := newPump(s, of[id], saved)
		s.add(p)
		pumps = append(pumps, p)
	}
	for _, id := range ids {
		delete(s.early, id)
		if err == nil {
			s.taken[id] = true
		}
	}
	s.mu.Unlock()
	for _, p := range old {
		p.close(true)
	}
	for _, p := range pumps {
		p.wake()
	}
	return err
}

// LetGo ends the deliveries of instances: it waits for requests in flight,
// Schedule.StopWait at most, and saves the progress; neither if ctx is over. When it returns,
// nothing is delivered or written for them any more.
func (s *Service) LetGo(ctx context.Context, tenures []gateway.Tenure) {
	s.mu.Lock()
	var pumps []*pump
	for _, tenure := range tenures {
		delete(s.taken, tenure.InstanceID)
		pumps = append(pumps, s.pumps[tenure.InstanceID]...)
		delete(s.pumps, tenure.InstanceID)
	}
	s.mu.Unlock()
	for _, p := range pumps {
		p.close(false)
	}
	cutAll := func() {
		for _, p := range pumps {
			p.cut()
		}
	}
	cut := time.AfterFunc(s.schedule.StopWait, cutAll)
	defer cut.Stop()
	defer context.AfterFunc(ctx, cutAll)()
	for _, p := range pumps {
		p.work.Wait()
		p.cut()
		p.end()
	}
	for some := range slices.Chunk(pumps, flushSlice) {
		if ctx.Err() != nil {
			break
		}
		if err := s.flusher.saveLocked(ctx, some); err != nil && !errors.Is(err, gateway.ErrTenureOver) {
			// They are delivered again.
			s.logger.ErrorContext(ctx, "states of webhooks not saved before another node has them", slog.Any("error", err))
		}
	}
	for _, p := range pumps {
		p.close(true)
	}
}
