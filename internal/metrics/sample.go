// What is not counted but looked at, when somebody scrapes.

package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/recado-project/recado/internal/share"
)

const (
	// samplePatience is how long a look may take. Prometheus waits for ten seconds as a rule.
	samplePatience = 8 * time.Second
	// sampleAge is how old a sample may be that a scrape shows.
	sampleAge = 10 * time.Second
)

// Sampler looks at how the program is doing.
type Sampler interface {
	// Now returns what is known without asking anybody, and costs next to nothing.
	Now() Present
	// Sample asks the database and the disk. It is called every few seconds at most, and by
	// one goroutine at a time. With an error the rest of the sample counts all the same.
	Sample(ctx context.Context) (Sample, error)
}

// Present is what the process knows of itself.
type Present struct {
	Ready    bool // requests are served, and the process is not stopping
	Held     int  // instances that this node works for
	Sessions int  // that are connected
	// Connecting is for how long the session has been connecting that has done so for the longest
	// time; 0 if all that are wanted are connected.
	Connecting time.Duration
	// MemoryLimit is how many bytes the process may take; 0 if nobody has said.
	MemoryLimit     int64
	Shared          []share.Usage // what requests share
	Connections     Connections
	ClientOutdated  bool // the platform refuses the version of the web client
	SettingsRefused bool // the last reload has changed nothing
	// ClockOff is how far this machine's clock is ahead of the platform's, ClockCompared whether
	// that is known.
	ClockOff      time.Duration
	ClockCompared bool
	QueueWaiting  int // messages in the queue
	// QueueOverdue is since when the first message waits that nothing holds back: its
	// instance is connected, and no pace forbids it.
	QueueOverdue time.Duration
}

// Connections are those to the database.
type Connections struct {
	Max, InUse, Idle int
	Waits            int64         // how often somebody has waited for one
	Waited           time.Duration // for how long, in total
}

// Sample is what the database and the disk say.
type Sample struct {
	DatabaseUp   bool
	DatabaseSize int64 // in bytes; 0: not known
	// DiskFree and DiskSize are of the disk of the data folder, in bytes; 0: not known.
	DiskFree, DiskSize int64
	// FilesKept is what fetched files take, in bytes; FilesLimit is 0 where there is none.
	FilesKept, FilesLimit int64

	Counted      bool // what follows is known
	Instances    map[string]int64
	Webhooks     map[string]WebhookGroup // by how their endpoints are doing
	BlockedChats int64
	DeadLetters  int64
	// BackupAge is how long ago a backup was finished; negative if there was none.
	BackupAge time.Duration
}

// WebhookGroup is the webhooks that are doing alike.
type WebhookGroup struct {
	Webhooks int64
	Waiting  int64         // events that are still to be delivered
	Oldest   time.Duration // how old the oldest of them is; 0 where there is none
}

// sampled is the metrics that are looked at.
type sampled struct {
	config Config

	mu     sync.Mutex // held while a sample is taken: scrapes at the same time share it
	taken  time.Time
	sample Sample
}

// Describe names none of the metrics beforehand (prometheus.Collector): which there are depends on what is
// known.
func (*sampled) Describe(chan<- *prometheus.Desc) {}

// Collect sends the present and a sample that is not too old (prometheus.Collector).
func (s *sampled) Collect(to chan<- prometheus.Metric) {
	s.config.Sampler.Now().show(page{to})
	s.recent().show(page{to})
}

// page is what Prometheus scrapes, while it is written.
type page struct{ to chan<- prometheus.Metric }

// gauge adds what goes up and down. Names of labels are followed by their values.
func (p page) gauge(name string, value float64, help string, labels ...string) {
	p.add(prometheus.GaugeValue, name, value, help, labels)
}

// total adds what only goes up.
func (p page) total(name string, value float64, help string, labels ...string) {
	p.add(prometheus.CounterValue, name, value, help, labels)
}

func (p page) add(kind prometheus.ValueType, name string, value float64, help string, labels []string) {
	given := prometheus.Labels{}
	for n := 0; n < len(labels); n += 2 {
		given[labels[n]] = labels[n+1]
	}
	p.to <- prometheus.MustNewConstMetric(prometheus.NewDesc(namespace+"_"+name, help, nil, given), kind, value)
}

// show writes what the process knows of itself.
func (now Present) show(on page) {
	on.gauge("ready", yes(now.Ready), "1 while requests are served; 0 while the program starts and stops.")
	on.gauge("instances_held", float64(now.Held), "Instances that this node works for.")
	on.gauge("sessions_connected", float64(now.Sessions), "Sessions of this node that are connected to the platform.")
	on.gauge("sessions_oldest_connecting_seconds", now.Connecting.Seconds(), "For how long the session of this node has been connecting that has done so for the longest time; 0 if all are connected. One that is being linked does not count.")
	on.gauge("memory_limit_bytes", float64(now.MemoryLimit), "How much memory the process may take, as its control group says; 0 if it has no limit.")
	on.gauge("client_version_refused", yes(now.ClientOutdated), "1 while the platform refuses the version of the web client that sessions claim to be.")
	on.gauge("settings_refused", yes(now.SettingsRefused), "1 if the settings were wrong at the last reload, so that the program works with the ones before.")
	for _, pool := range now.Shared {
		on.gauge("shared_held", float64(pool.Held), "What requests hold of what they share, in bytes or places: see docs/operate.md.", "pool", pool.Name)
		on.gauge("shared_limit", float64(pool.Total), "How much requests may hold together; 0: any amount.", "pool", pool.Name)
		on.gauge("shared_waiting", float64(pool.Waiting), "Requests that wait for their turn.", "pool", pool.Name)
		on.total("shared_refused_total", float64(pool.Refused), "Requests that were refused because they, their account or all together have what they may have.", "pool", pool.Name)
		for account, held := range pool.Accounts {
			on.gauge("shared_held_by_account", float64(held), "What the requests of one account hold, where that is a tenth or more of all.", "pool", pool.Name, "account", account)
		}
	}
	if now.ClockCompared {
		on.gauge("clock_offset_seconds", now.ClockOff.Seconds(), "How far this machine's clock is ahead of the platform's, to a second or so; below 0 it is behind. It is missing until a session has reached the platform.")
	}
	for state, connections := range map[string]int{"in_use": now.Connections.InUse, "idle": now.Connections.Idle} {
		on.gauge("database_connections", float64(connections), "Connections to the database; on SQLite those that read.", "state", state)
	}
	on.gauge("database_connections_limit", float64(now.Connections.Max), "How many connections to the database there may be.")
	on.total("database_connection_waits_total", float64(now.Connections.Waits), "How often somebody had to wait for a connection to the database.")
	on.total("database_connection_wait_seconds_total", now.Connections.Waited.Seconds(), "How long was waited for a connection to the database, in total.")
	on.gauge("queue_messages", float64(now.QueueWaiting), "Messages in the queue, scheduled and held ones among them.")
	on.gauge("queue_overdue_seconds", now.QueueOverdue.Seconds(), "For how long the first message of the queue has been due that nothing holds back; 0 if there is none.")
}

// show writes what the database and the disk have said.
func (sample Sample) show(on page) {
	on.gauge("database_up", yes(sample.DatabaseUp), "1 if the database answers.")
	on.gauge("media_kept_bytes", float64(sample.FilesKept), "What the fetched files take.")
	on.gauge("media_quota_bytes", float64(sample.FilesLimit), "What the fetched files may take (--media-quota).")
	if sample.DatabaseSize > 0 {
		on.gauge("database_size_bytes", float64(sample.DatabaseSize), "How many bytes the database takes.")
	}
	if sample.DiskSize > 0 {
		on.gauge("disk_free_bytes", float64(sample.DiskFree), "Bytes that are free for this program on the disk of the data folder.")
		on.gauge("disk_size_bytes", float64(sample.DiskSize), "Size of the disk of the data folder.")
	}
	if !sample.Counted {
		return // no figures are better than wrong ones
	}
	for status, n := range sample.Instances {
		on.gauge("instances", float64(n), "Instances in the database, by status; the same on every node.", "status", status)
	}
	for state, group := range sample.Webhooks {
		on.gauge("webhooks", float64(group.Webhooks), "Webhooks in the database, by how their endpoints are doing; the same on every node.", "state", state)
		on.gauge("webhook_events_waiting", float64(group.Waiting), "Events in the database that webhooks still have to deliver; the same on every node.", "state", state)
		on.gauge("webhook_oldest_waiting_seconds", group.Oldest.Seconds(), "Age of the oldest event that a webhook still has to deliver; the same on every node.", "state", state)
	}
	on.gauge("webhook_chats_blocked", float64(sample.BlockedChats), "Chats that wait because one of their events fails while others succeed; the same on every node.")
	on.gauge("webhook_dead_letters", float64(sample.DeadLetters), "Dead letters in the database, up to 100000; the same on every node.")
	if sample.BackupAge >= 0 {
		on.gauge("backup_age_seconds", sample.BackupAge.Seconds(), "How long ago recado backup has finished the last backup; the same on every node, and not there if there was none.")
	}
}

// recent returns the last sample, or takes one if that is too old.
func (s *sampled) recent() Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.config.Now(); s.taken.IsZero() || now.Sub(s.taken) >= sampleAge || now.Before(s.taken) {
		// Not bound to the scrape that asks: others wait for the same sample.
		ctx, cancel := context.WithTimeout(context.Background(), samplePatience)
		defer cancel()
		sample, err := s.config.Sampler.Sample(ctx)
		if err != nil {
			s.config.Logger.WarnContext(ctx, "not everything could be looked at for the metrics", slog.Any("error", err))
		}
		s.sample, s.taken = sample, now
	}
	return s.sample
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
