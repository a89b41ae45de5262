package live_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/dashboard/live"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// rig is a Pulse that serves one part, which counts its renderings.
type rig struct {
	bell     eventlog.Bell
	server   *httptest.Server
	maxAge   time.Duration
	read     atomic.Int64
	rendered atomic.Int64
	shown    atomic.Pointer[string]
	ended    chan struct{}
	stopping chan struct{}
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{ended: make(chan struct{}), stopping: make(chan struct{})}
	r.show("first")
	pulse, err := live.New(live.Config{Bell: &r.bell, Stopping: r.stopping, Logger: slog.New(slog.DiscardHandler), Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		pulse.Serve(w, request, r.ended, live.Part{
			Key: "part", InstanceID: "one", MaxAge: r.maxAge,
			Read: func(context.Context) (any, error) {
				r.read.Add(1)
				return []string{*r.shown.Load()}, nil
			},
			Render: func(shown any) ([]byte, error) {
				r.rendered.Add(1)
				return []byte(shown.([]string)[0]), nil
			},
		})
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *rig) show(text string) { r.shown.Store(&text) }

func (r *rig) ring(instanceID string) { r.bell.Ring([]eventlog.Event{{InstanceID: instanceID}}) }

// open opens a stream, and returns what reads its next view: "" at its end.
func (r *rig) open(t *testing.T) func() string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := r.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	return func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		return ""
	}
}

// A part is sent at once, and again when events of its instance changed it.
func TestStreamsShowWhatChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	next := r.open(t)
	if got := next(); got != "first" {
		t.Fatalf("shows %q", got)
	}
	r.show("second")
	r.ring("one")
	if got := next(); got != "second" {
		t.Errorf("then shows %q", got)
	}
}

// Streams of the same part share its renderings, and a part that is the same is not sent
// again.
func TestStreamsShareRenderings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const streams = 20
	var next [streams]func() string
	for n := range next {
		next[n] = r.open(t)
		next[n]()
	}
	if got := r.rendered.Load(); got != 1 {
		t.Errorf("%d streams took %d renderings", streams, got)
	}
	for change := range 3 {
		r.ring("other") // of no interest
		r.ring("one")   // changes nothing
		r.show(strconv.Itoa(change))
		r.ring("one")
		for n := range next {
			if got := next[n](); got != strconv.Itoa(change) {
				t.Fatalf("stream %d shows %q after change %d", n, got, change)
			}
		}
	}
	if got := r.rendered.Load(); got != 1+3 {
		t.Errorf("three changes took %d renderings", got-1)
	}
}

// A part that is read anew for its age is rendered when what it shows has changed.
func TestOldPartsAreReadAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.maxAge = time.Millisecond
	next := r.open(t)
	next()
	await.Until(t, "the part to be read again", func() bool { return r.read.Load() > 3 })
	if got := r.rendered.Load(); got != 1 {
		t.Errorf("what is the same was rendered %d times", got)
	}
	r.show("second")
	if got := next(); got != "second" {
		t.Errorf("then shows %q", got)
	}
}

// A stream ends with the sign-in of its visitor, and with the program.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range cases.Sorted(map[string]func(r *rig){
		"signed out": func(r *rig) { close(r.ended) },
		"stopping":   func(r *rig) { close(r.stopping) },
	}) {
		r := newRig(t)
		next := r.open(t)
		next()
		end(r)
		if got := next(); got != "" {
			t.Errorf("%s: still shows %q", name, got)
		}
	}
}
