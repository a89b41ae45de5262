// Package live keeps open pages up to date. A page's stream is woken when events were
// appended, reads anew what its part shows, and renders and sends it if that has changed.
// Browsers that look at the same part share one rendering, and no part is rendered more
// often than a person can read.
package live

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/web"
)

const (
	// defaultPause is the usual Config.Pause.
	defaultPause = 400 * time.Millisecond
	// busyPause is after which time a part is rendered that could not be.
	busyPause = time.Second
)

// Config is what a Pulse stands on. The first part is required.
type Config struct {
	Bell     *eventlog.Bell // rings after events were committed
	Stopping <-chan struct{}
	Logger   *slog.Logger

	Pause time.Duration    // the least between two renderings of one part; 0: 400 ms
	Now   func() time.Time // nil: the wall clock
}

// Pulse serves the streams of all open pages. It is safe for concurrent use.
type Pulse struct {
	config     Config
	renderings *share.Pool

	mu    sync.Mutex
	parts map[string]*part              // by their keys; only those that somebody looks at
	woken map[string]map[*part]struct{} // by the instance whose events wake them
}

// Part is what a stream shows.
type Part struct {
	// Key names the part with everything that its rendering depends on: the page, the
	// language, the account, the role. Streams with the same key share renderings.
	Key string
	// InstanceID is whose events wake the part; empty: those of every instance.
	InstanceID string
	// MaxAge, if not 0, is after which time the part is read anew without an event.
	MaxAge time.Duration
	// Read returns what the part shows now. Nobody changes it later.
	Read func(ctx context.Context) (any, error)
	// Render renders what Read returned. It depends on nothing else: what is equal to what
	// was rendered before is not rendered again.
	Render func(shown any) ([]byte, error)
}

// New makes a Pulse and lets the bell wake it.
func New(config Config) (*Pulse, error) {
	if err := required.Check("live", config, "Now"); err != nil {
		return nil, err
	}
	if config.Pause == 0 {
		config.Pause = defaultPause
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	p := &Pulse{config: config, parts: map[string]*part{}, woken: map[string]map[*part]struct{}{}, renderings: share.New(share.Config{
		Name: "renderings", Total: int64(max(2, runtime.GOMAXPROCS(0)/2)), What: "live pages being rendered", Advice: "wait a moment",
	})}
	config.Bell.Listen(func(events []eventlog.Event) { p.wake(events[0].InstanceID) })
	return p, nil
}

// Renderings has the places of parts that are rendered.
func (p *Pulse) Renderings() *share.Pool { return p.renderings }

// wake lets the streams know that there is something new. It is called while others wait
// for a commit, so it only sets flags.
func (p *Pulse) wake(instanceID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range [2]string{instanceID, ""} {
		for part := range p.woken[id] {
			part.wake()
		}
	}
}

// Serve answers a request with the stream of a part until the browser leaves, ended is
// closed, or the program stops. The part is sent at once, and then whenever it changes,
// as the event "view".
func (p *Pulse) Serve(w http.ResponseWriter, r *http.Request, ended <-chan struct{}, shown Part) {
	stream, err := web.NewStream(w)
	if err != nil {
		return // the browser has gone
	}
	looked, woken := p.enter(shown)
	defer p.leave(looked, woken)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	tick := time.NewTicker(web.StreamPause)
	defer tick.Stop()
	var last []byte
	for {
		content, next, err := looked.current(ctx, p)
		switch {
		case ctx.Err() != nil, gateway.KindOf(err) == gateway.NotFound: // what it shows was deleted
			return
		case gateway.KindOf(err) == gateway.Unavailable: // too many others are being rendered: a little later
			next = busyPause
		case err != nil:
			p.config.Logger.ErrorContext(ctx, "a live part of a page could not be rendered", slog.String("route", r.Pattern),
				slog.String("instance_id", r.PathValue("instanceId")), slog.Any("error", err))
			return // the browser comes back
		case !bytes.Equal(content, last):
			if stream.Send("view", content) != nil {
				return
			}
			last = content
		}
		if !p.wait(ctx, stream, waiting{tick: tick.C, woken: woken, ended: ended, next: next, pause: p.config.Pause}) {
			return
		}
	}
}

// waiting is what a stream waits for.
type waiting struct {
	tick         <-chan time.Time
	woken, ended <-chan struct{}
	next         time.Duration // until the part is too old; 0: never
	pause        time.Duration
}

// wait returns true when the part may have changed, and false when the stream is over.
func (p *Pulse) wait(ctx context.Context, stream *web.Stream, on waiting) bool {
	var old <-chan time.Time
	if on.next > 0 {
		timer := time.NewTimer(on.next)
		defer timer.Stop()
		old = timer.C
	}
	var ready <-chan time.Time
	for {
		select {
		case <-on.woken:
			if ready == nil { // more may come at once
				ready = time.After(on.pause)
			}
		case <-ready:
			return true
		case <-old:
			return true
		case <-on.tick:
			if stream.SignOfLife() != nil {
				return false
			}
		case <-ctx.Done():
			return false
		case <-on.ended:
			return false
		case <-p.config.Stopping:
			return false
		}
	}
}

// enter adds a stream to those that look at a part.
func (p *Pulse) enter(shown Part) (*part, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	looked := p.parts[shown.Key]
	if looked == nil {
		looked = &part{Part: shown, streams: map[chan struct{}]struct{}{}}
		p.parts[shown.Key] = looked
		if p.woken[shown.InstanceID] == nil {
			p.woken[shown.InstanceID] = map[*part]struct{}{}
		}
		p.woken[shown.InstanceID][looked] = struct{}{}
	}
	woken := make(chan struct{}, 1)
	looked.streams[woken] = struct{}{}
	return looked, woken
}

func (p *Pulse) leave(looked *part, woken chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(looked.streams, woken)
	if len(looked.streams) > 0 {
		return
	}
	delete(p.parts, looked.Key)
	delete(p.woken[looked.InstanceID], looked)
	if len(p.woken[looked.InstanceID]) == 0 {
		delete(p.woken, looked.InstanceID)
	}
}

// part is a Part that somebody looks at.
type part struct {
	Part

	streams map[chan struct{}]struct{} // guarded by the Pulse

	rings struct {
		sync.Mutex

		count int
	}
	// mu is held while the part is rendered: streams that come meanwhile take its result.
	mu      sync.Mutex
	seen    int // the rings that the content is as new as
	at      time.Time
	shown   any // what the content shows
	content []byte
}

// wake is called by the Pulse, which is locked.
func (p *part) wake() {
	p.rings.Lock()
	p.rings.count++
	p.rings.Unlock()
	for woken := range p.streams {
		select {
		case woken <- struct{}{}:
		default: // it was woken already
		}
	}
}

// current returns the part as it is now, and after which time it is too old; 0 means
// never.
func (p *part) current(ctx context.Context, pulse *Pulse) (content []byte, next time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rings.Lock()
	rings := p.rings.count
	p.rings.Unlock()
	now := pulse.config.Now()
	age := now.Sub(p.at)
	if p.content == nil || rings != p.seen || p.MaxAge > 0 && age >= p.MaxAge {
		place, err := pulse.renderings.Wait(ctx, 1)
		if err != nil {
			return nil, 0, err
		}
		err = p.renew(ctx)
		place.Release()
		if err != nil {
			return nil, 0, err
		}
		p.seen, p.at, age = rings, now, 0
	}
	if p.MaxAge > 0 {
		next = p.MaxAge - age
	}
	return p.content, next, nil
}

// renew reads what the part shows, and renders it if it is not what the content shows.
func (p *part) renew(ctx context.Context) error {
	shown, err := p.Read(ctx)
	if err != nil || p.content != nil && reflect.DeepEqual(shown, p.shown) {
		return err
	}
	content, err := p.Render(shown)
	if err != nil {
		return err
	}
	p.shown, p.content = shown, content
	return nil
}
