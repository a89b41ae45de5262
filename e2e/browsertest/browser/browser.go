// Package browser gives tests a real browser: one Chromium for a test binary, with a
// tab in a session of its own for each test. It uses pages as a person does, and keeps
// what a person would not see: words on the console, and requests that leave the machine.
// Only tests import it.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

const (
	// startPatience is how long Chromium may take to start, patience how long an action
	// on a page may take. They are long, so that tests don't fail on a busy machine.
	startPatience = 90 * time.Second
	patience      = 60 * time.Second
	pollInterval  = 20 * time.Millisecond

	// nothingOutside are the rules for names with which none but this machine's is known.
	nothingOutside = "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"

	// required is the value of the environment variable RECADO_TEST_BROWSER with which a
	// missing Chromium is a failure.
	required = "required"
)

// shared is the browser of this test binary. It is a package variable so that all tests use
// the same one.
var shared chromium //nolint:gochecknoglobals // see above

// chromium is a running browser.
type chromium struct {
	once  sync.Once
	err   error
	ctx   context.Context //nolint:containedctx // chromedp keeps the browser in it
	agent string          // what the browser calls itself in requests
	stop  func()

	mu     sync.Mutex
	unread []string // what the library could not read
}

// Main runs the tests of a binary, ends the browser that they have used, and exits. TestMain
// calls it. A binary that is killed takes the browser with it on Linux.
func Main(m *testing.M) {
	code := m.Run()
	shared.end()
	// An event that is lost could hide a problem, but a Chromium that is newer than the
	// library is none.
	for _, message := range shared.unread {
		fmt.Fprintln(os.Stderr, "not understood of what Chromium says:", message)
	}
	os.Exit(code)
}

// end ends the browser, if it was started. No test may run any more.
func (c *chromium) end() {
	c.once.Do(func() { c.err = errors.New("browser: the tests are over") })
	if c.stop != nil {
		c.stop()
	}
}

// Need skips the test if Chromium is not installed, or fails it as New does.
func Need(tb testing.TB) {
	tb.Helper()
	find(tb)
}

// find returns the path of Chromium, and skips or fails the test if there is none.
func find(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("RECADO_TEST_BROWSER") == required {
		tb.Fatal("Chromium is not installed, and RECADO_TEST_BROWSER says that it is required")
	}
	tb.Skip("Chromium is not installed")
	return ""
}

// start starts the browser in a folder of its own and waits until it answers.
func (c *chromium) start(program string, more ...chromedp.ExecAllocatorOption) error {
	var process *exec.Cmd
	flags := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program), chromedp.WSURLReadTimeout(startPatience),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			alone(cmd)
			process = cmd
		}),
		// Nothing outside is known by name, so that nothing leaves the machine, whatever
		// a page or the browser itself asks for.
		chromedp.Flag("host-resolver-rules", nothingOutside),
	}
	for _, flag := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check",
		"disable-background-networking", "disable-component-update", "disable-sync", "disable-extensions",
		"disable-dev-shm-usage", "disable-default-apps", "disable-breakpad", "disable-crash-reporter", "metrics-recording-only",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding",
		"hide-scrollbars", "mute-audio", "enable-automation",
		// Who asks for the microphone gets one that beeps.
		"use-fake-device-for-media-stream", "use-fake-ui-for-media-stream",
	} {
		flags = append(flags, chromedp.Flag(flag, true))
	}
	flags = append(flags, chromedp.Flag("password-store", "basic"), chromedp.Flag("force-color-profile", "srgb"))
	flags = append(flags, more...) // the last one of a name counts
	alive, kill := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, forget := chromedp.NewContext(alive, chromedp.WithErrorf(func(format string, args ...any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if message := fmt.Sprintf(format, args...); strings.HasPrefix(message, "could not unmarshal event") {
			c.unread = append(c.unread, message) // the others do without what the library draws from events
		}
	}))
	c.ctx = ctx
	c.stop = func() {
		// The group is ended first: as long as its leader was not waited for, nobody else
		// can have its number.
		if process != nil && process.Process != nil {
			killGroup(process)
		}
		kill() // waits for the end, and removes the folder
		forget()
	}
	started := make(chan error, 1)
	go func() {
		started <- chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
			var err error
			_, _, _, c.agent, _, err = browser.GetVersion().Do(ctx)
			return err
		}))
	}()
	timer := time.NewTimer(startPatience)
	defer timer.Stop()
	select {
	case err := <-started:
		if err != nil {
			return fmt.Errorf("browser: start Chromium: %w", err)
		}
		return nil
	case <-timer.C:
		return errors.New("browser: Chromium does not answer")
	}
}
