package repeatlog_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/cli/repeatlog"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// lines are what was written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// take returns what was written since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

func newLog(most int, always ...string) (*repeatlog.Log, *lines) {
	written := new(lines)
	plain := slog.NewTextHandler(written, &slog.HandlerOptions{ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return attr
	}})
	return repeatlog.New(repeatlog.Config{Next: plain, Most: most, Always: always}), written
}

func instance(id string) slog.Attr { return slog.String("instance_id", id) }

// The first lines are written, the others are counted; the count is told when the window is
// over, with a next line or without one.
func TestRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, written := newLog(2)
		logger := log.Logger()
		for range 5 {
			logger.Error("it failed")
		}
		if got, want := written.take(), "level=ERROR msg=\"it failed\"\nlevel=ERROR msg=\"it failed\"\n"; got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		time.Sleep(repeatlog.Window)
		synctest.Wait()
		if got, want := written.take(), "level=ERROR msg=\"log lines left out\" line=\"it failed\" lines=3\n"; got != want {
			t.Errorf("after the window: wrote %q, want %q", got, want)
		}
		time.Sleep(time.Minute)
		logger.Error("it failed")
		if got, want := written.take(), "level=ERROR msg=\"it failed\"\n"; got != want {
			t.Errorf("later: wrote %q, want %q", got, want)
		}
		log.Close()
		if got := written.take(); got != "" {
			t.Errorf("at the end: wrote %q", got)
		}
	})
}

// Only lines of the same level, text and instance are the same.
func TestWhatIsTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, written := newLog(1, "status changed")
		logger := log.Logger()
		for range 2 {
			logger.Info("it failed")
			logger.Warn("it failed")
			logger.Warn("it failed", instance("I1"))
			logger.Warn("it failed", instance("I2"), slog.String("other", "I1"))
			logger.With(instance("I3")).Warn("it failed")
			logger.WithGroup("g").Warn("another", instance("I1"))
			logger.Info("status changed", instance("I1"))
		}
		if got := strings.Count(written.take(), "\n"); got != 8 {
			t.Errorf("wrote %d lines, want 8", got)
		}
		log.Close()
		want := `level=WARN msg="log lines left out" line=another lines=1
level=WARN msg="log lines left out" line="it failed" lines=1
level=WARN msg="log lines left out" line="it failed" lines=1 instance_id=I1
level=WARN msg="log lines left out" line="it failed" lines=1 instance_id=I2
level=WARN msg="log lines left out" line="it failed" lines=1 instance_id=I3
level=INFO msg="log lines left out" line="it failed" lines=1
`
		if got := written.take(); got != want {
			t.Errorf("wrote %s, want %s", got, want)
		}
	})
}

// The limit changes at once, and without one everything is written.
func TestLimitChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, written := newLog(0)
		defer log.Close()
		for _, step := range []struct{ most, want int }{{0, 10}, {3, 3}, {5, 2}, {0, 10}} {
			log.Limit(step.most)
			for range 10 {
				log.Logger().Info("again")
			}
			if got := strings.Count(written.take(), "msg=again"); got != step.want {
				t.Errorf("limit %d: wrote %d lines, want %d", step.most, got, step.want)
			}
		}
	})
}

// However many different lines there are, few are remembered, and none is lost uncounted.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, written := newLog(1)
		const instances, texts = 10_000, 10_000
		for n := range instances {
			log.Logger().Error("it failed", instance(strconv.Itoa(n)))
		}
		for n := range texts {
			log.Logger().Error("text " + strconv.Itoa(n)) //nolint:sloglint // a library's lines are no constants
		}
		whole := strings.Count(written.take(), "\n")
		log.Close()
		left := 0
		for line := range strings.Lines(written.String()) {
			_, count, _ := strings.Cut(line, "lines=")
			n, err := strconv.Atoi(strings.Fields(count)[0])
			if err != nil {
				t.Fatal(err)
			}
			left += n
		}
		if whole > 6_000 || whole+left != instances+texts {
			t.Errorf("wrote %d lines and left %d out, of %d", whole, left, instances+texts)
		}
	})
}

// Many goroutines log at once: each line is written or counted.
func TestManyLogAtOnce(t *testing.T) {
	t.Parallel()
	log, written := newLog(10)
	var all sync.WaitGroup
	const goroutines, each = 8, 500
	for range goroutines {
		all.Go(func() {
			for range each {
				log.Logger().Info("again")
			}
		})
	}
	all.Wait()
	log.Close()
	if text := written.String(); !strings.Contains(text, fmt.Sprintf("lines=%d", goroutines*each-10)) {
		t.Errorf("wrote %s", text)
	}
}

// What a line costs: written without a limit, written within one, and left out.
func BenchmarkLine(b *testing.B) {
	for name, c := range cases.Sorted(map[string]struct{ most, before int }{"no limit": {0, 0}, "written": {1 << 60, 0}, "left out": {1, 1}}) {
		b.Run(name, func(b *testing.B) {
			log := repeatlog.New(repeatlog.Config{Next: slog.NewTextHandler(struct{ io.Writer }{io.Discard}, nil), Most: c.most})
			defer log.Close()
			logger := log.Logger()
			attrs := []slog.Attr{slog.String("method", "POST"), slog.Int("status", 201), slog.String("instance_id", "01a20bad-f54f-7c8a-b2ee-776e7d0abbac")}
			for b.Loop() {
				logger.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
			}
		})
	}
}
