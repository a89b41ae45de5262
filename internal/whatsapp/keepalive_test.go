package whatsapp

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// peer is the other end of a connection.
type peer struct {
	mu     sync.Mutex
	asked  []time.Time
	silent bool
	dead   int
}

// keep keeps a connection to it.
func (p *peer) keep(ctx context.Context) {
	beginKeepalive(ctx, func(context.Context) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, time.Now())
		return !p.silent
	}, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dead++
	})
}

func (p *peer) setSilent(silent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = silent
}

// Connections that began at different times are asked at the same moments, each every half a
// minute.
func TestConnectionsAreAskedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		peers := make([]*peer, 300)
		for i := range peers {
			peers[i] = &peer{}
			peers[i].keep(t.Context())
			time.Sleep(37 * time.Millisecond)
		}
		time.Sleep(10 * time.Minute)
		moments := map[time.Time]bool{}
		for _, p := range peers {
			p.mu.Lock()
			for i, at := range p.asked {
				moments[at] = true
				if gap := at.Sub(p.asked[max(i-1, 0)]); i > 0 && (gap < keepaliveMin-time.Second || gap > keepaliveMax) {
					t.Fatalf("%s between two questions", gap)
				}
			}
			if len(p.asked) < 16 || p.dead > 0 {
				t.Fatalf("asked %d times in ten minutes, dead %d times", len(p.asked), p.dead)
			}
			p.mu.Unlock()
		}
		if len(moments) > 700 {
			t.Errorf("questions were asked at %d moments", len(moments))
		}
	})
}

// Two questions in a row without an answer make a connection dead, and then it is left alone.
func TestSilentConnectionIsDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &peer{}
		p.setSilent(true)
		p.keep(t.Context())
		time.Sleep(keepaliveMax)
		p.setSilent(false) // in time
		time.Sleep(keepaliveMax)
		p.setSilent(true)
		time.Sleep(10 * time.Minute)
		p.mu.Lock()
		defer p.mu.Unlock()
		if n := len(p.asked); p.dead != 1 || n < 4 || n > 6 {
			t.Errorf("dead %d times after %d questions", p.dead, n)
		}
	})
}

func TestEndedConnectionIsNotAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		p := &peer{}
		p.keep(ctx)
		time.Sleep(keepaliveMax)
		end()
		time.Sleep(10 * time.Minute)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.asked) != 1 || p.dead > 0 {
			t.Errorf("asked %d times, dead %d times", len(p.asked), p.dead)
		}
	})
}
