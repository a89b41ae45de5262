// Package repeatlog bounds how often the log says the same: of the lines with the same level,
// text and instance, it writes the first ones within ten seconds, and then one line that says
// how many more there were. So a failure that comes with every request fills no disk, and is
// told all the same.
package repeatlog

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Window is the time within which lines are counted.
	Window = 10 * time.Second
	// maxKeys bounds how many different lines are counted within a window. Beyond it, those of
	// all instances count together, and beyond maxTexts those of all texts.
	maxKeys  = 4096
	maxTexts = maxKeys + 1024

	// instanceKey is the attribute that names an instance.
	instanceKey = "instance_id"
	// leftOut is the line that tells what was not written.
	leftOut = "log lines left out"
)

// Config is what a log stands on.
type Config struct {
	Next slog.Handler // writes; required
	Most int          // lines of a kind within a window; 0: all
	// Always are the texts of lines that are written however often they come.
	Always []string
	Now    func() time.Time // nil: the wall clock
}

// Log counts lines. It is safe for concurrent use.
type Log struct {
	next   slog.Handler
	always map[string]bool
	now    func() time.Time
	most   atomic.Int64

	mu     sync.Mutex
	ends   time.Time // of the window
	counts map[key]*count
	timer  *time.Timer // ends a window in which lines were left out; nil: none were
	closed bool
}

// key says which lines are the same. Text and instance are empty where lines count together.
type key struct {
	level          slog.Level
	text, instance string
}

// count is how many lines of a window were written and left out.
type count struct{ written, left int64 }

// New makes a log.
func New(config Config) *Log {
	l := &Log{next: config.Next, always: map[string]bool{}, now: config.Now, counts: map[key]*count{}}
	for _, text := range config.Always {
		l.always[text] = true
	}
	if l.now == nil {
		l.now = time.Now
	}
	l.Limit(config.Most)
	return l
}

// Limit changes how many lines of a kind are written within a window; 0: all.
func (l *Log) Limit(most int) { l.most.Store(int64(most)) }

// Logger returns the logger whose lines are counted.
func (l *Log) Logger() *slog.Logger { return slog.New(handler{Handler: l.next, log: l}) }

// Close writes what was left out so far. Lines that come later are all written.
func (l *Log) Close() {
	l.mu.Lock()
	l.closed = true
	ended := l.end()
	l.mu.Unlock()
	l.tell(ended)
}

// handler passes on the lines that are to be written.
type handler struct {
	slog.Handler

	log      *Log
	instance string // that all lines are about; empty: it is looked for in each
	grouped  bool
}

// Handle writes a line or counts it.
func (h handler) Handle(ctx context.Context, line slog.Record) error {
	most := h.log.most.Load()
	if most <= 0 || h.log.always[line.Message] {
		return h.Handler.Handle(ctx, line)
	}
	admitted, ended := h.log.admit(key{level: line.Level, text: line.Message, instance: h.instanceOf(line)}, most)
	h.log.tell(ended) //nolint:contextcheck // these lines are about others
	if !admitted {
		return nil
	}
	return h.Handler.Handle(ctx, line)
}

// instanceOf is the instance that a line is about; empty if it is about none.
func (h handler) instanceOf(line slog.Record) string {
	found := h.instance
	if found == "" && !h.grouped {
		line.Attrs(func(attr slog.Attr) bool {
			if attr.Key == instanceKey {
				found = attr.Value.String()
			}
			return found == ""
		})
	}
	return found
}

// WithAttrs is the handler with attributes.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, attr := range attrs {
		if attr.Key == instanceKey && !h.grouped {
			h.instance = attr.Value.String()
		}
	}
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup is the handler with a group.
func (h handler) WithGroup(name string) slog.Handler {
	h.Handler, h.grouped = h.Handler.WithGroup(name), true
	return h
}

// summary says how many lines of a kind were left out.
type summary struct {
	key  key
	left int64
}

// admit counts a line and reports whether it is written. ended is what a window that is over
// has left out, for tell.
func (l *Log) admit(k key, most int64) (admitted bool, ended []summary) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !now.Before(l.ends) {
		ended = l.end()
		l.ends = now.Add(Window)
	}
	c := l.countOf(k)
	if c.written < most || l.closed {
		c.written++
		return true, ended
	}
	c.left++
	if l.timer == nil {
		l.timer = time.AfterFunc(l.ends.Sub(now), l.expire)
	}
	return false, ended
}

// countOf finds the count of a line, which several share if there are too many.
func (l *Log) countOf(k key) *count {
	for _, bounded := range []struct {
		key  key
		most int
	}{
		{k, maxKeys},
		{key{level: k.level, text: k.text}, maxTexts},
	} {
		if c, ok := l.counts[bounded.key]; ok {
			return c
		}
		if len(l.counts) < bounded.most {
			c := new(count)
			l.counts[bounded.key] = c
			return c
		}
	}
	shared := key{level: k.level}
	if l.counts[shared] == nil {
		l.counts[shared] = new(count)
	}
	return l.counts[shared]
}

// expire ends a window after which no line has come.
func (l *Log) expire() {
	l.mu.Lock()
	var ended []summary
	if !l.now().Before(l.ends) { // else a line has begun the next window meanwhile
		ended = l.end()
	}
	l.mu.Unlock()
	l.tell(ended)
}

// end begins to count anew, and returns what was left out.
func (l *Log) end() []summary {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	var ended []summary
	for k, c := range l.counts {
		if c.left > 0 {
			ended = append(ended, summary{k, c.left})
		}
	}
	clear(l.counts)
	slices.SortFunc(ended, func(a, b summary) int {
		return cmp.Or(cmp.Compare(b.key.level, a.key.level), cmp.Compare(a.key.text, b.key.text), cmp.Compare(a.key.instance, b.key.instance))
	})
	return ended
}

// tell writes what was left out, each with the level of its lines.
func (l *Log) tell(ended []summary) {
	for _, s := range ended {
		line := slog.NewRecord(l.now(), s.key.level, leftOut, 0)
		line.AddAttrs(slog.String("line", cmp.Or(s.key.text, "several")), slog.Int64("lines", s.left))
		if s.key.instance != "" {
			line.AddAttrs(slog.String(instanceKey, s.key.instance))
		}
		_ = l.next.Handle(context.Background(), line) // as any other line: nobody is told of an error
	}
}
