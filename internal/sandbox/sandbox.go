// Package sandbox is the platform on one's own machine: a server that speaks
// the real wire protocol to real clients, simulates the phones they talk to, and
// lets people and tests hold those phones through a control API.
//
// It is no connector and no flag: it is a server at an address, and nothing but
// the commands that start it knows that it exists.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/control"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/samples"
	"github.com/recado-project/recado/internal/sandbox/session"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/signallog"
	"github.com/recado-project/recado/internal/sqlite"
)

// WebsocketPath is where clients of the protocol connect.
const WebsocketPath = "/ws/chat"

// Config holds the settings of a Server.
type Config struct {
	Path      string           // the sandbox's database file
	Seed      *[32]byte        // the root key's seed; nil: drawn once and kept in the database
	Load      bool             // for load tests: phones neither decrypt nor keep messages
	ReadDelay time.Duration    // after which a phone reads a message; 0: one second
	Now       func() time.Time // nil: the system's clock
	Logger    *slog.Logger     // nil: nothing is logged

	// AllowPrivateURLs lets phones send files from private and loopback addresses
	// too, besides the sandbox's own samples.
	AllowPrivateURLs bool
}

// Server is a sandbox: the parts of the platform, which the control API offers over
// HTTP and callers in the same process can use directly. It is safe for concurrent
// use.
type Server struct {
	Phones     *phone.Service
	Profiles   *profile.Service
	Groups     *group.Book
	Linking    *link.Service
	Presences  *presence.Service
	Sessions   *session.Service
	Faults     *fault.Service
	Activities *account.ActivityLog

	config      Config
	db          *sqlite.DB
	authority   *noise.Authority
	connections *wire.Set
	media       *mediahost.Host
	files       *account.Files
	load        *load.Phones // nil unless the server runs for load tests
	control     http.Handler
}

// New opens the sandbox's database and restores its state. It starts nothing: Run
// does.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default of the clock that everything takes
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.ReadDelay == 0 {
		cfg.ReadDelay = time.Second
	}
	signallog.Quiet()
	s := &Server{config: cfg, connections: wire.NewSet()}
	err := s.open(ctx)
	if err == nil {
		s.compose()
		err = s.restore(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: open: %w", err), s.closeAll())
	}
	return s, nil
}

// Local wraps what is served at listen, Handler and whatever is beside it, so that
// pages of the web can't drive it through somebody's browser: requests for a host
// that is neither this machine, nor listen, nor one of names, are refused, and so
// are those of another origin that do more than read.
func (s *Server) Local(next http.Handler, listen string, names []string) http.Handler {
	return control.NewLocal(next, listen, names, s.config.Now)
}

// RootKey returns the public key that clients have to trust.
func (s *Server) RootKey() [32]byte { return s.authority.RootKey() }

// Handler serves clients' websockets, the media host, profile pictures, sample
// files and the control API. Other paths are unknown.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == WebsocketPath && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			s.Sessions.ServeWebsocket(w, r)
			return
		}
		switch {
		case mediahost.Owns(r.URL.Path):
			s.Faults.ServeMedia(w, r, s.media)
		case strings.HasPrefix(r.URL.Path, samples.Prefix):
			samples.Handler(w, r)
		case strings.HasPrefix(r.URL.Path, profile.PicturePath):
			s.Profiles.ServePicture(w, r)
		default:
			s.control.ServeHTTP(w, r)
		}
	})
}

// TLSListener wraps a listener on which Handler is served over TLS, so that the
// fault that is silent before TLS holds there.
func (s *Server) TLSListener(listener net.Listener) net.Listener {
	return s.Faults.SilentListener(listener)
}

// Run does the background work: phones deal with what they receive and read it. It
// blocks until ctx ends, closes all connections then, and returns nil when nothing
// runs any more. It is called once.
func (s *Server) Run(ctx context.Context) error {
	// Connections may still bring something while they close, which is dealt with.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var workers sync.WaitGroup
	workers.Go(func() { s.Phones.Run(work) })
	workers.Go(func() { s.Sessions.Run(work) })
	if s.load != nil {
		workers.Go(func() { s.load.Run(work) })
	}
	<-ctx.Done()
	s.connections.Shutdown()
	stop()
	workers.Wait()
	return s.Sessions.Flush(context.WithoutCancel(ctx))
}

// Close closes the connections that are still open, and the database. Run must
// have returned.
func (s *Server) Close() error {
	s.connections.Shutdown()
	if err := s.closeAll(); err != nil {
		return fmt.Errorf("sandbox: close: %w", err)
	}
	return nil
}
