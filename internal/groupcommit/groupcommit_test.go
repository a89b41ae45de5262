package groupcommit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ledger is a database of one list. A transaction waits for the gate, so that
// writes gather behind it.
type ledger struct {
	gate      chan struct{}
	commit    error // what commits fail with
	inPencil  bool  // writes leave their lines to be flushed together
	late      bool  // a bad line is found at the commit
	committed []string
	batches   int
}

// page is a transaction. What is put on it in pencil is written before its end.
type page struct{ lines, pencil []string }

func (l *ledger) flush(p *page) error {
	if slices.Contains(p.pencil, "bad") {
		return errBad
	}
	p.lines = append(p.lines, p.pencil...)
	return nil
}

func (l *ledger) transact(run func(*page) error) error {
	<-l.gate
	var p page
	if err := run(&p); err != nil {
		return err
	}
	if l.commit != nil {
		return l.commit
	}
	if slices.Contains(p.lines, "bad") {
		return fmt.Errorf("at the commit: %w", &groupcommit.SpoiledError{Err: errBad})
	}
	l.batches++
	l.committed = append(l.committed, p.lines...)
	return nil
}

// write runs writes at the same time, after a first one, and returns their errors and
// the order in which they were called back after the commit.
func write(t *testing.T, l *ledger, lines ...string) (errs map[string]error, done []string) {
	t.Helper()
	l.gate = make(chan struct{})
	group := groupcommit.New(l.transact, l.flush)
	errs = map[string]error{}
	var mu sync.Mutex
	var writers sync.WaitGroup
	for _, line := range lines {
		started := make(chan struct{})
		writers.Go(func() {
			close(started)
			err := group.Write(t.Context(), func(_ context.Context, p *page) error {
				if line == "bad" && !l.inPencil && !l.late {
					return errBad
				}
				if l.inPencil {
					p.pencil = append(p.pencil, line)
				} else {
					p.lines = append(p.lines, line)
				}
				return nil
			}, func() { done = append(done, line) })
			mu.Lock()
			defer mu.Unlock()
			errs[line] = err
		})
		<-started
	}
	close(l.gate)
	writers.Wait()
	group.Close()
	return errs, done
}

var errBad = errors.New("bad")

func TestOneFailureSpoilsNoOther(t *testing.T) {
	t.Parallel()
	for name, l := range cases.Sorted(map[string]*ledger{
		"of a write":                        {},
		"of what writes left to be flushed": {inPencil: true},
		"that is found at the commit":       {late: true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs, done := write(t, l, "a", "b", "bad", "c")
			if !errors.Is(errs["bad"], errBad) || errors.Join(errs["a"], errs["b"], errs["c"]) != nil {
				t.Errorf("answered %v", errs)
			}
			if !slices.Equal(done, l.committed) || len(done) != 3 {
				t.Errorf("committed %v, called back %v", l.committed, done)
			}
		})
	}
}

// A commit that failed may have taken place after all. Its writes are not run again, and
// all of them fail.
func TestFailedCommitIsNotRepeated(t *testing.T) {
	t.Parallel()
	l := ledger{commit: errors.New("the connection was lost")}
	errs, done := write(t, &l, "a", "b", "c")
	for line, err := range errs {
		if !errors.Is(err, l.commit) {
			t.Errorf("%s was answered %v", line, err)
		}
	}
	if len(done) > 0 || l.batches > 0 {
		t.Errorf("called back %v after %d batches", done, l.batches)
	}
}

func TestWriteAfterClose(t *testing.T) {
	t.Parallel()
	group := groupcommit.New(func(run func(int) error) error { return run(0) }, nil)
	group.Close()
	err := group.Write(t.Context(), func(context.Context, int) error { return nil }, nil)
	if !errors.Is(err, groupcommit.ErrClosed) {
		t.Errorf("answered %v", err)
	}
}

func TestEndedContextRunsNothing(t *testing.T) {
	t.Parallel()
	group := groupcommit.New(func(run func(int) error) error { return run(0) }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := group.Write(ctx, func(context.Context, int) error {
		t.Error("it ran")
		return nil
	}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("answered %v", err)
	}
}

// A panic reaches its writers, wherever it comes from, and later writes still succeed.
func TestPanicGivesThePlaceBack(t *testing.T) {
	t.Parallel()
	ordinary := func(run func(*page) error) error { return run(&page{}) }
	for name, c := range cases.Sorted(map[string]struct {
		transact  groupcommit.Transact[*page]
		flush     func(*page) error
		fn        func(context.Context, *page) error
		committed func()
		panics    bool // at the caller, and else it is an error
	}{
		"transaction": {transact: func(func(*page) error) error { panic("transaction") }},
		"flush":       {transact: ordinary, flush: func(*page) error { panic("flush") }},
		"write":       {transact: ordinary, fn: func(context.Context, *page) error { panic("write") }, panics: true},
		"committed":   {transact: ordinary, committed: func() { panic("committed") }, panics: true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := true
			group := groupcommit.New(func(run func(*page) error) error {
				if broken {
					return c.transact(run)
				}
				return ordinary(run)
			}, func(p *page) error {
				if broken && c.flush != nil {
					return c.flush(p)
				}
				return nil
			})
			fn := c.fn
			if fn == nil {
				fn = func(context.Context, *page) error { return nil }
			}
			err, panicked := writeOnce(t, group, fn, c.committed)
			if panicked != c.panics || !c.panics && err == nil {
				t.Errorf("the writer is answered %v, with a panic: %v", err, panicked)
			}
			broken = false
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := group.Write(ctx, func(context.Context, *page) error { return nil }, nil); err != nil {
				t.Errorf("the next write: %v", err)
			}
		})
	}
}

func writeOnce(
	t *testing.T, group *groupcommit.Group[*page], fn func(context.Context, *page) error, committed func(),
) (err error, panicked bool) {
	t.Helper()
	defer func() { panicked = recover() != nil }()
	return group.Write(t.Context(), fn, committed), false
}

// One write that fails costs the others of its batch only a few more transactions.
func TestOneFailureCostsFewTransactions(t *testing.T) {
	t.Parallel()
	lines := make([]string, 256)
	for i := range lines {
		lines[i] = strconv.Itoa(i)
	}
	lines[100] = "bad"
	l := &ledger{}
	errs, _ := write(t, l, lines...)
	for line, err := range errs {
		if (err != nil) != (line == "bad") {
			t.Errorf("%s: %v", line, err)
		}
	}
	if l.batches > 20 {
		t.Errorf("it took %d transactions", l.batches)
	}
}

// A write that was begun is in the transaction of the next one that somebody waits for.
func TestBegunWriteRidesWithTheNext(t *testing.T) {
	t.Parallel()
	l := &ledger{gate: make(chan struct{})}
	close(l.gate)
	group := groupcommit.New(l.transact, nil)
	add := func(line string) func(context.Context, *page) error {
		return func(_ context.Context, p *page) error {
			p.lines = append(p.lines, line)
			return nil
		}
	}
	if err := group.Write(t.Context(), add("before"), nil); err != nil {
		t.Fatal(err)
	}
	var pending []groupcommit.Pending
	for _, line := range []string{"a", "b"} {
		pending = append(pending, group.Begin(t.Context(), add(line), nil))
	}
	if err := group.Write(t.Context(), add("c"), nil); err != nil {
		t.Fatal(err)
	}
	for _, p := range pending {
		if err := errors.Join(p.Wait(), p.WaitSoon(), p.Wait()); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"before", "a", "b", "c"}; !slices.Equal(l.committed, want) {
		t.Errorf("committed %v, want %v", l.committed, want)
	}
	if l.batches > 3 { // the timer of the first may have come between
		t.Errorf("it took %d transactions", l.batches)
	}
}

// A write that was begun is carried out, whether somebody waits for it or not, and soon.
func TestBegunWriteIsCarriedOut(t *testing.T) {
	t.Parallel()
	for name, wait := range cases.Sorted(map[string]func(groupcommit.Pending) error{
		"nobody waits":  func(groupcommit.Pending) error { return nil },
		"soon":          groupcommit.Pending.WaitSoon,
		"at once":       groupcommit.Pending.Wait,
		"at once, soon": func(p groupcommit.Pending) error { return errors.Join(p.Wait(), p.WaitSoon()) },
	}) {
		for _, busy := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				group := groupcommit.New(func(run func(*page) error) error { return run(&page{}) }, nil)
				nothing := func(context.Context, *page) error { return nil }
				if busy {
					if err := group.Write(t.Context(), nothing, nil); err != nil {
						t.Fatal(err)
					}
				}
				carriedOut := make(chan struct{})
				pending := group.Begin(t.Context(), nothing, func() { close(carriedOut) })
				if err := wait(pending); err != nil {
					t.Error(err)
				}
				select {
				case <-carriedOut:
				case <-time.After(time.Minute):
					t.Fatal("it was not carried out")
				}
			})
		}
	}
}

// The panic of a write that was begun hits those who wait for it, and nobody else.
func TestPanicOfABegunWrite(t *testing.T) {
	t.Parallel()
	group := groupcommit.New(func(run func(*page) error) error { return run(&page{}) }, nil)
	pending := group.Begin(t.Context(), func(context.Context, *page) error { panic("write") }, nil)
	if err := group.Write(t.Context(), func(context.Context, *page) error { return nil }, nil); err != nil {
		t.Error(err)
	}
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("who waits for it does not learn of the panic")
				}
			}()
			_ = pending.Wait()
		}()
	}
}

// A write that was begun and not carried out when the group is closed has failed.
func TestBegunWriteAfterClose(t *testing.T) {
	t.Parallel()
	group := groupcommit.New(func(run func(*page) error) error { return run(&page{}) }, nil)
	group.Close()
	pending := group.Begin(t.Context(), func(context.Context, *page) error { return nil }, nil)
	for _, err := range []error{pending.Wait(), pending.WaitSoon()} {
		if !errors.Is(err, groupcommit.ErrClosed) {
			t.Errorf("answered %v", err)
		}
	}
}
