// Package admin is the listener for those who run the program: metrics, whether the process
// lives and can serve, and profiles. It asks for no key and no password, so it belongs on
// an address that strangers can't reach.
package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// stopWait is how long an answer may take when the program stops. A profile takes
	// longer, and is cut off.
	stopWait = time.Second
	// readyPatience is how long the database may take to say that it is there.
	readyPatience = 5 * time.Second
)

// Config is what a Listener serves. All of it is required.
type Config struct {
	Listen  string       // host:port; port 0 takes a free one
	Metrics http.Handler // the page that Prometheus scrapes
	// Ready reports whether requests can be served. The message of a gateway.Error is shown;
	// any other error is the database's, and is logged.
	Ready  func(ctx context.Context) error
	Logger *slog.Logger
}

// ListenError is the error of an address that can't be listened at.
type ListenError struct{ Err error }

// Error is that of the address.
func (e *ListenError) Error() string { return "admin: " + e.Err.Error() }

// Unwrap returns the error of the address.
func (e *ListenError) Unwrap() error { return e.Err }

// Listener serves the pages. It is safe for concurrent use.
type Listener struct {
	config   Config
	listener net.Listener
	http     *http.Server

	begin   sync.Once
	ended   chan struct{} // closed when nothing is served any more; nil before Begin
	failure error         // why, once it is
}

// New listens, or returns a *ListenError. The caller must call Run or Close.
func New(ctx context.Context, config Config) (*Listener, error) {
	if err := required.Check("admin", config); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", config.Listen)
	if err != nil {
		return nil, &ListenError{err}
	}
	l := &Listener{config: config, listener: listener}
	l.http = &http.Server{
		Handler: l.guard(l.pages()), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(config.Logger.Handler(), slog.LevelDebug),
	}
	return l, nil
}

// Addr is the address that it listens at.
func (l *Listener) Addr() net.Addr { return l.listener.Addr() }

// Run serves until ctx ends.
func (l *Listener) Run(ctx context.Context) error {
	l.Begin()
	l.config.Logger.InfoContext(ctx, "metrics, readiness and profiles are served", slog.String("admin_listen", l.Addr().String()))
	select {
	case <-l.ended:
		err := l.failure
		return fmt.Errorf("admin: %w", err)
	case <-ctx.Done():
	}
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWait)
	defer cancel()
	err := l.http.Shutdown(stopCtx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.http.Close()
	}
	<-l.ended
	if !errors.Is(l.failure, http.ErrServerClosed) {
		err = errors.Join(err, l.failure)
	}
	return err
}

// Begin begins to serve, before Run. Its caller must call Run or Close.
func (l *Listener) Begin() {
	l.begin.Do(func() {
		l.ended = make(chan struct{})
		go func() {
			defer close(l.ended)
			l.failure = l.http.Serve(l.listener)
		}()
	})
}

// Close ends the listening. It may be called after Run.
func (l *Listener) Close() error {
	if l.ended != nil { // Begin was called
		if err := l.http.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("admin: %w", err)
		}
		<-l.ended
	}
	if err := l.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// pages are all there is. The command line of the process is not among the profiles: it
// may hold the password of the database.
func (l *Listener) pages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", l.config.Metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", l.ready)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusOK, "/metrics\n/healthz\n/readyz\n/debug/pprof/")
	})
	return mux
}

// ready answers 503 with the reason while requests can't be served.
func (l *Listener) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyPatience)
	defer cancel()
	if err := l.config.Ready(ctx); err != nil {
		why := "the database does not answer, or takes no writes"
		if known, ok := gateway.AsError(err); ok {
			why = known.Message
		} else {
			l.config.Logger.WarnContext(ctx, "not ready", slog.Any("error", err))
		}
		say(w, http.StatusServiceUnavailable, why)
		return
	}
	say(w, http.StatusOK, "ready")
}

func say(w http.ResponseWriter, status int, text string) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // an error means that the client has gone
}

// guard refuses what a browser asks for in the name of a foreign page, because no password does.
// On loopback it also refuses foreign names, which a page may have pointed here.
func (l *Listener) guard(next http.Handler) http.Handler {
	local := false
	if address, ok := l.listener.Addr().(*net.TCPAddr); ok {
		local = address.IP.IsLoopback()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if foreign(r.Header.Get("Sec-Fetch-Site")) || local && !isLocal(r.Host) {
			say(w, http.StatusForbidden, "this address is not for web pages")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign reports whether a browser asks in the name of a page that is not ours. Programs do
// not say, and people who type the address are nobody's page.
func foreign(site string) bool { return site != "" && site != "none" && site != "same-origin" }

// isLocal reports whether a Host names this machine, or any address by its number.
func isLocal(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	return host == "localhost" || net.ParseIP(host) != nil
}
