package version_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/version"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// site is the messenger's page, which a test can change, and how often it was asked for.
type site struct {
	http.Handler

	server *httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
	asked  []time.Time
	sent   int64
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, time.Now())
		answer := s.answer
		s.mu.Unlock()
		answer(&counter{w, s}, r)
	}))
	t.Cleanup(s.server.Close)
	s.names(version.BuiltIn())
	return s
}

// counter counts what was sent.
type counter struct {
	http.ResponseWriter

	site *site
}

func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.site.mu.Lock()
	defer c.site.mu.Unlock()
	c.site.sent += int64(n)
	return n, err
}

func (s *site) answers(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// names makes the page name a version.
func (s *site) names(v version.Version) {
	s.answers(func(w http.ResponseWriter, _ *http.Request) { webclient.Serve(w, webclient.Version(v), "", nil) })
}

// fails makes the page fail.
func (s *site) fails(failure webclient.Failure) {
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		webclient.Serve(w, webclient.Version(newer(1)), failure, func() { <-r.Context().Done() })
	})
}

// times returns when the page was asked for.
func (s *site) times() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// newer returns a version some steps newer than the built-in one.
func newer(steps int) version.Version {
	v := version.BuiltIn()
	v[2] = uint32(int(v[2]) + steps)
	return v
}

// file is a store that a test may close before its end.
type file struct {
	*store.Store

	close func()
}

// opened opens a store on a file.
func opened(t *testing.T, path string) file {
	t.Helper()
	return open(t, store.Config{Path: path})
}

func open(t *testing.T, config store.Config) file {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	kept, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	closed := sync.OnceFunc(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(closed)
	return file{kept, closed}
}

// run runs a keeper until the test ends, or until it is stopped. Its pauses are long unless
// change shortens them.
func run(t *testing.T, s *site, kept file, change func(*version.Config)) (keeper *version.Chooser, stop func()) {
	t.Helper()
	client, err := transport.NewClient("ws://" + s.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	config := version.Config{
		Store: kept.Devices, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Every: 24 * time.Hour, Patience: patience, PauseMin: time.Hour, PauseMax: time.Hour,
	}
	if change != nil {
		change(&config)
	}
	if keeper, err = version.New(config); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- keeper.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	<-keeper.Ready()
	keeper.By(client)
	return keeper, stop
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-limit.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestNewestVersionIsLookedUpAtTheStartAndEveryDay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.names(newer(1))
	keeper, _ := run(t, s, opened(t, filepath.Join(t.TempDir(), "recado.db")), func(c *version.Config) { c.Every = 50 * time.Millisecond })
	until(t, "the version is looked up", func() bool { return keeper.Current() == newer(1) })
	s.names(newer(2))
	until(t, "it is looked up again", func() bool { return keeper.Current() == newer(2) })
	for _, pause := range gaps(s.times()) {
		if pause < 50*time.Millisecond {
			t.Errorf("looked up again after %s", pause)
		}
	}
}

// gaps returns the times between each look-up and the one before.
func gaps(times []time.Time) []time.Duration {
	var all []time.Duration
	for i := 1; i < len(times); i++ {
		all = append(all, times[i].Sub(times[i-1]))
	}
	return all
}

// Whatever the page does, the built-in version is claimed, and words say what was wrong.
func TestPageOfNoUse(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		answer  func(*site)
		trouble string
	}{
		"down":    {func(s *site) { s.fails(webclient.Down) }, "answered with status 503"},
		"garbage": {func(s *site) { s.fails(webclient.Garbage) }, "names no version"},
		"100 MB":  {func(s *site) { s.fails(webclient.Huge) }, "longer than 4 MiB"},
		"endless": {func(s *site) { s.fails(webclient.Endless) }, "did not come within 100ms"},
		"gone":    {func(s *site) { s.server.Close() }, "can't be reached"},
		"older":   {func(s *site) { s.names(newer(-1)) }, "names an older version, " + newer(-1).String()},
		"refused": {func(*site) {}, "which is refused too"},
		"too large a number": {func(s *site) {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprint(w, `"client_revision":99999999999999999999,`)
			})
		}, "names no version"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			c.answer(s)
			keeper, _ := run(t, s, opened(t, filepath.Join(t.TempDir(), "recado.db")), func(c *version.Config) {
				if name == "endless" {
					c.Patience = 100 * time.Millisecond
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := keeper.Refused(ctx, version.BuiltIn())
			if gateway.KindOf(err) != gateway.PlatformFailed || !strings.Contains(err.Error(), c.trouble) ||
				!strings.Contains(err.Error(), version.BuiltIn().String()) {
				t.Errorf("the error is %v", err)
			}
			report := keeper.Report()
			if keeper.Current() != version.BuiltIn() || report.Source != gateway.VersionBuiltIn || !strings.Contains(report.Trouble, c.trouble) ||
				report.RefusedSince.IsZero() {
				t.Errorf("reported %+v", report)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.sent > 20<<20 { // what was read, and what waits in the system's buffers
				t.Errorf("%d bytes were sent", s.sent)
			}
		})
	}
}

func TestRefusalsAtTheSameTimeCauseOneLookUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keeper, _ := run(t, s, opened(t, filepath.Join(t.TempDir(), "recado.db")), nil)
	until(t, "it is looked up at the start", func() bool { return !keeper.Report().LookedUpAt.IsZero() })
	s.names(newer(1))
	var sessions sync.WaitGroup
	for range 50 {
		sessions.Go(func() {
			if err := keeper.Refused(t.Context(), version.BuiltIn()); err != nil {
				t.Error(err)
			}
			if keeper.Current() != newer(1) {
				t.Errorf("to claim: %s", keeper.Current())
			}
		})
	}
	sessions.Wait()
	if asked := len(s.times()); asked != 2 {
		t.Errorf("looked up %d times, want once more than at the start", asked)
	}
	if report := keeper.Report(); report.RefusedSince.IsZero() {
		t.Errorf("before a login: %+v", report)
	}
	keeper.Accepted(t.Context(), newer(1))
	if report := keeper.Report(); !report.RefusedSince.IsZero() || report.Source != gateway.VersionLookedUp || report.Trouble != "" {
		t.Errorf("after a login: %+v", report)
	}
}

// As long as nothing helps, the pauses between look-ups grow; when something does, who waits
// is woken.
func TestPausesGrow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.names(newer(1))
	const first = 40 * time.Millisecond
	keeper, _ := run(t, s, opened(t, filepath.Join(t.TempDir(), "recado.db")), func(c *version.Config) {
		c.PauseMin, c.PauseMax = first, 4*first
	})
	until(t, "it is looked up at the start", func() bool { return keeper.Current() == newer(1) })
	for _, refused := range []version.Version{newer(1), version.BuiltIn()} {
		err := keeper.Refused(t.Context(), refused)
		if refused == newer(1) && err != nil {
			t.Errorf("the built-in version is left: %v", err)
		} else if refused != newer(1) && (err == nil || !strings.Contains(err.Error(), newer(1).String()+", which is refused too")) {
			t.Errorf("the error is %v", err)
		}
	}
	until(t, "it is looked up some times", func() bool { return len(s.times()) >= 6 })
	pauses := gaps(s.times())[1:] // the first refusal waits for nothing
	for i, least := range []time.Duration{first, 2 * first, 4 * first, 4 * first} {
		if pauses[i] < least-10*time.Millisecond {
			t.Errorf("pause %d was %s, want %s", i, pauses[i], least)
		}
	}
	s.names(newer(2))
	for keeper.Current() != newer(2) {
		keeper.Await(t.Context())
	}
	if err := keeper.Refused(t.Context(), newer(1)); err != nil {
		t.Errorf("another one could be claimed: %v", err)
	}
}

// Who comes right after a look-up is answered at once, and woken when another session is
// accepted.
func TestNoLookUpWithinThePause(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	keeper, _ := run(t, s, opened(t, filepath.Join(t.TempDir(), "recado.db")), nil)
	for range 3 {
		if err := keeper.Refused(t.Context(), version.BuiltIn()); err == nil {
			t.Error("there is none to claim, and no error")
		}
	}
	if asked := len(s.times()); asked > 2 {
		t.Errorf("looked up %d times", asked)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		keeper.Await(t.Context())
	}()
	keeper.Accepted(t.Context(), version.BuiltIn())
	<-waited
}

func TestWhatWasFoundSurvivesARestart(t *testing.T) {
	t.Parallel()
	for name, config := range cases.Sorted(map[string]func(*testing.T) store.Config{
		"SQLite": func(t *testing.T) store.Config {
			t.Helper()
			return store.Config{Path: filepath.Join(t.TempDir(), "recado.db")}
		},
		"PostgreSQL": func(t *testing.T) store.Config {
			t.Helper()
			return store.Config{URL: postgres.Start(t)}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			survivesARestart(t, config(t))
		})
	}
}

func survivesARestart(t *testing.T, config store.Config) {
	t.Helper()
	s := newSite(t)
	s.names(newer(5))
	kept := open(t, config)
	keeper, stop := run(t, s, kept, nil)
	until(t, "it is looked up", func() bool { return keeper.Current() == newer(5) })
	at := keeper.Report().LookedUpAt
	until(t, "it is kept", func() bool {
		value, err := kept.Devices.FindDeviceKey(t.Context(), 0, "client version", "")
		return err == nil && value != nil
	})
	stop()
	kept.close()
	keeper, _ = run(t, s, open(t, config), nil)
	if report := keeper.Report(); keeper.Current() != newer(5) || !report.LookedUpAt.Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("after a restart: %+v", report)
	}
	if asked := len(s.times()); asked != 1 {
		t.Errorf("looked up %d times within a day", asked)
	}
}

// A version that was accepted stays, whatever the page names later. One that was only looked
// up gives way, also if the platform refuses it and accepts the one before.
func TestVersionDoesNotGoBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.names(newer(2))
	path := filepath.Join(t.TempDir(), "recado.db")
	kept := opened(t, path)
	keeper, stop := run(t, s, kept, func(c *version.Config) { c.Every = 5 * time.Millisecond })
	until(t, "it is looked up", func() bool { return keeper.Current() == newer(2) })
	s.names(newer(1))
	until(t, "an older one is looked up", func() bool { return keeper.Current() == newer(1) })
	s.names(newer(2))
	until(t, "it is looked up again", func() bool { return keeper.Current() == newer(2) })
	keeper.Accepted(t.Context(), newer(2))
	asked := len(s.times())
	s.names(newer(1))
	until(t, "the page was asked twice more", func() bool { return len(s.times()) > asked+2 })
	if got := keeper.Current(); got != newer(2) {
		t.Errorf("went back to %s", got)
	}
	s.names(newer(9))
	until(t, "a newer one is looked up", func() bool { return keeper.Current() == newer(9) })
	if err := keeper.Refused(t.Context(), newer(9)); err != nil || keeper.Current() != newer(2) {
		t.Errorf("refused, and to claim is %s (%v)", keeper.Current(), err)
	}
	stop()
	s.fails(webclient.Down)
	keeper, _ = run(t, s, kept, nil)
	if got := keeper.Refused(t.Context(), newer(9)); got != nil || keeper.Current() != newer(2) {
		t.Errorf("after a restart: to claim is %s (%v)", keeper.Current(), got)
	}
}

func TestOperatorsVersionIsNotLookedUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.names(newer(5))
	set := newer(-3)
	keeper, _ := run(t, s, opened(t, filepath.Join(t.TempDir(), "recado.db")), func(c *version.Config) {
		c.Set, c.Every, c.PauseMin, c.PauseMax = &set, time.Millisecond, time.Millisecond, time.Millisecond
	})
	if err := keeper.Refused(t.Context(), set); err == nil || !strings.Contains(err.Error(), "--platform-version") {
		t.Errorf("the error is %v", err)
	}
	report := keeper.Report()
	if keeper.Current() != set || !keeper.Fixed() || report.Source != gateway.VersionSet || report.RefusedSince.IsZero() || !report.NextLookUp.IsZero() {
		t.Errorf("reported %+v", report)
	}
	keeper.Accepted(t.Context(), set)
	if !keeper.Report().RefusedSince.IsZero() {
		t.Error("it counts as refused after a login")
	}
	if asked := len(s.times()); asked != 0 {
		t.Errorf("looked up %d times", asked)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	if got, err := version.Parse("2.3000.1234567"); err != nil || got != (version.Version{2, 3000, 1234567}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, wrong := range []string{"", "2.3000", "2.3000.1.2", "2.3000.-1", "2.3000.4294967296", "a.b.c"} {
		if got, err := version.Parse(wrong); err == nil || got != (version.Version{}) {
			t.Errorf("%q: %v, %v", wrong, got, err)
		}
	}
}

// Before a session has reached the platform nobody knows by which way it may be reached: then
// nothing is looked up.
func TestNothingIsLookedUpBeforeASessionConnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keeper, err := version.New(version.Config{
			Store: nowhere{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			Every: time.Minute, Patience: patience, PauseMin: time.Hour, PauseMax: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- keeper.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		if report := keeper.Report(); report.Trouble != "" {
			t.Errorf("it was looked up: %+v", report)
		}
		asked := make(chan string, 1)
		keeper.By(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked <- r.URL.Host
			return nil, errors.New("no page here")
		})})
		if host := <-asked; host != "web.whatsapp.com" {
			t.Errorf("asked was %s", host)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// nowhere is a store with nothing in it.
type nowhere struct{}

func (nowhere) FindDeviceKey(context.Context, int64, string, string) ([]byte, error) { return nil, nil }

func (nowhere) WriteDeviceKeys(context.Context, string, gateway.DeviceKeyChanges) error { return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
