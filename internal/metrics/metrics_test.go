package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what a program looks like, and how often somebody has looked.
type world struct {
	now    time.Time
	sample metrics.Sample
	err    error
	looks  int
}

func (*world) Now() metrics.Present { return metrics.Present{Ready: true} }

func (w *world) Sample(context.Context) (metrics.Sample, error) {
	w.looks++
	return w.sample, w.err
}

func (w *world) start(t *testing.T) *metrics.Metrics {
	t.Helper()
	m, err := metrics.New(metrics.Config{Sampler: w, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func page(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if answer.Code != http.StatusOK {
		t.Fatalf("answered %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// broken is a client that has gone.
type broken struct{ http.ResponseWriter }

func (broken) Write([]byte) (int, error) { return 0, &net.OpError{Op: "write", Err: syscall.EPIPE} }

// A reader of the page who leaves is no error of ours.
func TestNobodyReadsThePage(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	m, err := metrics.New(metrics.Config{Sampler: &world{now: time.Now()}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	m.Handler().ServeHTTP(broken{httptest.NewRecorder()}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if log.String() != "" {
		t.Errorf("the log has %s", log.String())
	}
}

// However often somebody scrapes, the database is asked every ten seconds at most.
func TestSamplesAreShared(t *testing.T) {
	t.Parallel()
	w := &world{now: time.Unix(1_795_000_000, 0)}
	m := w.start(t)
	for range 3 {
		page(t, m)
	}
	w.now = w.now.Add(9 * time.Second)
	page(t, m)
	if w.looks != 1 {
		t.Errorf("the database was asked %d times in nine seconds", w.looks)
	}
	w.now = w.now.Add(time.Second)
	page(t, m)
	if w.looks != 2 {
		t.Errorf("the database was asked %d times in ten seconds", w.looks)
	}
}

// What is not known is left out: a 0 would say that all is well.
func TestNoFiguresAreBetterThanWrongOnes(t *testing.T) {
	t.Parallel()
	w := &world{
		now: time.Unix(1_795_000_000, 0), err: errors.New("the database is away"),
		sample: metrics.Sample{Instances: map[string]int64{"connected": 7}},
	}
	m := w.start(t)
	shown := page(t, m)
	if !strings.Contains(shown, "\nrecado_database_up 0\n") || strings.Contains(shown, "recado_instances{") ||
		strings.Contains(shown, "recado_webhook_dead_letters") || strings.Contains(shown, "recado_disk_free_bytes") {
		t.Errorf("shown is\n%s", shown)
	}
	w.err, w.sample.Counted, w.sample.DatabaseUp, w.now = nil, true, true, w.now.Add(time.Minute)
	if shown := page(t, m); !strings.Contains(shown, "\nrecado_instances{status=\"connected\"} 7\n") {
		t.Errorf("shown is\n%s", shown)
	}
}

// Clients choose methods and statuses can be anything: they make no new series.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	m := (&world{now: time.Unix(1_795_000_000, 0)}).start(t)
	for n := range 1_000 {
		m.RequestBegan()
		m.RequestEnded("", fmt.Sprint("M", n), n, time.Second)
	}
	shown := page(t, m)
	if n := strings.Count(shown, "recado_http_request_duration_seconds_count{"); n != 6 { // five classes of status, and none
		t.Errorf("there are %d series of requests\n%s", n, shown)
	}
}
