// Package keepalive asks the platform, on each connection, whether it still hears. All
// connections do it at the same moments: a process with thousands of idle sessions then wakes
// up once for some hundred of them, and most of what an idle session costs is the waking up.
package keepalive

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// Shortest is the least time between two questions on a connection, but for a second. The
	// library asks every 20 to 30 seconds; half a minute on average, as other clients do, is a
	// sixth less, and a dead connection is noticed ten seconds later at most.
	Shortest = 25 * time.Second
	// Longest is the most time between two questions.
	Longest = 35 * time.Second
	// beat is how far the moments lie apart at which questions are asked.
	beat = time.Second
	// silences is how many unanswered questions in a row make a connection dead: it looks
	// open, and nothing arrives any more.
	silences = 2
)

// Connection is what is asked.
type Connection struct {
	// Ask asks, and reports whether there was an answer in time. It returns when ctx ends.
	Ask func(ctx context.Context) (answered bool)
	// Dead is called once, if there was no answer several times. It may block until ctx ends.
	Dead func()
}

// Begin asks on a connection from now on, until ctx ends or it is dead.
func Begin(ctx context.Context, connection Connection) {
	p := &pulse{ctx: ctx, connection: connection}
	p.arm()
	context.AfterFunc(ctx, p.stop)
}

// pulse is one connection, whose timer is all that it needs between two questions.
type pulse struct {
	ctx        context.Context //nolint:containedctx // of the connection
	connection Connection
	silent     int // questions without an answer since the last one

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
	wait := Shortest + rand.N(Longest-Shortest) //nolint:gosec // it is no secret
	return now.Add(wait).Truncate(beat).Sub(now)
}

func (p *pulse) ask() {
	answered := p.connection.Ask(p.ctx)
	if p.ctx.Err() != nil {
		return
	}
	p.silent++
	if answered {
		p.silent = 0
	}
	if p.silent == silences {
		p.connection.Dead()
		return
	}
	p.arm()
}
