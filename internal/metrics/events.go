// What is appended to the event log, and what it says of the sessions.

package metrics

import (
	"encoding/json"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// events counts events. The changes of instances are among them.
type events struct {
	appended    *prometheus.CounterVec
	connections prometheus.Counter
	losses      *prometheus.CounterVec
	attempts    *prometheus.CounterVec
}

func newEvents(to promauto.Factory) events {
	return events{
		appended:    counters(to, "events_appended_total", "Events that were appended to the event log.", "kind", eventlog.Kinds()...),
		connections: counter(to, "session_connections_total", "How often a session came to be connected, for the first time or again."),
		losses: counters(to, "session_losses_total", "How often a session came to its end or lost its connection, by reason.", "reason",
			gateway.ReasonConnectionLost, gateway.ReasonUnlinked, gateway.ReasonBanned, gateway.ReasonReplaced, gateway.ReasonClientOutdated,
			gateway.ReasonLoggedOut, gateway.ReasonStopped, gateway.ReasonPayment,
			gateway.ReasonProxyUnreachable, gateway.ReasonProxyAuth, gateway.ReasonProxyPlatform),
		attempts: counters(to, "session_attempts_failed_total", "Attempts to connect a session that have failed, by reason.", "reason", instance.Failures()...),
	}
}

// AttemptFailed counts an attempt to connect a session that has failed.
func (e events) AttemptFailed(why instance.Failure) { e.attempts.WithLabelValues(string(why)).Inc() }

// Appended counts events of one instance that were committed. The bell of the event log
// calls it.
func (e events) Appended(events []eventlog.Event) {
	for _, event := range events {
		e.appended.WithLabelValues(string(event.Kind)).Inc()
		if event.Kind == eventlog.KindInstanceStatus {
			e.changed(event.Data)
		}
	}
}

// changed counts what the change of an instance says of its session.
func (e events) changed(data []byte) {
	var change eventlog.InstanceStatus
	if json.Unmarshal(data, &change) != nil || change.Status == change.PreviousStatus {
		return
	}
	was := gateway.Status(change.PreviousStatus)
	switch {
	case gateway.Status(change.Status) == gateway.StatusConnected:
		e.connections.Inc()
	case was == gateway.StatusConnected, was == gateway.StatusConnecting && change.Status != string(gateway.StatusPendingQR):
		reason := "unknown"
		if change.Reason != nil {
			reason = *change.Reason // of the gateway's own list
		}
		e.losses.WithLabelValues(reason).Inc()
	}
}
