// A page in a tab: opening it, reading it, and waiting for what it is to show.

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// Page is a tab. Every method fails the test, with words about what was awaited, if it can't
// do what it says within a minute. One test uses a page at a time.
type Page struct {
	tb   testing.TB
	base string
	ctx  context.Context //nolint:containedctx // chromedp keeps the tab in it
	seen *watcher

	browser       *chromium
	session       cdp.BrowserContextID // what its cookies belong to; empty: the browser's own
	root          string               // of what selectors find: an expression of JavaScript
	extension     bool                 // JavaScript runs where that of an extension does
	authenticator webauthn.AuthenticatorID
}

// New opens an empty tab at the program with the address base. The tab has cookies of its
// own, and is closed when the test ends. Whatever goes wrong on its pages fails the test
// then, unless Problems has returned it.
//
// If Chromium is not installed, the test is skipped, or fails if the environment variable
// RECADO_TEST_BROWSER is "required".
func New(tb testing.TB, base string) *Page {
	tb.Helper()
	program := find(tb)
	shared.once.Do(func() { shared.err = shared.start(program) })
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	var session cdp.BrowserContextID
	if err := shared.ask(func(ctx context.Context) (err error) {
		session, err = target.CreateBrowserContext().Do(ctx)
		return err
	}); err != nil {
		tb.Fatalf("open a session: %v", err)
	}
	tb.Cleanup(func() {
		if err := shared.ask(func(ctx context.Context) error { return target.DisposeBrowserContext(session).Do(ctx) }); err != nil {
			tb.Errorf("close a session: %v", err)
		}
	})
	return shared.open(tb, base, session)
}

// For returns the same tab for a subtest, which is the one that its failures end. What goes
// wrong on its pages still fails the test that has opened it.
func (p *Page) For(tb testing.TB) *Page {
	tb.Helper()
	same := *p
	same.tb = tb
	return &same
}

// Beside opens another tab with the same cookies.
func (p *Page) Beside() *Page {
	p.tb.Helper()
	return p.browser.open(p.tb, p.base, p.session)
}

func (c *chromium) open(tb testing.TB, base string, session cdp.BrowserContextID) *Page {
	tb.Helper()
	p := &Page{tb: tb, base: base, browser: c, session: session, root: "document", seen: newWatcher(base)}
	// A session has no window at first, and a tab needs one.
	var id target.ID
	if err := c.ask(func(ctx context.Context) (err error) {
		id, err = target.CreateTarget("about:blank").WithBrowserContextID(session).WithNewWindow(true).Do(ctx)
		return err
	}); err != nil {
		tb.Fatalf("open a tab: %v", err)
	}
	var closeTab context.CancelFunc
	p.ctx, closeTab = chromedp.NewContext(c.ctx, chromedp.WithTargetID(id))
	chromedp.ListenTarget(p.ctx, p.seen.event)
	tb.Cleanup(func() {
		for _, problem := range p.seen.take() {
			tb.Errorf("in the browser: %s", problem)
		}
		closeTab()
	})
	// The first run takes the tab. It must not have a time limit, which would close the
	// tab as well.
	if err := chromedp.Run(p.ctx, c.prepare(session)); err != nil {
		tb.Fatalf("open a tab: %v", err)
	}
	return p
}

// ask asks something of the browser itself.
func (c *chromium) ask(ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		return ask(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
	}))
}

// Open goes to a path of the program and waits until the page is loaded.
func (p *Page) Open(path string) {
	p.tb.Helper()
	p.Visit(p.base + path)
}

// Visit goes to any address, which Allow has to know, and waits until the page is loaded.
func (p *Page) Visit(address string) {
	p.tb.Helper()
	p.seen.forgetRequests()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, failed, _, err := page.Navigate(address).Do(ctx)
		if err == nil && failed != "" {
			err = errors.New(failed)
		}
		return err
	})); err != nil {
		p.fail("the page "+address, err.Error())
	}
}

// Path is the path and query of the page that is shown.
func (p *Page) Path() string {
	p.tb.Helper()
	var path string
	p.Eval(`location.pathname + location.search`, &path)
	return path
}

// Text is what a person can read of the first element that the selector finds.
func (p *Page) Text(selector string) string {
	p.tb.Helper()
	p.Await(selector)
	var text string
	p.Eval(p.root+`.querySelector(`+quoted(selector)+`)?.innerText ?? ""`, &text)
	return text
}

// Count is how many elements the selector finds that can be seen.
func (p *Page) Count(selector string) int {
	p.tb.Helper()
	var count int
	p.Eval(`[...`+p.root+`.querySelectorAll(`+quoted(selector)+`)].filter((e) => e.checkVisibility()).length`, &count)
	return count
}

// Await waits until an element that the selector finds can be seen.
func (p *Page) Await(selector string) {
	p.tb.Helper()
	p.AwaitTrue(selector, `[...`+p.root+`.querySelectorAll(`+quoted(selector)+`)].some((e) => e.checkVisibility())`)
}

// AwaitText waits until an element that the selector finds can be seen with the text in it.
func (p *Page) AwaitText(selector, text string) {
	p.tb.Helper()
	p.AwaitTrue(fmt.Sprintf("%q in %s", text, selector),
		`[...`+p.root+`.querySelectorAll(`+quoted(selector)+`)].some((e) => e.checkVisibility() && e.innerText.includes(`+quoted(text)+`))`)
}

// AwaitGone waits until no element that the selector finds can be seen.
func (p *Page) AwaitGone(selector string) {
	p.tb.Helper()
	p.AwaitTrue("the end of "+selector, `![...`+p.root+`.querySelectorAll(`+quoted(selector)+`)].some((e) => e.checkVisibility())`)
}

// AwaitPath waits until the page with that path is loaded.
func (p *Page) AwaitPath(path string) {
	p.tb.Helper()
	p.AwaitTrue("the page "+path, `location.pathname === `+quoted(path)+` && document.readyState === "complete"`)
}

// AwaitTrue waits until a JavaScript expression, or its promise, is true; what says what that
// means.
func (p *Page) AwaitTrue(what, expression string) {
	p.tb.Helper()
	p.retry(what, func(ctx context.Context) (string, error) {
		var holds bool
		if err := p.evaluate(expression, &holds, awaited).Do(ctx); err != nil || !holds {
			return "not yet", err
		}
		return "", nil
	})
}

// Eval evaluates a JavaScript expression, waits for its promise if it is one, and reads the
// result into out; a nil out drops it.
func (p *Page) Eval(expression string, out any) {
	p.tb.Helper()
	p.run("the result of "+cut(expression, 200), p.evaluate(expression, out, chromedp.EvalAsValue, awaited))
}

// evaluate evaluates an expression where the page's, or the extension's, own is.
func (p *Page) evaluate(expression string, out any, options ...chromedp.EvaluateOption) chromedp.Action {
	if !p.extension {
		return chromedp.Evaluate(expression, out, options...)
	}
	return chromedp.ActionFunc(func(ctx context.Context) error {
		world := p.seen.extension()
		if world == 0 {
			return errors.New("no extension has a script in the page")
		}
		return chromedp.Evaluate(expression, out, append(options, func(params *runtime.EvaluateParams) *runtime.EvaluateParams {
			return params.WithContextID(world)
		})...).Do(ctx)
	})
}

// Cookies are those that the browser would send to the page that is shown.
func (p *Page) Cookies() []*network.Cookie {
	p.tb.Helper()
	var cookies []*network.Cookie
	p.run("the cookies", chromedp.ActionFunc(func(ctx context.Context) (err error) {
		cookies, err = network.GetCookies().Do(ctx)
		return err
	}))
	return cookies
}

// Screenshot writes what the tab shows as a PNG.
func (p *Page) Screenshot(file string) {
	p.tb.Helper()
	var picture []byte
	p.run("a picture of the page", chromedp.CaptureScreenshot(&picture))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // pictures are for everybody
		p.tb.Fatal(err)
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil { //nolint:gosec // as above
		p.tb.Fatal(err)
	}
}

// run does something within the time limit.
func (p *Page) run(what string, actions ...chromedp.Action) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.fail(what, err.Error())
	}
}

// retry tries something until it answers with neither a reason nor an error. Errors are
// tried again too: a page that is just being left has nothing to ask.
func (p *Page) retry(what string, try func(ctx context.Context) (why string, err error)) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		var why string
		err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) (err error) {
			why, err = try(ctx)
			return err
		}))
		if err == nil && why == "" {
			return
		}
		if err != nil {
			why = err.Error()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			p.fail(what, why)
		}
	}
}

// fail ends the test with what was awaited and what there is instead.
func (p *Page) fail(what, why string) {
	p.tb.Helper()
	var shown struct{ URL, Text string }
	ctx, cancel := context.WithTimeout(p.ctx, patience/10)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate(`({URL: location.href, Text: document.body.innerText})`, &shown)) // it only explains
	p.tb.Fatalf("waited in vain for %s: %s\nThe browser is at %s, which shows:\n%s\nProblems: %s",
		what, why, shown.URL, cut(shown.Text, 3000), strings.Join(p.seen.peek(), "\n"))
}

func cut(text string, length int) string {
	if len(text) <= length {
		return text
	}
	return text[:length] + " …"
}

// quoted is the text as a literal of JavaScript.
func quoted(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be written
	}
	return string(literal)
}
