// The HTTP server, with the limits of a connection.

package contract

import (
	"log/slog"
	"net/http"
	"time"
)

// Limits of a connection. A send waits for the platform, so an answer may take
// longer than a request; a body of media takes a while on a slow line.
const (
	maxHeaderBytes    = 64 << 10
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 2 * time.Minute
	writeTimeout      = 5 * time.Minute
	idleTimeout       = 2 * time.Minute
)

// NewHTTPServer makes the server for the API's handler, with bounds on headers
// and time. The caller gives it a listener and stops it.
func NewHTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug), // mistakes of clients before a request begins
		// So that "OPTIONS *" is answered like every other unknown route.
		DisableGeneralOptionsHandler: true,
	}
}
