package whatsapp

import (
	"context"
	"math/rand/v2"
	"time"
)

// pauses are the waits between tries: none before the first, then growing ones with
// jitter, so that sessions that lost their connections together do not come back together.
type pauses struct {
	min, max time.Duration
	next     time.Duration
	failed   bool
}

// steady makes the next wait the shortest one, however many there were.
func (p *pauses) steady() { p.next, p.failed = p.min, true }

func (p *pauses) reset() { p.next, p.failed = 0, false }

func (p *pauses) wait(ctx context.Context) {
	if !p.failed {
		p.failed, p.next = true, p.min
		return
	}
	pause := p.next
	p.next = min(2*p.next, p.max)
	jittered := pause*3/4 + rand.N(pause/2+1) //nolint:gosec // jitter is no secret
	timer := time.NewTimer(jittered)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
