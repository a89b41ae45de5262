// Each connection asks the platform whether it still hears. All connections do it at the same
// moments: a process with thousands of idle sessions then wakes up once for some hundred of them, and
// most of what an idle session costs is the waking up.

package whatsapp

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// keepaliveMin is the least time between two questions on a connection, but for a second. The
	// library asks every 20 to 30 seconds; half a minute on average, as other clients do, is a
	// sixth less, and a dead connection is noticed ten seconds later at most.
	keepaliveMin = 25 * time.Second
	// keepaliveMax is the most time between two questions.
	keepaliveMax = 35 * time.Second
	// keepaliveBeat is how far the moments lie apart at which questions are asked.
	keepaliveBeat = time.Second
	// maxSilences is how many unanswered questions in a row make a connection dead: it looks
	// open, and nothing arrives any more.
	maxSilences = 2
)

// beginKeepalive asks on a connection from now on, until ctx ends or the connection is dead. ask asks
// once, and reports whether there was an answer in time; it returns when ctx ends. dead is called once,
// if there was no answer several times; it may block until ctx ends.
func beginKeepalive(ctx context.Context, ask func(ctx context.Context) (answered bool), dead func()) {
	p := &pulse{ctx: ctx, question: ask, dead: dead}
	p.arm()
	context.AfterFunc(ctx, p.stop)
}

// pulse is one connection, whose timer is all that it needs between two questions.
type pulse struct {
	ctx      context.Context //nolint:containedctx // of the connection
	question func(ctx context.Context) (answered bool)
	dead     func()
	silent   int // questions without an answer since the last one

	mu    sync.Mutex
	timer *time.Timer
}

func (p *pulse) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.timer = time.AfterFunc(untilNext(time.Now()), p.ask) //nolint:forbidigo // only the time that passes counts
	}
}

func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
}

// untilNext is how long it is to the next question: to a moment at which other connections
// are asked as well.
func untilNext(now time.Time) time.Duration {
	wait := keepaliveMin + rand.N(keepaliveMax-keepaliveMin) //nolint:gosec // it is no secret
	return now.Add(wait).Truncate(keepaliveBeat).Sub(now)
}

func (p *pulse) ask() {
	answered := p.question(p.ctx)
	if p.ctx.Err() != nil {
		return
	}
	p.silent++
	if answered {
		p.silent = 0
	}
	if p.silent == maxSilences {
		p.dead()
		return
	}
	p.arm()
}
