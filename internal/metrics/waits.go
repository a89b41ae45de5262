// How long the program waits for the database and for the disk.

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// waits measures what is waited for.
type waits struct {
	commits, syncs prometheus.Histogram
}

func newWaits(to promauto.Factory) waits {
	histogram := func(name, help string) prometheus.Histogram {
		return to.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: diskBuckets()})
	}
	return waits{
		commits: histogram("database_transaction_duration_seconds", "How long write transactions took, with the commit and its wait for the disk. One may carry the writes of many requests."),
		syncs:   histogram("file_sync_duration_seconds", "How long it took until a file or a folder was on the disk."),
	}
}

// Committed counts a write transaction.
func (w waits) Committed(took time.Duration) { w.commits.Observe(took.Seconds()) }

// Synced counts a wait for the disk.
func (w waits) Synced(took time.Duration) { w.syncs.Observe(took.Seconds()) }
