// Package metrics counts what the program does, for Prometheus. The rooms know nothing of
// it: each has a port of its own, and the server connects these with a Metrics. No label holds anything that clients choose, such as an instance, a
// number, a key or an address: how many series there are is bounded by the program. An
// account is named where it holds much of what all share, which ten at most can.
package metrics

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/recado-project/recado/internal/required"
)

// namespace begins the name of every metric of ours.
const namespace = "recado"

// Config is what a Metrics stands on. Sampler and Logger are required.
type Config struct {
	Sampler Sampler
	Logger  *slog.Logger

	Version string
	Now     func() time.Time // nil: the wall clock
}

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	logger   *slog.Logger

	requests
	sends
	events
	deliveries
	waits

	moved *prometheus.CounterVec
}

// New makes the metrics, all of which begin at 0.
func New(config Config) (*Metrics, error) {
	if err := required.Check("metrics", config, "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	registry := prometheus.NewRegistry()
	to := promauto.With(registry) // what it makes is registered; it panics if a name is there twice
	m := &Metrics{
		registry: registry, logger: config.Logger,
		requests: newRequests(to), sends: newSends(to), events: newEvents(to),
		deliveries: newDeliveries(to), waits: newWaits(to),
		moved: counters(to, "instances_moved_total", "Instances that this node has taken over because nobody worked for them, at its start too, has handed over, or has lost because it could not renew its lease.",
			"event", "taken_over", "handed_over", "lost"),
	}
	to.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Which program this is; always 1.",
		ConstLabels: prometheus.Labels{"version": config.Version, "goversion": runtime.Version()},
	}).Set(1)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &sampled{config: config})
	return m, nil
}

// Moved counts instances that this node works for from now on, or does not any more: they were
// "taken_over", "handed_over" or "lost".
func (m *Metrics) Moved(event string, instances int) {
	m.moved.WithLabelValues(event).Add(float64(instances))
}

// Handler serves the page that Prometheus scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: pageLog{m.logger},
		// A part that can't be read must not hide the others.
		ErrorHandling: promhttp.ContinueOnError,
		// Prometheus alone scrapes, a few times a minute.
		MaxRequestsInFlight: 4,
	})
}

// pageLog logs what goes wrong with the page.
type pageLog struct{ logger *slog.Logger }

// Println logs a part of the page that can't be read. One that can't be written is not worth a line:
// its reader has gone.
func (l pageLog) Println(words ...any) {
	for _, word := range words {
		if err, ok := word.(error); ok {
			if _, gone := errors.AsType[*net.OpError](err); gone {
				return
			}
		}
	}
	l.logger.Error("a part of the metrics can't be read", slog.String("error", strings.TrimSpace(fmt.Sprintln(words...))))
}

func counter(to promauto.Factory, name, help string) prometheus.Counter {
	return to.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

// counters makes a counter for each value of a label. Those of known values begin at 0, so that the first one
// is seen as an increase.
func counters[T ~string](to promauto.Factory, name, help, label string, known ...T) *prometheus.CounterVec {
	made := to.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label})
	for _, value := range known {
		made.WithLabelValues(string(value))
	}
	return made
}

func histograms(to promauto.Factory, name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return to.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}

// The upper bounds of buckets, in seconds: of what waits for a disk, and of what waits for
// another machine.
func diskBuckets() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5}
}

func networkBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
}
