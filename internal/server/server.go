// Package server puts the program together; no other room imports all the rooms. New
// builds the parts, and Run starts and stops them in order. The command line and the
// end-to-end tests call it.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/admin"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/clock"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/dialect/cloud"
	"github.com/recado-project/recado/internal/dialect/evolution"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/health"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/node"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/whatsapp"
	"github.com/recado-project/recado/internal/worker"
)

// stopWait bounds how long each part may take to stop.
const stopWait = 15 * time.Second

// DefaultMaxDownload is how many bytes the file of a message may have: the platform's
// limit for everything but documents.
const DefaultMaxDownload = 100 << 20

// Config holds the settings of the program.
type Config struct {
	Listen      string // host:port of the API; port 0 takes a free one
	DataDir     string // the folder of SQLite's files, fetched media and the lock
	DatabaseURL string // a PostgreSQL database instead of SQLite's files
	// Cluster says how this process shares the database; its zero value is that it does not.
	Cluster Cluster
	// MasterKey seals the secrets in the database; nil: they are plain.
	MasterKey *seal.Key

	// Platform is the platform that the sessions connect to. Its zero value is the
	// messenger's own. If Sandbox is set, the address and key are the sandbox's.
	Platform whatsapp.Config
	// Sandbox, if not nil, runs a sandbox in the same process and at the same address,
	// and connects the sessions to it.
	Sandbox *sandbox.Config
	// AllowHosts are further names of a server with a sandbox. Without them it refuses
	// requests for hosts that are not this machine.
	AllowHosts []string

	// Media bounds the media that is sent. The server sets its clock and logger.
	Media media.Config
	// Blobs bounds the files of messages that were fetched. A MaxFile of 0 means
	// DefaultMaxDownload. The server sets its store, clock and logger.
	Blobs media.BlobsConfig
	// UploadQuota bounds the bytes of the uploads of one account; 0 means no limit.
	UploadQuota int64
	// MediaLocation is where these files are kept, and those of messages that wait to be
	// sent. Its zero value is the data folder.
	MediaLocation filestore.Location
	// MediaLocationIsNew says that it is another one than before. Without it, a place that has not the
	// name which the database knows is refused.
	MediaLocationIsNew bool
	// Limits bound the requests of clients.
	Limits api.Limits
	// EditWindow and DeleteWindow are how long messages can be edited and deleted; 0
	// means as long as the platform allows. LinkLifetime is how long download links
	// work; 0 means an hour.
	EditWindow, DeleteWindow, LinkLifetime time.Duration

	// KeepMessages is how long messages are kept, MaxMessages how many are kept of each
	// instance; 0 means no limit.
	KeepMessages time.Duration
	MaxMessages  int

	// KeepDelivered and KeepUndelivered are how long events are kept; 0 means 72 hours
	// and 7 days.
	KeepDelivered, KeepUndelivered time.Duration

	// AllowPrivateURLs delivers webhooks to private and loopback addresses too, and lets
	// instances have proxies there.
	AllowPrivateURLs bool

	// DenyFetch are public prefixes from which no media is fetched, and to which no
	// webhook is delivered.
	DenyFetch []netip.Prefix

	// PublicURL is the address of the API for clients, which download links begin with.
	// If it is empty, the address in the request is used, and if BehindProxy is set,
	// the scheme that the proxy reports.
	PublicURL   string
	BehindProxy bool

	// Dialects are the languages of other tools that are spoken beside the API: some of Dialects().
	Dialects []string

	// LinkCommand is the command that prints a link for a user of the dashboard, by which the browser comes to an
	// address. Unless whole is set, it does not show where the data are. nil: recado users link.
	LinkCommand func(name, address string, whole bool) string

	// AdminListen is the host:port of the listener for those who run the program; empty:
	// there is none, and nothing is counted.
	AdminListen string
	// DrainWait is for how long requests are still answered after the program was told to
	// stop, while it says that it is not ready: so that a balancer sends nothing new.
	DrainWait time.Duration
	// DatabasePatience is for how long the database may take no write, or not answer, before the program
	// says that it is not ready: until then requests are answered 503, with when to come back, and no
	// balancer takes all nodes out at once because the database was slow for a moment. 0: ten seconds.
	DatabasePatience time.Duration
	// LogoutWait is how long a logout may wait for the platform; 0: ten seconds.
	LogoutWait time.Duration
	// LastAnswer is how long the platform may take to acknowledge a message once the program was told to
	// stop; 0: ten seconds.
	LastAnswer time.Duration

	// Traces are sent to OTLPEndpoint, the address of a collector (http://host:4318); if that
	// is empty, to where the variables OTEL_EXPORTER_OTLP_… say.
	Traces       bool
	OTLPEndpoint string

	Version string
	Now     func() time.Time // the clock of this machine; nil: that
	// Elapsed grows evenly, whatever Now is set to. nil: what the system counts; if Now is not
	// nil, what it says.
	Elapsed func() time.Duration
	Logger  *slog.Logger
	// MemoryLimit is how much memory the process may take, as LimitMemory has found; 0: nobody has
	// said. It is shown, and nothing else.
	MemoryLimit int64
}

// Server is the whole program, ready to run.
type Server struct {
	config   Config
	clock    *clock.Clock
	changed  atomic.Pointer[Config] // what Change was told last
	refused  atomic.Bool            // the last reload of the settings
	tempDir  string                 // temporary files of every part; emptied at the start
	listener net.Listener
	answer   func() error // lets clients connect to the listener
	http     *http.Server
	sandbox  *sandbox.Server // nil without one
	claim    *claim.Claim    // nil on SQLite, where the lock of the data folder is enough
	store    *store.Store
	node     *node.Node

	connector   *whatsapp.Connector
	media       *media.Service
	blobs       *media.Blobs
	queuedFiles *media.Blobs // of messages that wait to be sent, and uploads
	links       *media.Links
	bell        eventlog.Bell
	use         *useCases

	api    *api.API
	pools  []*share.Pool // what requests share
	health *health.Service
	admin  *admin.Listener // nil without one
	watch  watch
	tracer *trace.Tracer // nil without traces

	serving, draining atomic.Bool
	built             atomic.Bool            // all parts are there
	migrating         atomic.Pointer[string] // what is said of it; nil: it is not under way

	stopping context.Context //nolint:containedctx // ends when nothing is begun any more, and streams have to end
	stop     context.CancelFunc

	closers []func() error // in the order of opening
}

// New opens the data, builds all parts, and listens at the address: a client that can
// connect is answered as soon as Run is called. The caller must call Run or Close.
func New(ctx context.Context, config Config) (_ *Server, err error) {
	told := clock.New(clock.Config{Wall: config.Now, Elapsed: config.Elapsed, Logger: config.Logger})
	config.Now = told.Now
	s := &Server{config: config, clock: told}
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.changed.Store(&config)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.openTraces(ctx); err != nil {
		return nil, err
	}
	// This is next, so that nothing is left behind if the address is taken.
	if err := s.reserve(); err != nil {
		return nil, err
	}
	if err := s.openAdmin(ctx); err != nil {
		return nil, err
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	if err := s.openTemp(); err != nil {
		return nil, err
	}
	if err := s.openSandbox(ctx); err != nil {
		return nil, err
	}
	if err := s.openStore(ctx); err != nil {
		return nil, err
	}
	if err := s.openConnector(ctx); err != nil {
		return nil, err
	}
	if err := s.openMedia(ctx); err != nil {
		return nil, err
	}
	if err := s.openNode(ctx); err != nil {
		return nil, err
	}
	if err := s.openUseCases(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := s.openAPI(); err != nil {
		return nil, err
	}
	s.built.Store(true)
	if err := s.answer(); err != nil {
		return nil, err
	}
	return s, nil
}

// BaseURL is the address of the API.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() }

// Access gives the use cases of keys. The API can't make the first key; its callers do.
func (s *Server) Access() *access.Service { return s.use.access }

// Users gives the use cases of the dashboard's users. The command line prints their first
// link.
func (s *Server) Users() *user.Service { return s.use.users }

// Instances gives the instances' use cases.
func (s *Server) Instances() *instance.Service { return s.use.instances }

// Messages gives the messages' use cases.
func (s *Server) Messages() *messaging.Service { return s.use.messages }

// Reference describes the API for its reference.
func (s *Server) Reference() (*reference.Reference, error) { return s.api.Reference() }

// ClientVersion says which version of the messenger's web client sessions claim to be.
func (s *Server) ClientVersion() gateway.ClientVersion { return s.connector.ClientVersion() }

// Sandbox gives the sandbox that runs in this process, or nil.
func (s *Server) Sandbox() *sandbox.Server { return s.sandbox }

// Run serves until ctx ends. Then it stops the API first, then the sessions, then the
// parts that they need. It closes the server.
func (s *Server) Run(ctx context.Context) error {
	workers := make([]worker.Worker, 0, 16)
	if s.admin != nil {
		workers = append(workers, worker.Worker{Name: "admin", Run: s.admin.Run})
	}
	if s.claim != nil {
		workers = append(workers, worker.Worker{Name: "claim", Run: s.claim.Run})
	}
	if s.sandbox != nil {
		workers = append(workers, worker.Worker{Name: "sandbox", Run: s.sandbox.Run})
	}
	workers = append(
		workers,
		worker.Worker{Name: "clock", Run: s.clock.Run},
		worker.Worker{Name: "memory", Run: memory{logger: s.config.Logger}.Run},
		worker.Worker{Name: "seals", Run: s.store.Vault().Run},
		worker.Worker{Name: "words", Run: s.indexWords},
		worker.Worker{Name: "retention", Run: s.use.retention.Run},
		worker.Worker{Name: "media", Run: s.blobs.Run},
		worker.Worker{Name: "uploads", Run: s.use.uploads.Run},
		worker.Worker{Name: "webhooks", Run: s.use.webhooks.Run, Ready: s.use.webhooks.Ready()},
		worker.Worker{Name: "webhooks of accounts", Run: s.use.accountWebhooks.Run},
		worker.Worker{Name: "traffic", Run: s.use.traffic.Run},
		worker.Worker{Name: "keys", Run: s.use.access.Run},
		worker.Worker{Name: "users", Run: s.use.users.Run},
		worker.Worker{Name: "connector", Run: s.connector.Run, Ready: s.connector.Ready()},
		worker.Worker{Name: "instances", Run: s.use.instances.Run},
		worker.Worker{Name: "messages", Run: s.use.messages.Run},
		worker.Worker{Name: "calls", Run: s.use.calls.Run},
		worker.Worker{Name: "presences", Run: s.use.presences.Run},
		worker.Worker{Name: "node", Run: s.node.Run, Ready: s.node.Ready()},
		worker.Worker{Name: "http", Run: s.serve},
		worker.Worker{Name: "drain", Run: s.drain, StopWait: s.config.DrainWait + stopWait},
	)
	running, err := worker.New(worker.Config{Workers: workers, StopWait: stopWait, Logger: s.config.Logger})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return errors.Join(running.Run(ctx), s.Close())
}

// Close closes everything that New opened. Run calls it as well.
func (s *Server) Close() error {
	s.stop()
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	s.closers = nil
	return errors.Join(errs...)
}

func (s *Server) onClose(name string, closer func() error) {
	s.closers = append(s.closers, func() error {
		if err := closer(); err != nil {
			return fmt.Errorf("server: close %s: %w", name, err)
		}
		return nil
	})
}

// serve answers HTTP until ctx ends, then lets the requests under way finish.
func (s *Server) serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	s.serving.Store(true)
	select {
	case err := <-failed:
		return fmt.Errorf("server: %w", err)
	case <-ctx.Done():
	}
	s.stop()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait-time.Second)
	defer cancel()
	err := s.http.Shutdown(stopCtx)
	if errors.Is(err, context.DeadlineExceeded) {
		// A client that reads its answer so slowly, or asks for something that takes so long, is cut off. A request that
		// still runs must not use parts that are closed next.
		s.config.Logger.WarnContext(ctx, "stopping: requests are cut off that have no complete answer yet", slog.Duration("after", stopWait-time.Second))
		err = s.http.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) openAPI() error {
	var err error
	s.api, err = api.New(api.Config{
		Instances: s.use.instances,
		Messages:  s.use.messages,
		Uploads:   s.use.uploads,
		Chats:     s.use.chats,
		Queue:     s.use.messages.Queue(),
		Directory: s.use.directory,
		Groups:    s.use.groups,
		Channels:  s.use.channels,
		Profiles:  s.use.profiles,
		Calls:     s.use.calls,
		Contacts:  s.use.directory,
		Presences: s.use.presences,
		Labels:    s.use.labels,
		Templates: s.use.templates,
		Access:    s.use.access,
		Events:    s.use.log,
		Webhooks:  s.use.webhooks, AccountWebhooks: s.use.accountWebhooks,
		Stopping: s.stopping,
		Files:    s.links,
		Ready:    s.ready, ClientVersion: s.ClientVersion, Watcher: s.watch.requests, Tracer: s.tracer,
		Version:   s.config.Version,
		PublicURL: s.config.PublicURL, BehindProxy: s.config.BehindProxy,
		MaxMedia: s.config.Media.MaxBytes,
		Limits:   func() api.Limits { return s.settings().Limits }, TempDir: s.tempDir,
		Now:    s.config.Now,
		Logger: s.config.Logger,
	})
	if err != nil {
		return fmt.Errorf("server: build API: %w", err)
	}
	ofMedia := s.media.Pools()
	s.pools = append(append(s.pools, s.api.Pools()...), ofMedia.Work, ofMedia.Decoding, ofMedia.Memory, ofMedia.Small, ofMedia.Fetches)
	s.pools = append(s.pools, s.use.webhooks.Pools()...)
	pages, err := s.openDashboard()
	if err != nil {
		return err
	}
	forwarder, err := s.openForwarder(withDashboard(pages, s.api))
	if err != nil {
		return err
	}
	spoken, err := s.withDialects(forwarder)
	if err != nil {
		return err
	}
	s.http = contract.NewHTTPServer(s.withSandbox(spoken), s.config.Logger)
	return nil
}

// withSandbox serves the sandbox's paths beside the API's. A ServeMux would answer a
// doubled slash with a redirect, which the API does not have.
func (s *Server) withSandbox(handler http.Handler) http.Handler {
	if s.sandbox == nil {
		return handler
	}
	box := s.sandbox.Handler(shownCodes{s.use.instances})
	both := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.sandbox.Owns(r) {
			box.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
	return s.sandbox.Local(both, s.config.Listen, s.config.AllowHosts)
}

// Dialects lists the dialects that Config may name.
func Dialects() []string { return []string{"evolution", "cloud"} }

// formats are the languages in which events may be posted. They do not depend on which dialects are served: a
// webhook that has one goes on.
func (c *Config) formats() map[string]webhook.Format {
	formats := map[string]webhook.Format{}
	for name, format := range cloud.Formats() {
		formats[name] = format
	}
	for name, format := range evolution.Formats(c.PublicURL) {
		formats[name] = format
	}
	return formats
}

// webhookGuard keeps requests to endpoints from private addresses; nil: they may go anywhere.
func (s *Server) webhookGuard() *outbound.Guard {
	if s.config.AllowPrivateURLs {
		return nil
	}
	return outbound.NewGuard(s.config.DenyFetch)
}

// withDialects serves those dialects beside the API that the configuration names: each below its name.
func (s *Server) withDialects(handler http.Handler) (http.Handler, error) {
	within := dialect.NewGateway(handler, func(ctx context.Context, key, name string, refused gateway.RefusedOperation) {
		if err := s.use.access.Spoke(ctx, key, name, refused); err != nil {
			s.config.Logger.WarnContext(ctx, "it is not stored that a key speaks a dialect", slog.String("dialect", name), slog.Any("error", err))
		}
	})
	builders := map[string]func(logger *slog.Logger) (http.Handler, error){
		"evolution": func(logger *slog.Logger) (http.Handler, error) {
			return evolution.New(evolution.Config{Gateway: within, Bodies: s.api.Bodies(), Logger: logger})
		},
		"cloud": func(logger *slog.Logger) (http.Handler, error) {
			return cloud.New(cloud.Config{Gateway: within, Bodies: s.api.Bodies(), Guard: s.webhookGuard(), BaseURL: s.address().BaseURL, Logger: logger})
		},
	}
	served := map[string]http.Handler{}
	for name, build := range builders {
		if !slices.Contains(s.config.Dialects, name) {
			continue
		}
		built, err := build(s.config.Logger)
		if err != nil {
			return nil, fmt.Errorf("server: build the dialect %s: %w", name, err)
		}
		served[name] = built
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if spoken, ok := served[first]; ok {
			spoken.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}), nil
}
