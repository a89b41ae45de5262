package fault

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// SilentListener wraps a listener for TLS, so that SilentConnection also applies
// before the TLS handshake. The control API must be reachable at another listener,
// because clients that are kept silent can't lift the fault.
func (s *Service) SilentListener(listener net.Listener) net.Listener {
	return silentListener{Listener: listener, s: s}
}

type silentListener struct {
	net.Listener

	s *Service
}

// Accept returns the next connection. It keeps connections silent as long as the
// fault says so.
func (l silentListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		f := l.s.Current()
		if f.Silent != SilentConnection {
			return conn, nil
		}
		hold := l.s.Silence(context.Background(), f, conn)
		go hold()
	}
}

// Silence returns a function that keeps a connection open and silent. It returns
// when the client closes, when the faults are replaced, or when the server stops,
// which waits for it. The caller must call it. ctx is used only for its values.
func (s *Service) Silence(ctx context.Context, f *Current, conn io.ReadCloser) func() {
	ctx, cut := context.WithCancel(context.WithoutCancel(ctx))
	held := wire.NewSilent(ctx, cut)
	if !s.connections.Add(held) {
		cut() // the server is stopping
		return func() { _ = conn.Close() }
	}
	return func() {
		var watching sync.WaitGroup
		watching.Go(func() {
			select {
			case <-f.replaced:
			case <-ctx.Done():
			}
			_ = conn.Close() // it ends the reading below; the client may be gone
		})
		_, _ = io.Copy(io.Discard, conn) // until the client disconnects
		cut()
		watching.Wait()
		s.connections.Remove(held)
	}
}

// SilenceRequest keeps the connection of a request open and silent, even if a part of
// the answer is already sent.
func (s *Service) SilenceRequest(f *Current, w http.ResponseWriter, r *http.Request) {
	// The connection is hijacked, because a server that stops waits for all
	// requests that it still owns.
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.logger.LogAttrs(r.Context(), slog.LevelWarn, "a fault can't take this connection", slog.Any("error", err))
		return
	}
	s.Silence(r.Context(), f, conn)()
}

// Messages returns a reader that discards a websocket's messages.
func Messages(ws *websocket.Conn) io.ReadCloser { return messageReader{ws} }

type messageReader struct{ ws *websocket.Conn }

func (w messageReader) Read([]byte) (int, error) {
	_, _, err := w.ws.Read(context.Background())
	return 0, err
}

func (w messageReader) Close() error { return w.ws.CloseNow() }

// Nodes returns a reader that discards a client's nodes.
func Nodes(conn *noise.Conn) io.ReadCloser { return nodeReader{conn} }

type nodeReader struct{ noise *noise.Conn }

func (n nodeReader) Read([]byte) (int, error) {
	_, err := n.noise.ReadNode(context.Background())
	return 0, err
}

func (n nodeReader) Close() error { return n.noise.CloseNow() }

// ServeMedia passes a request on to the media host, and applies the faults to the
// answer.
func (s *Service) ServeMedia(w http.ResponseWriter, r *http.Request, media http.Handler) {
	f := s.Current()
	if path, channel := strings.CutPrefix(r.URL.Path, "/newsletter/"); channel && f.DropHandles {
		r = r.Clone(r.Context())
		r.URL.Path = "/mms/" + path
	}
	after := f.StallMedia
	if r.URL.Query().Get("mms-type") == historyMedia {
		after = f.StallHistory
	}
	if r.Method != http.MethodGet || after == nil && f.MediaPadding == 0 {
		media.ServeHTTP(w, r)
		return
	}
	faulty := &faultyWriter{ResponseWriter: w, limit: after, padding: f.MediaPadding}
	media.ServeHTTP(faulty, r)
	if faulty.status != http.StatusOK {
		return
	}
	err := faulty.pad()
	if faulty.stalled {
		_ = http.NewResponseController(w).Flush() // the client may be gone
		s.SilenceRequest(f, w, r)
	} else if err != nil {
		s.logger.LogAttrs(r.Context(), slog.LevelDebug, "media not sent", slog.Any("error", err))
	}
}

// ServeWebClient answers with the page of the web client, and applies the faults to it.
func (s *Service) ServeWebClient(w http.ResponseWriter, r *http.Request) {
	f := s.Current()
	webclient.Serve(w, f.NewestVersion, f.VersionPage, func() { s.SilenceRequest(f, w, r) })
}

// historyMedia is the media type with which clients fetch a history.
const historyMedia = "md-msg-hist"

var errStalled = errors.New("fault: the media host has fallen silent")

// faultyWriter sends more than a file, or only a part of it.
type faultyWriter struct {
	http.ResponseWriter

	limit   *int64 // how much is sent; nil: all
	padding int64
	status  int
	sent    int64
	stalled bool
}

// WriteHeader adds the padding to the announced length.
func (f *faultyWriter) WriteHeader(status int) {
	if f.status == 0 {
		f.status = status
	}
	if length, err := strconv.ParseInt(f.Header().Get("Content-Length"), 10, 64); err == nil && status == http.StatusOK {
		f.Header().Set("Content-Length", strconv.FormatInt(length+f.padding, 10))
	}
	f.ResponseWriter.WriteHeader(status)
}

// Write sends bytes up to the limit, and returns errStalled beyond it.
func (f *faultyWriter) Write(p []byte) (int, error) {
	if f.status == 0 {
		f.WriteHeader(http.StatusOK)
	}
	if f.status == http.StatusOK && f.limit != nil && f.sent+int64(len(p)) > *f.limit {
		p, f.stalled = p[:max(0, *f.limit-f.sent)], true
	}
	n, err := f.ResponseWriter.Write(p)
	f.sent += int64(n)
	if err == nil && f.stalled {
		err = errStalled
	}
	return n, err
}

// pad sends the padding after the file.
func (f *faultyWriter) pad() error {
	zeros := make([]byte, 64<<10)
	for left := f.padding; left > 0 && !f.stalled; {
		n, err := f.Write(zeros[:min(left, int64(len(zeros)))])
		left -= int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}
