package cache_test

import (
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/cache"
)

// database is one value, and how often it was asked for.
type database struct {
	value string
	asked int
}

func (d *database) read() (string, bool, error) {
	d.asked++
	return d.value, d.value != "", nil
}

func wantFound(t *testing.T, c *cache.Cache[string, string], d *database, want string, asked int) {
	t.Helper()
	got, found, err := c.Find("key", d.read)
	if err != nil || found != (want != "") || got != want || d.asked != asked {
		t.Errorf("found %q (%v, %v) after %d questions, want %q after %d", got, found, err, d.asked, want, asked)
	}
}

func TestAValueIsAskedForOnce(t *testing.T) {
	t.Parallel()
	c, d := cache.New[string, string](cache.Config{Most: 2}), &database{}
	wantFound(t, c, d, "", 1)
	d.value = "one"
	wantFound(t, c, d, "one", 2) // what is not there is asked for again
	wantFound(t, c, d, "one", 2)
	if _, _, err := c.Find("other", func() (string, bool, error) { return "", false, errors.New("broken") }); err == nil {
		t.Error("an error was lost")
	}

	// A change of something else leaves it alone; its own and a change of everything do not.
	c.Change("other")()
	wantFound(t, c, d, "one", 2)
	c.Change("key")()
	wantFound(t, c, d, "one", 3)
	c.Change()()
	wantFound(t, c, d, "one", 4)

	// There is room for two.
	for _, key := range []string{"a", "b", "c", "d"} {
		for range 2 {
			if got, _, _ := c.Find(key, func() (string, bool, error) { return key, true, nil }); got != key {
				t.Errorf("%s is %s", key, got)
			}
		}
	}
	kept := 0
	for _, key := range []string{"key", "a", "b", "c", "d"} {
		if _, found, _ := c.Find(key, func() (string, bool, error) { return "", false, nil }); found {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("%d values are kept", kept)
	}
}

// While a value changes, everybody asks the database, and what was read before the end of
// the change is not kept: it may be the old value.
func TestNobodyKeepsAnOldValue(t *testing.T) {
	t.Parallel()
	c, d := cache.New[string, string](cache.Config{Most: 2}), &database{value: "old"}
	wantFound(t, c, d, "old", 1)
	done := c.Change("key")
	wantFound(t, c, d, "old", 2)
	d.value = "new"
	wantFound(t, c, d, "new", 3)
	wantFound(t, c, d, "new", 4)
	late := func() (string, bool, error) {
		done()
		return "old", true, nil
	}
	if got, _, _ := c.Find("key", late); got != "old" {
		t.Errorf("found %q", got)
	}
	wantFound(t, c, d, "new", 5)
	wantFound(t, c, d, "new", 5)
	early := func() (string, bool, error) {
		c.Change("key")()
		return "old", true, nil
	}
	c.Change("key")()
	if got, _, _ := c.Find("key", early); got != "old" {
		t.Errorf("found %q", got)
	}
	wantFound(t, c, d, "new", 6)
}

// Readers and writers at the same time never see a value that is older than the last
// change that had ended before they asked.
func TestReadersSeeWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	c := cache.New[string, int64](cache.Config{Most: 2})
	var written, ended atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2000 {
				before := ended.Load()
				got, _, _ := c.Find("key", func() (int64, bool, error) { return written.Load(), true, nil })
				if got < before {
					t.Errorf("found %d after %d had been written", got, before)
				}
			}
		})
	}
	all.Go(func() {
		for i := range int64(2000) {
			done := c.Change("key")
			written.Store(i)
			done()
			ended.Store(i)
		}
	})
	all.Wait()
}

func TestAnOldValueIsAskedForAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC)
	c := cache.New[string, string](cache.Config{Most: 2, Age: time.Second, Now: func() time.Time { return now }})
	d := &database{value: "one"}
	wantFound(t, c, d, "one", 1)
	now = now.Add(time.Second - 1)
	wantFound(t, c, d, "one", 1)
	now = now.Add(1)
	wantFound(t, c, d, "one", 2)
	wantFound(t, c, d, "one", 2)
}

// A change that another process tells of is seen by the next question.
func TestForeignChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mark")
	open := func() *cache.Mark {
		mark, err := cache.NewMark(path)
		if err != nil {
			t.Fatal(err)
		}
		return mark
	}
	own, foreign := open(), open()
	c, d := cache.New[string, string](cache.Config{Most: 2, Foreign: own.Changed}), &database{value: "one"}
	for asked := range 5 {
		wantFound(t, c, d, "one", asked+1)
		wantFound(t, c, d, "one", asked+1)
		if err := foreign.Tell(); err != nil {
			t.Fatal(err)
		}
	}
	// One that comes while the database is asked is not lost either.
	tells := func() (string, bool, error) { return "old", true, foreign.Tell() }
	if _, _, err := c.Find("key", tells); err != nil {
		t.Fatal(err)
	}
	wantFound(t, c, d, "one", 6)
}
