// What webhooks deliver.

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/recado-project/recado/internal/eventlog"
)

// deliveries counts attempts of webhooks and what became of events.
type deliveries struct {
	attempts  *prometheus.HistogramVec
	delivered *prometheus.CounterVec
	givenUp   prometheus.Counter
}

func newDeliveries(to promauto.Factory) deliveries {
	d := deliveries{
		attempts: histograms(to, "webhook_attempt_duration_seconds", "How long attempts of webhooks took, by what came of them.",
			networkBuckets(), "outcome"),
		delivered: counters(to, "events_delivered_total", "Events that an endpoint has accepted.", "kind", eventlog.Kinds()...),
		givenUp:   counter(to, "webhook_events_given_up_total", "Events that became dead letters."),
	}
	for _, outcome := range []string{"delivered", "refused", "timeout", "unreachable", "broken"} {
		d.attempts.WithLabelValues(outcome)
	}
	return d
}

// Attempted counts an attempt.
func (d deliveries) Attempted(outcome string, took time.Duration) {
	d.attempts.WithLabelValues(outcome).Observe(took.Seconds())
}

// Delivered counts an event that an endpoint has accepted.
func (d deliveries) Delivered(kind eventlog.Kind) { d.delivered.WithLabelValues(string(kind)).Inc() }

// GaveUp counts events that became dead letters.
func (d deliveries) GaveUp(events int) { d.givenUp.Add(float64(events)) }
