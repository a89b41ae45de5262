// What happens in a tab that a person does not see.

package browser

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// Request is something that a page has fetched.
type Request struct {
	URL   string
	Kind  string // Document, Stylesheet, Script, Image, Media, EventSource and so on
	Bytes int64  // that came over the wire, headers included
}

// watcher collects the problems and the requests of one tab. It is safe for concurrent use.
type watcher struct {
	mu       sync.Mutex
	allowed  map[string]bool // hosts with their ports
	forgiven []string
	problems []string
	requests map[network.RequestID]*Request
	order    []network.RequestID
	world    runtime.ExecutionContextID // of the extension's script in the page; 0: none
}

func newWatcher(base string) *watcher {
	w := &watcher{allowed: map[string]bool{}, requests: map[network.RequestID]*Request{}}
	w.allow(base)
	return w
}

func (w *watcher) allow(address string) {
	if parsed, err := url.Parse(address); err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.allowed[parsed.Host] = true
	}
}

// Allow lets pages make requests to another address too.
func (p *Page) Allow(address string) { p.seen.allow(address) }

// Forgive makes problems with that text in them none from now on, for a test that causes
// them.
func (p *Page) Forgive(text string) {
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	p.seen.forgiven = append(p.seen.forgiven, text)
}

// Problems returns what went wrong in the tab since the last call: errors and warnings on
// the console, exceptions that nobody caught, and requests that do not go to the program.
func (p *Page) Problems() []string {
	p.tb.Helper()
	// What came before the answer to this is known by then.
	p.Eval(`1`, nil)
	return p.seen.take()
}

// Requests returns what the page has fetched since it was opened.
func (p *Page) Requests() []Request {
	p.tb.Helper()
	p.Eval(`1`, nil)
	w := p.seen
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]Request, len(w.order))
	for n, id := range w.order {
		list[n] = *w.requests[id]
	}
	return list
}

func (w *watcher) forgetRequests() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.requests)
	w.order = nil
}

func (w *watcher) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.problems
	w.problems = nil
	return taken
}

func (w *watcher) peek() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.problems)
}

func (w *watcher) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	problem := fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(w.forgiven, func(text string) bool { return strings.Contains(problem, text) }) {
		w.problems = append(w.problems, problem)
	}
}

// event is called for everything that Chromium reports of the tab, in order.
func (w *watcher) event(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning || e.Type == runtime.APITypeAssert {
			var text strings.Builder
			for _, arg := range e.Args {
				text.WriteString(" " + string(arg.Value) + arg.Description)
			}
			w.add("console %s:%s", e.Type, text.String())
		}
	case *runtime.EventExceptionThrown:
		w.add("exception: %s", e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			w.add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventExecutionContextCreated:
		if strings.HasPrefix(e.Context.Origin, extensionScheme) {
			w.setExtension(e.Context.ID)
		}
	case *runtime.EventExecutionContextsCleared:
		w.setExtension(0)
	case *network.EventRequestWillBeSent:
		w.sent(e)
	case *network.EventLoadingFinished:
		w.size(e.RequestID, func(r *Request) { r.Bytes = int64(e.EncodedDataLength) })
	case *network.EventDataReceived: // a stream does not finish
		w.size(e.RequestID, func(r *Request) { r.Bytes += e.EncodedDataLength })
	}
}

func (w *watcher) setExtension(world runtime.ExecutionContextID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.world = world
}

func (w *watcher) extension() runtime.ExecutionContextID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.world
}

func (w *watcher) sent(e *network.EventRequestWillBeSent) {
	address, err := url.Parse(e.Request.URL)
	w.mu.Lock()
	outside := err != nil || address.Host != "" && !w.allowed[address.Host]
	if w.requests[e.RequestID] == nil {
		w.order = append(w.order, e.RequestID)
		w.requests[e.RequestID] = &Request{}
	}
	r := w.requests[e.RequestID]
	r.URL, r.Kind = e.Request.URL, string(e.Type)
	w.mu.Unlock()
	if outside {
		w.add("a request to %s", e.Request.URL)
	}
}

func (w *watcher) size(id network.RequestID, set func(*Request)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.requests[id]; r != nil {
		set(r)
	}
}
