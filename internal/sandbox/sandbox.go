// Package sandbox is the platform on one's own machine: a server that speaks
// the real wire protocol to real clients, simulates the phones they talk to, and
// lets people and tests hold those phones through a control API.
//
// It is no connector and no flag: it is a server at an address, and nothing but
// the commands that start it knows that it exists.
package sandbox

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/sandbox/control"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/platform"
	"github.com/recado-project/recado/internal/sandbox/samples"
	"github.com/recado-project/recado/internal/signallog"
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

// Server is a sandbox. It is safe for concurrent use.
type Server struct {
	platform *platform.Server
	control  http.Handler
}

// New opens the sandbox's database and restores its state. It starts nothing.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	signallog.Quiet()
	p, err := platform.New(ctx, platform.Config{
		Path: cfg.Path, Seed: cfg.Seed, Load: cfg.Load, ReadDelay: cfg.ReadDelay, Now: cfg.Now, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	guard := outbound.NewGuard(nil)
	if cfg.AllowPrivateURLs {
		guard = nil
	}
	return &Server{platform: p, control: control.New(p, guard, cfg.Logger)}, nil
}

// Local wraps what is served at listen, Handler and whatever is beside it, so that
// pages of the web can't drive it through somebody's browser: requests for a host
// that is neither this machine, nor listen, nor one of names, are refused, and so
// are those of another origin that do more than read.
func (s *Server) Local(next http.Handler, listen string, names []string) http.Handler {
	return control.NewLocal(next, listen, names, s.platform.Now)
}

// RootKey returns the public key that clients have to trust.
func (s *Server) RootKey() [32]byte { return s.platform.RootKey() }

// Platform returns the platform server, whose methods are what the control API
// offers, for callers in the same process.
func (s *Server) Platform() *platform.Server { return s.platform }

// Handler serves clients' websockets, the media host, profile pictures, sample
// files and the control API. Other paths are unknown.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == WebsocketPath && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			s.platform.ServeWebsocket(w, r)
			return
		}
		switch {
		case mediahost.Owns(r.URL.Path):
			s.platform.ServeMedia(w, r)
		case strings.HasPrefix(r.URL.Path, samples.Prefix):
			samples.Handler(w, r)
		case strings.HasPrefix(r.URL.Path, platform.PicturePath):
			s.platform.ServePicture(w, r)
		default:
			s.control.ServeHTTP(w, r)
		}
	})
}

// TLSListener wraps a listener on which Handler is served over TLS, so that the
// fault that is silent before TLS holds there.
func (s *Server) TLSListener(listener net.Listener) net.Listener {
	return s.platform.SilentListener(listener)
}

// Run does the background work. It blocks until ctx ends, closes all
// connections then, and returns nil when nothing runs any more. It is called
// once.
func (s *Server) Run(ctx context.Context) error { return s.platform.Run(ctx) }

// Close closes the connections that are still open, and the database. Run must
// have returned.
func (s *Server) Close() error { return s.platform.Close() }
