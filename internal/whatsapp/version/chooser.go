// Which version is claimed, and when a newer one is looked up.

package version

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// Store keeps what was found, as rows that all devices share.
type Store interface {
	// FindDeviceKey returns the value of a row; nil if there is none.
	FindDeviceKey(ctx context.Context, device int64, kind, name string) ([]byte, error)
	// WriteDeviceKeys writes changes and returns after the commit.
	WriteDeviceKeys(ctx context.Context, instanceID string, changes gateway.DeviceKeyChanges) error
}

// Config is what a Chooser stands on. All fields are required, but for Set.
type Config struct {
	Store  Store
	Logger *slog.Logger
	Now    func() time.Time

	// Set is an operator's version. It is claimed whatever happens, and nothing is looked
	// up.
	Set *Version
	// Every is how often the newest version is looked up, Patience how long that may take.
	// PauseMin and PauseMax bound the pauses between look-ups that refusals cause. The first
	// of them comes at once.
	Every, Patience, PauseMin, PauseMax time.Duration
}

// Chooser decides which version sessions claim: the newest that was looked up, but none older
// than the built-in one or one that was accepted. If the platform refuses the newest, the
// one before it is tried. A Chooser is safe for concurrent use.
type Chooser struct {
	config Config
	ready  chan struct{}
	woken  chan struct{} // for Run: look at the time anew

	mu       sync.Mutex
	way      *http.Client // of the last session that has reached the platform; nil: none has
	found    finding
	accepted Version // the newest that the platform has accepted
	refused  map[Version]bool
	since    time.Time // when the refusals began; zero: the platform accepts what is claimed
	tried    time.Time // when the last look-up began
	pause    time.Duration
	notYet   time.Time     // refusals cause no look-up before
	trouble  error         // why the last look-up was of no use
	news     chan struct{} // closed and made anew after a look-up, and when a version is accepted again
}

// finding is a version that was looked up.
type finding struct {
	version Version
	at      time.Time
}

// New makes a keeper. What was found earlier is not read before Run.
func New(config Config) (*Chooser, error) {
	if err := required.Check("version", config, "Set"); err != nil {
		return nil, err
	}
	if config.Every <= 0 || config.Patience <= 0 || config.PauseMin <= 0 || config.PauseMax < config.PauseMin {
		return nil, errors.New("version: the times of the configuration are none")
	}
	return &Chooser{
		config: config, ready: make(chan struct{}), woken: make(chan struct{}, 1),
		refused: map[Version]bool{}, pause: config.PauseMin, news: make(chan struct{}),
	}, nil
}

// Ready is closed when Run has read what was found earlier: sessions should start then.
func (k *Chooser) Ready() <-chan struct{} { return k.ready }

// Run reads what was found earlier, and looks the newest version up until ctx ends.
func (k *Chooser) Run(ctx context.Context) error {
	if err := k.read(ctx); err != nil {
		return err
	}
	close(k.ready)
	if k.config.Set != nil {
		<-ctx.Done()
		return nil
	}
	for {
		timer := time.NewTimer(k.wait())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
			k.lookUp(ctx)
		case <-k.woken:
			timer.Stop()
		}
	}
}

// By says how the platform is reached: as a session that reaches it does, whose proxy is not
// gone past. Nothing is looked up before the first session has reached it.
func (k *Chooser) By(way *http.Client) {
	k.mu.Lock()
	first := k.way == nil
	k.way = way
	k.mu.Unlock()
	if first {
		k.wake()
	}
}

// Way is how the platform was reached last; nil if it was not yet.
func (k *Chooser) Way() *http.Client {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.way
}

// wake lets Run look at the time anew.
func (k *Chooser) wake() {
	select {
	case k.woken <- struct{}{}:
	default: // Run looks at the time in any case
	}
}

// wait returns after which time the next look-up comes.
func (k *Chooser) wait() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.way == nil {
		return k.config.Every // By wakes Run before that
	}
	return k.next().Sub(k.config.Now())
}

// next returns when the next look-up comes. The caller holds mu.
func (k *Chooser) next() time.Time {
	last := k.tried
	if k.found.at.After(last) {
		last = k.found.at
	}
	daily := last.Add(k.config.Every)
	if !k.since.IsZero() && k.notYet.Before(daily) {
		return k.notYet
	}
	return daily
}

// lookUp looks the newest version up, and keeps it.
func (k *Chooser) lookUp(ctx context.Context) {
	k.mu.Lock()
	k.tried = k.config.Now()
	way := k.way
	k.mu.Unlock()
	if way == nil {
		return
	}
	newest, err := lookUp(ctx, way, k.config.Patience)
	if ctx.Err() != nil {
		return
	}
	k.note(ctx, newest, err)
	if err != nil {
		k.config.Logger.WarnContext(ctx, "newest version of the web client not found",
			slog.Any("error", err), slog.Any("cause", errors.Unwrap(err)))
		return
	}
	k.write(ctx)
}

// note notes what a look-up has found, and tells those who wait for it.
func (k *Chooser) note(ctx context.Context, newest Version, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	before, now := k.current(), k.config.Now()
	if err == nil {
		k.found = finding{newest, now}
		maps.DeleteFunc(k.refused, func(v Version, _ bool) bool { return v != newest && v != k.floor() })
	}
	k.trouble = err
	if !k.since.IsZero() {
		switch {
		case !k.refused[k.current()]:
			k.pause = k.config.PauseMin
		case err == nil && newest == k.current():
			k.trouble = &failure{text: "the page names version " + newest.String() + ", which is refused too"}
		case err == nil:
			k.trouble = &failure{text: "the page names an older version, " + newest.String()}
		}
		k.notYet = now.Add(k.pause)
		if k.refused[k.current()] {
			k.pause = min(2*k.pause, k.config.PauseMax)
		}
	}
	if after := k.current(); after != before {
		k.config.Logger.InfoContext(ctx, "sessions claim a newer version of the web client from their next connection on",
			slog.String("version", after.String()))
	}
	k.tell()
}

// tell wakes all who wait for news. The caller holds mu.
func (k *Chooser) tell() {
	close(k.news)
	k.news = make(chan struct{})
}

// floor is the version below which none is claimed. The caller holds mu.
func (k *Chooser) floor() Version {
	if floor := BuiltIn(); !floor.LessThan(k.accepted) {
		return floor
	}
	return k.accepted
}

// current returns the version to claim. The caller holds mu.
func (k *Chooser) current() Version {
	if k.config.Set != nil {
		return *k.config.Set
	}
	floor, found := k.floor(), k.found.version
	if floor.LessThan(found) && (!k.refused[found] || k.refused[floor]) {
		return found
	}
	return floor
}

// Current returns the version that a session should claim at its next login.
func (k *Chooser) Current() Version {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current()
}

// Fixed reports whether an operator has set the version.
func (k *Chooser) Fixed() bool { return k.config.Set != nil }

// Accepted says that the platform has accepted a login with a version.
func (k *Chooser) Accepted(ctx context.Context, version Version) {
	k.mu.Lock()
	delete(k.refused, version)
	if !k.since.IsZero() {
		k.config.Logger.InfoContext(ctx, "the platform accepts the version of the web client again",
			slog.String("version", version.String()), slog.Duration("after", k.config.Now().Sub(k.since)))
		k.since, k.pause, k.trouble = time.Time{}, k.config.PauseMin, nil
		k.notYet = k.tried.Add(k.pause)
		k.tell()
	}
	newer := k.config.Set == nil && k.accepted.LessThan(version) && BuiltIn().LessThan(version)
	if newer {
		k.accepted = version
	}
	k.mu.Unlock()
	if newer {
		k.write(ctx)
	}
}

// Refused says that the platform refuses a version as outdated. It returns nil if there is
// another one to claim. It looks the newest one up for that and waits for the answer, unless
// the last look-up was just before. Else the error, a *gateway.Error, says in words why there
// is none. Callers that come together share a look-up.
func (k *Chooser) Refused(ctx context.Context, version Version) error {
	k.mu.Lock()
	k.refused[version] = true
	if !k.refused[k.current()] {
		defer k.mu.Unlock()
		return nil
	}
	if k.since.IsZero() {
		k.since = k.config.Now()
		k.config.Logger.ErrorContext(ctx, "the platform refuses the version of the web client as outdated",
			slog.String("version", version.String()))
	}
	if k.config.Set != nil || k.config.Now().Before(k.notYet) {
		defer k.mu.Unlock()
		return k.why()
	}
	news := k.news
	k.mu.Unlock()
	k.wake()
	select {
	case <-news:
	case <-ctx.Done():
		return ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.refused[k.current()] {
		return nil
	}
	return k.why()
}

// why says why the platform refuses and what comes next. The caller holds mu.
func (k *Chooser) why() error {
	text := "the platform refuses version " + k.current().String() + " of its web client as outdated"
	switch {
	case k.config.Set != nil:
		text += ", which --platform-version names"
	case k.trouble == nil:
		text += "; the newest one is looked up by itself"
	default:
		text += ", and no newer one was found: " + k.trouble.Error() + "; it is looked up again by itself"
	}
	return gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "%s", text)
}

// Await waits, after Refused has failed, until it is worth a try to log in again: after the
// next look-up, or when the platform has accepted another session.
func (k *Chooser) Await(ctx context.Context) {
	k.mu.Lock()
	news, over := k.news, k.since.IsZero() || !k.refused[k.current()]
	k.mu.Unlock()
	if over {
		return
	}
	select {
	case <-news:
	case <-ctx.Done():
	}
}

// Report says which version is claimed, and how the look-ups go.
func (k *Chooser) Report() gateway.ClientVersion {
	k.mu.Lock()
	defer k.mu.Unlock()
	current := k.current()
	report := gateway.ClientVersion{
		Version: current.String(), Source: gateway.VersionLookedUp, LookedUpAt: k.found.at, RefusedSince: k.since,
	}
	if current == BuiltIn() {
		report.Source = gateway.VersionBuiltIn
	}
	if k.config.Set != nil {
		report.Source = gateway.VersionSet
		return report
	}
	report.NextLookUp = k.next()
	if k.trouble != nil {
		report.Trouble = k.trouble.Error()
	}
	return report
}
