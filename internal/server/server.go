// Package server puts the program together: it is the only room that knows all
// others. New builds, Run starts and stops in order. The command line and the
// end-to-end tests are its callers.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/whatsapp"
	"github.com/recado-project/recado/internal/worker"
)

// stopWait bounds how long each part may take to stop.
const stopWait = 15 * time.Second

// DefaultMaxDownload is how many bytes the file of a message may have: as many as
// the platform allows for everything but documents.
const DefaultMaxDownload = 100 << 20

// Config holds the settings of the program.
type Config struct {
	Listen      string // host:port of the API; port 0 takes a free one
	DataDir     string // where SQLite's files and the lock lie
	DatabaseURL string // a PostgreSQL database instead of SQLite's files

	// Platform is where the sessions connect to; the zero value is the
	// messenger's own platform. With Sandbox set, its address and key are the
	// sandbox's.
	Platform whatsapp.Config
	// Sandbox, where not nil, runs a sandbox in the same process and on the same
	// address, and connects the sessions to it.
	Sandbox *sandbox.Config
	// AllowHosts are further names under which a server with a sandbox is reached:
	// it refuses requests for hosts that are not this machine.
	AllowHosts []string

	// Media bounds what is sent and fetched; its clock and logger are the
	// server's.
	Media media.Config
	// Blobs bounds the files of messages that were fetched; without a MaxFile it is
	// DefaultMaxDownload. Its clock and logger are the server's.
	Blobs media.BlobsConfig
	// Limits bound what clients may ask for.
	Limits api.Limits
	// EditWindow, DeleteWindow and LinkLifetime are those of the messages; zero
	// means the platform's, and an hour.
	EditWindow, DeleteWindow, LinkLifetime time.Duration

	// KeepMessages is how long messages are kept, MaxMessages how many of each
	// instance; 0 means without end.
	KeepMessages time.Duration
	MaxMessages  int

	// KeepDelivered and KeepUndelivered are how long events are kept (72 hours, 7
	// days).
	KeepDelivered, KeepUndelivered time.Duration

	// AllowPrivateURLs delivers webhooks to private and loopback addresses too.
	AllowPrivateURLs bool

	// DenyFetch are public prefixes from which no media is fetched, and to which no
	// webhook is delivered.
	DenyFetch []netip.Prefix

	// PublicURL is where clients reach the API, for links in answers; empty: with
	// how the request came. BehindProxy believes a proxy about the scheme.
	PublicURL   string
	BehindProxy bool

	Version string
	Now     func() time.Time // nil: the wall clock
	Logger  *slog.Logger
}

// Server is the whole program, ready to run.
type Server struct {
	config    Config
	tempDir   string // files in work, of every part; emptied at the start
	listener  net.Listener
	http      *http.Server
	sandbox   *sandbox.Server // nil without one
	claim     *store.Claim    // nil on SQLite, where the lock of the data folder does
	store     *store.Store
	webhooks  *webhook.Service
	media     *media.Service
	blobs     *media.Blobs
	links     *media.Links
	connector *whatsapp.Connector
	bell      eventlog.Bell
	log       *eventlog.Log
	retention *eventlog.Retention
	instances *instance.Service
	directory *directory.Service
	messages  *messaging.Service
	access    *access.Service

	stopping chan struct{} // closed when streams have to end

	closers []func() error // in the order of opening
}

// New takes the address, opens the data, and builds everything. The caller runs
// the server, or closes it.
func New(ctx context.Context, config Config) (_ *Server, err error) {
	if config.Now == nil {
		config.Now = time.Now
	}
	s := &Server{config: config, stopping: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	// First: an address that is taken leaves no data behind.
	if err := s.listen(ctx); err != nil {
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
	if err := s.buildUseCases(); err != nil {
		return nil, err
	}
	if err := s.openAPI(); err != nil {
		return nil, err
	}
	return s, nil
}

// BaseURL is where the API answers.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() }

// Access makes and checks keys, for the first of which there is no API yet.
func (s *Server) Access() *access.Service { return s.access }

// Instances gives the instances' use cases.
func (s *Server) Instances() *instance.Service { return s.instances }

// Messages gives the messages' use cases.
func (s *Server) Messages() *messaging.Service { return s.messages }

// Sandbox gives the sandbox that runs in this process, or nil.
func (s *Server) Sandbox() *sandbox.Server { return s.sandbox }

// Run serves until ctx ends, then stops: first the API, then the sessions, then
// what they stand on. It closes the server.
func (s *Server) Run(ctx context.Context) error {
	workers := make([]worker.Worker, 0, 9)
	if s.claim != nil {
		workers = append(workers, worker.Worker{Name: "claim", Run: s.claim.Run})
	}
	if s.sandbox != nil {
		workers = append(workers, worker.Worker{Name: "sandbox", Run: s.sandbox.Run})
	}
	workers = append(
		workers,
		worker.Worker{Name: "retention", Run: s.retention.Run},
		worker.Worker{Name: "media", Run: s.blobs.Run},
		worker.Worker{Name: "webhooks", Run: s.webhooks.Run, Ready: s.webhooks.Ready()},
		worker.Worker{Name: "keys", Run: s.access.Run},
		worker.Worker{Name: "instances", Run: s.instances.Run},
		worker.Worker{Name: "messages", Run: s.messages.Run},
		worker.Worker{Name: "http", Run: s.serve},
	)
	group, err := worker.New(worker.Config{Workers: workers, StopWait: stopWait, Logger: s.config.Logger})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	// To read thousands of instances and webhooks takes more memory than to have
	// them; the runtime by itself would keep it for ever.
	giveBack := time.AfterFunc(time.Minute, debug.FreeOSMemory)
	defer giveBack.Stop()
	return errors.Join(group.Run(ctx), s.Close())
}

// Close gives back everything that New took. Run does it as well.
func (s *Server) Close() error {
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

// buildUseCases makes the services that stand on store and connector.
func (s *Server) buildUseCases() error {
	c := s.config
	var err error
	if s.access, err = access.New(access.Config{Store: s.store, Logger: c.Logger, Now: c.Now}); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if s.log, err = eventlog.New(eventlog.Config{Store: s.store, Bell: &s.bell}); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	webhooks, err := webhook.New(webhook.Config{
		Store: s.store, Log: s.log, Bell: &s.bell, AllowPrivateURLs: c.AllowPrivateURLs, Denied: c.DenyFetch, Version: c.Version, Logger: c.Logger, Now: c.Now,
	})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.webhooks = webhooks
	s.retention, err = eventlog.NewRetention(eventlog.RetentionConfig{
		Store: s.store, Delivered: webhooks.Delivered, KeepDelivered: c.KeepDelivered, KeepUndelivered: c.KeepUndelivered,
		Logger: c.Logger, Now: c.Now,
	})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	receiver, err := messaging.NewReceiver(messaging.ReceiverConfig{
		Store: s.store, Log: s.log, Encoder: s.connector, Logger: c.Logger,
	})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	if s.instances, err = instance.New(instance.Config{
		Store: s.store, Connector: s.connector, Receivers: receiver, Log: s.log, Logger: c.Logger,
		Webhooks: webhooks, Files: s.blobs, Now: c.Now,
	}); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.directory, err = directory.New(directory.Config{Store: s.store, Sessions: s.instances, Now: c.Now})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	messages, err := messaging.New(messaging.Config{
		Store: s.store, Sessions: s.instances, Directory: s.directory, Encoder: s.connector,
		Media: s.media, Blobs: s.blobs, Links: s.links, Logger: c.Logger,
		EditWindow: c.EditWindow, DeleteWindow: c.DeleteWindow, LinkLifetime: c.LinkLifetime, Now: c.Now,
		KeepMessages: c.KeepMessages, MaxMessages: c.MaxMessages,
	})
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.messages = messages
	s.onClose("messages", func() error {
		messages.Wait()
		return nil
	})
	return nil
}

// serve answers HTTP until ctx ends, then lets the requests under way finish.
func (s *Server) serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.http.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("server: %w", err)
	case <-ctx.Done():
	}
	close(s.stopping)
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait-time.Second)
	defer cancel()
	err := s.http.Shutdown(stopCtx)
	if err != nil {
		// Whoever still waits for an answer must not outlive what the answer stands on.
		err = errors.Join(err, s.http.Close())
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) openAPI() error {
	handler, err := api.New(api.Config{
		Instances: s.instances,
		Messages:  s.messages,
		Directory: s.directory,
		Access:    s.access,
		Events:    s.log,
		Webhooks:  s.webhooks,
		Stopping:  s.stopping,
		Files:     s.links,
		Ready:     s.store.Ping,
		Version:   s.config.Version,
		PublicURL: s.config.PublicURL, BehindProxy: s.config.BehindProxy,
		MaxMedia: s.config.Media.MaxBytes,
		Limits:   s.config.Limits, TempDir: s.tempDir,
		Now:    s.config.Now,
		Logger: s.config.Logger,
	})
	if err != nil {
		return fmt.Errorf("server: build API: %w", err)
	}
	s.http = contract.NewHTTPServer(s.withSandbox(handler), s.config.Logger)
	return nil
}

// withSandbox puts the sandbox's paths beside the API's. It is no ServeMux: that
// would answer a doubled slash with a redirect, which the API does not have.
func (s *Server) withSandbox(handler http.Handler) http.Handler {
	if s.sandbox == nil {
		return handler
	}
	box := s.sandbox.Handler()
	both := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sandbox.Owns(r.URL.Path) {
			box.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
	return s.sandbox.Local(both, s.config.Listen, s.config.AllowHosts)
}
