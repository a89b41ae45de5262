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

// samplePatience is how long a look may take. Prometheus waits for ten seconds as a rule.
const samplePatience = 8 * time.Second

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

	ready, held, sessions, connecting, outdated, refused, clock *prometheus.Desc
	memoryLimit, backup                                         *prometheus.Desc
	shared, sharedLimit, sharedBy, sharedWaiting, sharedRefused *prometheus.Desc
	connections, connectionsMax, waits, waited                  *prometheus.Desc
	queued, overdue                                             *prometheus.Desc
	up, databaseSize, diskFree, diskSize, files, filesLimit     *prometheus.Desc
	instances, webhooks, waiting, oldest, blocked, dead         *prometheus.Desc
}

func newSampled(config Config) *sampled {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(namespace+"_"+name, help, labels, nil)
	}
	return &sampled{
		config: config,

		ready:          describe("ready", "1 while requests are served; 0 while the program starts and stops."),
		held:           describe("instances_held", "Instances that this node works for."),
		sessions:       describe("sessions_connected", "Sessions of this node that are connected to the platform."),
		connecting:     describe("sessions_oldest_connecting_seconds", "For how long the session of this node has been connecting that has done so for the longest time; 0 if all are connected. One that is being linked does not count."),
		memoryLimit:    describe("memory_limit_bytes", "How much memory the process may take, as its control group says; 0 if it has no limit."),
		backup:         describe("backup_age_seconds", "How long ago recado backup has finished the last backup; the same on every node, and not there if there was none."),
		outdated:       describe("client_version_refused", "1 while the platform refuses the version of the web client that sessions claim to be."),
		refused:        describe("settings_refused", "1 if the settings were wrong at the last reload, so that the program works with the ones before."),
		shared:         describe("shared_held", "What requests hold of what they share, in bytes or places: see docs/operate.md.", "pool"),
		sharedLimit:    describe("shared_limit", "How much requests may hold together; 0: any amount.", "pool"),
		sharedBy:       describe("shared_held_by_account", "What the requests of one account hold, where that is a tenth or more of all.", "pool", "account"),
		sharedWaiting:  describe("shared_waiting", "Requests that wait for their turn.", "pool"),
		sharedRefused:  describe("shared_refused_total", "Requests that were refused because they, their account or all together have what they may have.", "pool"),
		clock:          describe("clock_offset_seconds", "How far this machine's clock is ahead of the platform's, to a second or so; below 0 it is behind. It is missing until a session has reached the platform."),
		connections:    describe("database_connections", "Connections to the database; on SQLite those that read.", "state"),
		connectionsMax: describe("database_connections_limit", "How many connections to the database there may be."),
		waits:          describe("database_connection_waits_total", "How often somebody had to wait for a connection to the database."),
		waited:         describe("database_connection_wait_seconds_total", "How long was waited for a connection to the database, in total."),
		queued:         describe("queue_messages", "Messages in the queue, scheduled and held ones among them."),
		overdue:        describe("queue_overdue_seconds", "For how long the first message of the queue has been due that nothing holds back; 0 if there is none."),

		up:           describe("database_up", "1 if the database answers."),
		databaseSize: describe("database_size_bytes", "How many bytes the database takes."),
		diskFree:     describe("disk_free_bytes", "Bytes that are free for this program on the disk of the data folder."),
		diskSize:     describe("disk_size_bytes", "Size of the disk of the data folder."),
		files:        describe("media_kept_bytes", "What the fetched files take."),
		filesLimit:   describe("media_quota_bytes", "What the fetched files may take (--media-quota)."),
		instances:    describe("instances", "Instances in the database, by status; the same on every node.", "status"),
		webhooks:     describe("webhooks", "Webhooks in the database, by how their endpoints are doing; the same on every node.", "state"),
		waiting:      describe("webhook_events_waiting", "Events in the database that webhooks still have to deliver; the same on every node.", "state"),
		oldest:       describe("webhook_oldest_waiting_seconds", "Age of the oldest event that a webhook still has to deliver; the same on every node.", "state"),
		blocked:      describe("webhook_chats_blocked", "Chats that wait because one of their events fails while others succeed; the same on every node."),
		dead:         describe("webhook_dead_letters", "Dead letters in the database, up to 100000; the same on every node."),
	}
}

// Describe sends what there may be (prometheus.Collector).
func (s *sampled) Describe(to chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{
		s.ready, s.held, s.sessions, s.connecting, s.memoryLimit, s.backup, s.outdated, s.refused, s.clock, s.shared, s.sharedLimit, s.sharedBy, s.sharedWaiting, s.sharedRefused, s.connections, s.connectionsMax, s.waits, s.waited, s.queued, s.overdue,
		s.up, s.databaseSize, s.diskFree, s.diskSize, s.files, s.filesLimit, s.instances, s.webhooks, s.waiting, s.oldest, s.blocked, s.dead,
	} {
		to <- one
	}
}

// Collect sends the present and a sample that is not too old (prometheus.Collector).
func (s *sampled) Collect(to chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	now := s.config.Sampler.Now()
	gauge(s.ready, yes(now.Ready))
	gauge(s.held, float64(now.Held))
	gauge(s.sessions, float64(now.Sessions))
	gauge(s.connecting, now.Connecting.Seconds())
	gauge(s.memoryLimit, float64(now.MemoryLimit))
	gauge(s.outdated, yes(now.ClientOutdated))
	gauge(s.refused, yes(now.SettingsRefused))
	for _, pool := range now.Shared {
		gauge(s.shared, float64(pool.Held), pool.Name)
		gauge(s.sharedLimit, float64(pool.Total), pool.Name)
		gauge(s.sharedWaiting, float64(pool.Waiting), pool.Name)
		to <- prometheus.MustNewConstMetric(s.sharedRefused, prometheus.CounterValue, float64(pool.Refused), pool.Name)
		for account, held := range pool.Accounts {
			gauge(s.sharedBy, float64(held), pool.Name, account)
		}
	}
	if now.ClockCompared {
		gauge(s.clock, now.ClockOff.Seconds())
	}
	gauge(s.connections, float64(now.Connections.InUse), "in_use")
	gauge(s.connections, float64(now.Connections.Idle), "idle")
	gauge(s.connectionsMax, float64(now.Connections.Max))
	to <- prometheus.MustNewConstMetric(s.waits, prometheus.CounterValue, float64(now.Connections.Waits))
	to <- prometheus.MustNewConstMetric(s.waited, prometheus.CounterValue, now.Connections.Waited.Seconds())
	gauge(s.queued, float64(now.QueueWaiting))
	gauge(s.overdue, now.QueueOverdue.Seconds())

	sample := s.recent()
	gauge(s.up, yes(sample.DatabaseUp))
	gauge(s.files, float64(sample.FilesKept))
	gauge(s.filesLimit, float64(sample.FilesLimit))
	if sample.DatabaseSize > 0 {
		gauge(s.databaseSize, float64(sample.DatabaseSize))
	}
	if sample.DiskSize > 0 {
		gauge(s.diskFree, float64(sample.DiskFree))
		gauge(s.diskSize, float64(sample.DiskSize))
	}
	if !sample.Counted {
		return // no figures are better than wrong ones
	}
	for status, n := range sample.Instances {
		gauge(s.instances, float64(n), status)
	}
	for state, group := range sample.Webhooks {
		gauge(s.webhooks, float64(group.Webhooks), state)
		gauge(s.waiting, float64(group.Waiting), state)
		gauge(s.oldest, group.Oldest.Seconds(), state)
	}
	gauge(s.blocked, float64(sample.BlockedChats))
	gauge(s.dead, float64(sample.DeadLetters))
	if sample.BackupAge >= 0 {
		gauge(s.backup, sample.BackupAge.Seconds())
	}
}

// recent returns the last sample, or takes one if that is too old.
func (s *sampled) recent() Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.config.Now(); s.taken.IsZero() || now.Sub(s.taken) >= s.config.SampleAge || now.Before(s.taken) {
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
