// What clients ask of the API.

package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/recado-project/recado/internal/user"
)

// requests counts the requests to the API.
type requests struct {
	took    *prometheus.HistogramVec
	limited *prometheus.CounterVec
	signIns *prometheus.CounterVec
	open    prometheus.Gauge
}

func newRequests(to promauto.Factory) requests {
	return requests{
		took: histograms(to, "http_request_duration_seconds", "How long requests to the API took, until the end of the answer.",
			networkBuckets(), "route", "method", "status"),
		limited: counters(to, "http_requests_limited_total", "Requests that were refused because of --rate-limit-key or --rate-limit-instance.", "limit", "key", "instance"),
		signIns: counters(to, "sign_ins_total", "Tries to sign in to the dashboard, by what came of them: signed_in, wrong (the name, the password, the passkey), held_up (one has to wait after too many wrong ones), failed (too many at once, or the database is away).", "outcome", user.Outcomes()...),
		open: to.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "http_requests_in_flight", Help: "Requests to the API that have no complete answer yet, with open streams.",
		}),
	}
}

// RequestBegan counts a request that is in flight until RequestEnded.
func (r requests) RequestBegan() { r.open.Inc() }

// RequestEnded counts a request. The route is its pattern, empty for an unknown one.
func (r requests) RequestEnded(route, method string, status int, took time.Duration) {
	r.open.Dec()
	if route == "" {
		route = "unknown"
	}
	r.took.WithLabelValues(route, knownMethod(method), statusClass(status)).Observe(took.Seconds())
}

// RequestLimited counts a request that a limit has refused: that of "key" or "instance".
func (r requests) RequestLimited(limit string) { r.limited.WithLabelValues(limit).Inc() }

// SignIn counts a try to sign in.
func (r requests) SignIn(outcome user.Outcome) { r.signIns.WithLabelValues(string(outcome)).Inc() }

// knownMethod keeps the methods that somebody has made up out of the labels.
func knownMethod(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

// statusClass is 2xx for 200 to 299, and so on; "none" where there was no answer.
func statusClass(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}
