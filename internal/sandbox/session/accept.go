// The beginning of a client's connection, with the faults that can be set for it.

package session

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

const handshakeTimeout = 20 * time.Second

// ServeWebsocket accepts a websocket and serves the client until the connection
// ends.
func (s *Service) ServeWebsocket(w http.ResponseWriter, r *http.Request) {
	f := s.config.Faults.Current()
	if f.Silent == fault.SilentConnection || f.Silent == fault.SilentUpgrade {
		s.config.Faults.SilenceRequest(f, w, r)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		// Clients come with the origin of the real platform's pages.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.config.Logger.LogAttrs(r.Context(), slog.LevelDebug, "websocket refused", slog.Any("error", err))
		return
	}
	if f.Silent == fault.SilentHandshake {
		s.config.Faults.Silence(r.Context(), f, fault.Messages(ws))()
		return
	}
	ctx, cut := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cut()
	conn := wire.NewConnection(ctx, cut, r, s.config.Logger)
	if !s.config.Connections.Add(conn) {
		_ = ws.CloseNow() // the server is stopping, and the client will notice
		return
	}
	defer s.config.Connections.Remove(conn)
	if err := s.shake(ctx, conn, ws); err != nil {
		s.config.Logger.LogAttrs(ctx, slog.LevelDebug, "handshake failed", slog.Any("error", err))
		return
	}
	defer func() { _ = conn.Noise.CloseNow() }() // it is closed already, or the client is gone
	if f.Silent == fault.SilentLogin {
		s.config.Faults.Silence(r.Context(), f, fault.Nodes(conn.Noise))()
		return
	}
	if err := s.newClient(conn).serve(ctx); ctx.Err() == nil {
		s.config.Logger.LogAttrs(ctx, slog.LevelDebug, "connection ended", slog.Any("error", err))
	}
}

// shake does the Noise handshake.
func (s *Service) shake(ctx context.Context, conn *wire.Connection, ws *websocket.Conn) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	conn.Noise, err = noise.Accept(ctx, ws, s.config.Authority)
	return err
}
