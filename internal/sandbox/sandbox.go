// Package sandbox is the platform on one's own machine. It is a server that speaks
// the real wire protocol with real clients, and simulates the phones that they are
// linked to and write to. People and tests use those phones through a control API.
//
// It is written for the protocol, not for one client: it expects and answers what
// the two known implementations of clients need. Only the commands that start it
// know that it exists; everything else connects to its address.
//
// The database is the truth. Everything that was acknowledged to a client or to a
// caller is committed, together with the deliveries that it causes. Each part of
// the platform has a package of its own below this one, and Server puts them
// together.
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
	"github.com/recado-project/recado/internal/sandbox/call"
	"github.com/recado-project/recado/internal/sandbox/control"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/page"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/samples"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/sandbox/session"
	"github.com/recado-project/recado/internal/sandbox/webclient"
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
	ReadDelay time.Duration    // how long a phone waits before it reads a message; 0: one second
	Now       func() time.Time // nil: the system's clock
	Logger    *slog.Logger     // nil: nothing is logged

	// PasskeyName is the name that passkeys are for; "": localhost, where browsers have
	// them without TLS.
	PasskeyName string

	// The page of the phones: a channel that is closed when its streams have to end (nil: they
	// end with their requests), and the address of the gateway's own pages ("": there are none).
	Stopping <-chan struct{}
	Home     string

	// AllowPrivateURLs also lets phones send files from private and loopback
	// addresses. The sandbox's own samples are always allowed.
	AllowPrivateURLs bool
}

// Server is a sandbox. Its fields are the services of the platform, which the
// control API offers over HTTP and callers in the same process can use directly. It
// is safe for concurrent use.
type Server struct {
	Phones     *phone.Service
	Calls      *call.Service
	Profiles   *profile.Service
	Groups     *group.Book
	Linking    *link.Service
	Presences  *presence.Service
	Sessions   *session.Service
	Faults     *fault.Service
	Activities *account.ActivityLog
	Bell       *feed.Bell // rings when a phone shows something else

	config      Config
	db          *sqlite.DB
	authority   *noise.Authority
	connections *wire.Set
	media       *mediahost.Host
	files       *account.Files
	load        *load.Phones // nil unless the server runs for load tests
	control     http.Handler
	page        *page.Page
}

// New opens the sandbox's database and restores its state. Background work begins
// with Run.
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
		err = s.compose()
	}
	if err == nil {
		err = s.restore(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: open: %w", err), s.closeAll())
	}
	return s, nil
}

// Local wraps a handler that is served at listen, Handler alone or together with
// others, so that web pages can't use it through somebody's browser. It refuses
// requests for hosts other than this machine, listen and names, and requests from
// other origins that do more than read.
func (s *Server) Local(next http.Handler, listen string, names []string) http.Handler {
	return control.NewLocal(next, listen, names, s.config.Now)
}

// RootKey returns the public key that clients have to trust.
func (s *Server) RootKey() [32]byte { return s.authority.RootKey() }

// Owns reports whether Handler serves a request, for servers that also serve others. Files
// that other pages have too are among them: their names say what is in them.
func (s *Server) Owns(r *http.Request) bool {
	path := r.URL.Path
	return webclient.Owns(r) || path == WebsocketPath || strings.HasPrefix(path, "/sandbox/") || mediahost.Owns(path) || s.page.Owns(path)
}

// Handler serves websockets, the media host, profile pictures, sample files, the page of
// the phones, the control API, and under the messenger's own name the page of its web
// client. It answers 404 for other paths. codes are those that clients show right now, which their
// gateway knows; scan.None where nobody can say.
func (s *Server) Handler(codes scan.Codes) http.Handler {
	phones := s.page.Handler(codes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == WebsocketPath && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			s.Sessions.ServeWebsocket(w, r)
			return
		}
		switch {
		case webclient.Owns(r):
			s.Faults.ServeWebClient(w, r)
		case mediahost.Owns(r.URL.Path):
			s.Faults.ServeMedia(w, r, s.media)
		case strings.HasPrefix(r.URL.Path, samples.Prefix):
			samples.Handler(w, r)
		case strings.HasPrefix(r.URL.Path, profile.PicturePath):
			s.Profiles.ServePicture(w, r)
		case s.page.Owns(r.URL.Path):
			phones.ServeHTTP(w, r)
		default:
			s.control.ServeHTTP(w, r)
		}
	})
}

// TLSListener wraps a listener on which Handler is served over TLS, so that the
// fault SilentConnection applies there before TLS.
func (s *Server) TLSListener(listener net.Listener) net.Listener {
	return s.Faults.SilentListener(listener)
}

// Run lets phones handle and read what they have received. It blocks until ctx
// ends, and then closes all connections. It returns nil when no work goes on any
// more. It must be called once.
func (s *Server) Run(ctx context.Context) error {
	// The work continues until all connections are closed, because they may still
	// bring something.
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

// Close closes the database, and connections if any are still open. Run must have
// returned.
func (s *Server) Close() error {
	s.connections.Shutdown()
	if err := s.closeAll(); err != nil {
		return fmt.Errorf("sandbox: close: %w", err)
	}
	return nil
}
