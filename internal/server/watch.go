// How the server is watched: the listener for those who run it, and what is counted.

package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/admin"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/metrics"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/webhook"
)

// watch is what the rooms tell of their work. Without a listener for it nobody is told.
type watch struct {
	requests  contract.Watcher
	sends     messaging.Watcher
	webhooks  webhook.Watcher
	committed func(took time.Duration)
	synced    func(took time.Duration)
	moved     func(event string, instances int)
	failed    func(why instance.Failure)
	signIn    func(outcome user.Outcome)
}

// openTraces begins to send traces, if somebody wants them. It is the first that is opened
// and the last that is closed.
func (s *Server) openTraces(ctx context.Context) error {
	if !s.config.Traces {
		return nil
	}
	exporter, err := newTraceExporter(ctx, s.config.OTLPEndpoint, s.config.Version, s.config.Logger)
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.onClose("traces", exporter.Close)
	s.tracer = exporter.Tracer()
	s.config.Logger = trace.Logger(s.config.Logger)
	return nil
}

// openAdmin listens for those who run the program, and begins to count.
func (s *Server) openAdmin(ctx context.Context) error {
	if s.config.AdminListen == "" {
		return nil
	}
	counted, err := metrics.New(metrics.Config{Sampler: sampler{s}, Logger: s.config.Logger, Version: s.config.Version, Now: s.config.Now})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.watch = watch{
		requests: counted, sends: counted, webhooks: counted,
		committed: counted.Committed, synced: counted.Synced, moved: counted.Moved,
		signIn: counted.SignIn, failed: counted.AttemptFailed,
	}
	s.bell.Listen(counted.Appended)
	s.admin, err = admin.New(ctx, admin.Config{
		Listen: s.config.AdminListen, Metrics: s.started(counted.Handler()), Ready: s.ready, Logger: s.config.Logger,
	})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.onClose("admin listener", s.admin.Close)
	// It says what the start waits for.
	s.admin.Begin()
	return nil
}

// started refuses what needs all parts before they are there.
func (s *Server) started(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.built.Load() {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isMigrating is told of migrations.
func (s *Server) isMigrating(under bool, waits string) {
	if !under {
		s.migrating.Store(nil)
		return
	}
	text := "migrating"
	if waits != "" {
		text += ": " + waits
	}
	s.migrating.Store(&text)
}

// AdminURL is the address of the listener for those who run the program; empty without one.
func (s *Server) AdminURL() string {
	if s.admin == nil {
		return ""
	}
	return "http://" + s.admin.Addr().String()
}

// ready reports whether requests can be served, and will be for a while. Its error is a
// gateway.Error if the program is not at that, and otherwise the database's.
func (s *Server) ready(ctx context.Context) error {
	switch {
	case s.draining.Load():
		return gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "stopping")
	case s.migrating.Load() != nil:
		return gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "%s", *s.migrating.Load())
	case !s.serving.Load():
		return gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "starting")
	}
	return s.databaseReady(ctx)
}

const (
	// defaultDatabasePatience is the usual Config.DatabasePatience.
	defaultDatabasePatience = 10 * time.Second
	// askPatience bounds how long it may take to find out.
	askPatience = time.Second
)

// databaseReady reports whether the database has answered and taken a write within Config.DatabasePatience. While
// it has not, it tries.
func (s *Server) databaseReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	ask := s.store.Ping
	if s.store.Failing() > 0 {
		ask = s.store.Probe
	}
	if err := ask(ctx); err != nil && s.databaseFails() {
		return err
	}
	return nil
}

// databaseFailsNow reports whether the database takes no write: the last one failed, and another one does.
func (s *Server) databaseFailsNow() bool {
	if s.store.Failing() == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	return s.store.Probe(ctx) != nil
}

// databaseFails reports whether the database has taken no write, or not answered, for Config.DatabasePatience.
func (s *Server) databaseFails() bool {
	return s.store.Failing() >= cmp.Or(s.config.DatabasePatience, defaultDatabasePatience)
}

// drain waits, when the program is told to stop, so that a balancer learns of it before
// requests are refused. It is the last worker, so it stops first.
func (s *Server) drain(ctx context.Context) error {
	<-ctx.Done()
	s.draining.Store(true)
	if s.config.DrainWait <= 0 {
		return nil
	}
	s.config.Logger.InfoContext(ctx, "stopping: requests are still answered for a while", slog.Duration("drain_wait", s.config.DrainWait))
	timer := time.NewTimer(s.config.DrainWait)
	defer timer.Stop()
	<-timer.C
	return nil
}

// sampler looks at the server for the metrics.
type sampler struct{ s *Server }

// Now returns what the process knows of itself (metrics.Sampler).
func (o sampler) Now() metrics.Present {
	s := o.s
	stats := s.store.Connections()
	present := metrics.Present{
		Ready: s.serving.Load() && !s.draining.Load() && !s.databaseFails(), Held: s.node.Owned(), MemoryLimit: s.config.MemoryLimit,
		ClientOutdated: !s.ClientVersion().RefusedSince.IsZero(), SettingsRefused: s.refused.Load(),
		Connections: metrics.Connections{
			Max: stats.MaxOpenConnections, InUse: stats.InUse, Idle: stats.Idle, Waits: stats.WaitCount, Waited: stats.WaitDuration,
		},
	}
	for _, pool := range s.pools {
		present.Shared = append(present.Shared, pool.Usage())
	}
	present.ClockOff, present.ClockCompared = s.connector.ClockOff()
	present.Sessions, present.Connecting = s.use.instances.Sessions()
	present.QueueWaiting, present.QueueOverdue = s.use.messages.Queue().Overview()
	return present
}

// Sample asks the database and the disk (metrics.Sampler).
func (o sampler) Sample(ctx context.Context) (metrics.Sample, error) {
	s := o.s
	report := s.health.Report(ctx)
	sample := metrics.Sample{
		DatabaseUp: report.Database.Answered && !s.databaseFails(), DatabaseSize: report.Database.Size,
		DiskFree: report.Disk.Free, DiskSize: report.Disk.All,
		FilesKept: report.Files.Used, FilesLimit: report.Files.Limit,
	}
	if !report.Database.Answered {
		return sample, nil // the report has been logged
	}
	census, err := s.store.Census.Count(ctx)
	if err != nil {
		return sample, err
	}
	now := s.config.Now()
	backup, err := s.store.Census.LastBackup(ctx)
	if err != nil {
		return sample, err
	}
	if sample.BackupAge = -1; !backup.IsZero() {
		sample.BackupAge = max(now.Sub(backup), 0)
	}
	sample.Counted, sample.Instances = true, census.Instances
	sample.BlockedChats, sample.DeadLetters = census.BlockedChats, census.DeadLetters
	sample.Webhooks = make(map[string]metrics.WebhookGroup, len(census.Webhooks))
	for state, group := range census.Webhooks {
		one := metrics.WebhookGroup{Webhooks: group.Webhooks, Waiting: group.Waiting}
		if !group.Oldest.IsZero() {
			one.Oldest = max(now.Sub(group.Oldest), 0)
		}
		sample.Webhooks[state] = one
	}
	return sample, nil
}
