package webhook_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
)

// written is what a service has logged.
type written struct {
	mu    sync.Mutex
	lines []string
}

func (w *written) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, string(line))
	return len(line), nil
}

// with returns the lines that have all of the words.
func (w *written) with(words ...string) (found []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.lines {
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(line, word)
		}
		if !missing {
			found = append(found, line)
		}
	}
	return found
}

func (w *written) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// The log says once that an endpoint has begun to fail, and once that it works again, however often
// it was tried in between.
func TestEndpointThatFailsIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		fail func(w http.ResponseWriter) int
		why  string
	}{
		"answers 500": {func(http.ResponseWriter) int { return http.StatusInternalServerError }, "status=500"},
		"hangs up":    {func(http.ResponseWriter) int { panic(http.ErrAbortHandler) }, `error="the connection ended without an answer"`},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fails atomic.Bool
			var tries atomic.Int64
			fails.Store(true)
			endpoint := receive(t, func(w http.ResponseWriter, _ *http.Request, _ received) int {
				tries.Add(1)
				if fails.Load() {
					return test.fail(w)
				}
				return http.StatusOK
			})
			var log written
			r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: quick(), Logger: log.logger()})
			id := r.hooked(endpoint.server.URL)
			r.append(id, "chat", 1, 2, 3)
			eventually(t, "several tries", func() bool { return tries.Load() > 3 })
			fails.Store(false)
			endpoint.waitFor(3)
			eventually(t, "the line that it works again", func() bool { return len(log.with("works again")) > 0 })
			address, err := url.Parse(endpoint.server.URL)
			r.check(err)
			about := []string{"instance_id=" + id, "webhook_id=", "host=" + address.Host}
			if lines := log.with(append(about, "the endpoint of a webhook fails", "level=WARN", "event_id=", test.why)...); len(lines) != 1 || len(log.with("webhook fails")) != 1 {
				t.Errorf("that it fails is said in %q", log.with("webhook fails"))
			}
			if lines := log.with(append(about, "works again", "level=INFO")...); len(lines) != 1 || len(log.with("works again")) != 1 {
				t.Errorf("that it works again is said in %q", log.with("works again"))
			}
		})
	}
}
