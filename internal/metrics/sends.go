// What is sent through the platform.

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/recado-project/recado/internal/gateway"
)

// sends counts what the platform was asked to take, and files.
type sends struct {
	sendTook *prometheus.HistogramVec
	media    *prometheus.CounterVec
}

func newSends(to promauto.Factory) sends {
	return sends{
		sendTook: histograms(to, "send_duration_seconds", "How long it took to hand a message or a change to the platform: encrypting, waiting for the disk, the platform's acknowledgement, and writing that a message has it.",
			networkBuckets(), "kind", "outcome"),
		media: counters(to, "media_bytes_total", "Bytes of files that were left with the platform (out) and fetched from it (in).", "direction", "in", "out"),
	}
}

// Sent counts a send. The kind is the type of the message, or what is changed by it.
func (s sends) Sent(kind string, err error, took time.Duration) {
	s.sendTook.WithLabelValues(kind, outcome(err)).Observe(took.Seconds())
}

// Uploaded counts the bytes of a file that was left with the platform.
func (s sends) Uploaded(bytes int64) { s.media.WithLabelValues("out").Add(float64(bytes)) }

// Fetched counts the bytes of a file that was fetched from the platform.
func (s sends) Fetched(bytes int64) { s.media.WithLabelValues("in").Add(float64(bytes)) }

// outcome says in one of a few words what became of a send.
func outcome(err error) string {
	if err == nil {
		return "sent"
	}
	switch gateway.KindOf(err) {
	case gateway.PlatformTimeout:
		return "timeout"
	case gateway.RateLimited:
		return "rate_limited"
	case gateway.Conflict, gateway.Unavailable:
		return "not_connected"
	case gateway.Internal:
		return "error"
	default:
		return "refused"
	}
}
