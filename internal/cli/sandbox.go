// The command that runs a sandbox.

package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/doctor"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/worker"
)

const (
	sandboxHeaderWait = 10 * time.Second
	sandboxStopWait   = 10 * time.Second
)

// sandboxCommand runs a sandbox without a gateway.
type sandboxCommand struct {
	Listen    string   `help:"Address of the platform and its control API." default:"127.0.0.1:8090"`
	AllowHost []string `help:"Other host names to accept in requests, besides this machine's own." name:"allow-host" placeholder:"NAME,..."`
	Data      string   `help:"Folder that keeps the state between starts." default:"recado-sandbox" type:"path"`
	Load      bool     `help:"For load tests: phones acknowledge and deliver messages without decrypting them."`
	TLSListen string   `help:"Address that serves the same over TLS, for clients that require it." name:"tls-listen"`
	TLSCert   string   `help:"Certificate of that address, PEM." name:"tls-cert" type:"existingfile"`
	TLSKey    string   `help:"Private key of that certificate, PEM." name:"tls-key" type:"existingfile"`
}

// Run serves until ctx ends.
func (c sandboxCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	if c.TLSListen != "" && (c.TLSCert == "" || c.TLSKey == "") {
		return errors.New("--tls-listen needs --tls-cert and --tls-key")
	}
	warnBeyondLoopback(ctx, t, c.Listen)
	plain, err := listen(ctx, c.Listen) // first: an address that is taken leaves no data behind
	if err != nil {
		return err
	}
	stopping := make(chan struct{})
	box, err := sandbox.New(ctx, sandbox.Config{
		Path: filepath.Join(c.Data, "sandbox.db"), Load: c.Load, Logger: t.Logger, Stopping: stopping,
	})
	if err != nil {
		return errors.Join(err, plain.Close())
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	web := &http.Server{Handler: box.Local(box.Handler(scan.None{}), c.Listen, c.AllowHost), ReadHeaderTimeout: sandboxHeaderWait}
	web.RegisterOnShutdown(func() { close(stopping) }) // a server waits for its streams
	workers := []worker.Worker{
		{Name: "sandbox", Run: box.Run},
		{Name: "http", Run: serving(web, func() error { return web.Serve(plain) })},
	}
	if c.TLSListen != "" {
		secure, err := listen(ctx, c.TLSListen)
		if err != nil {
			return errors.Join(err, plain.Close())
		}
		webTLS := &http.Server{Handler: box.Local(box.Handler(scan.None{}), c.TLSListen, c.AllowHost), ReadHeaderTimeout: sandboxHeaderWait}
		workers = append(workers, worker.Worker{
			Name: "https",
			Run:  serving(webTLS, func() error { return webTLS.ServeTLS(box.TLSListener(secure), c.TLSCert, c.TLSKey) }),
		})
		t.Notef("sandbox over TLS at %s", secure.Addr())
	}
	key := box.RootKey()
	err = t.Print(
		map[string]string{"page": fmt.Sprintf("http://%s/sandbox", plain.Addr()), "url": fmt.Sprintf("ws://%s", plain.Addr()), "key": hex.EncodeToString(key[:]), "data": c.Data},
		fmt.Sprintf("sandbox at http://%s/sandbox (a page with its phones; control API at /sandbox/api), data in %s\nA gateway on it: recado serve --platform-url ws://%s --platform-key %x",
			plain.Addr(), c.Data, plain.Addr(), key),
	)
	if err != nil {
		return errors.Join(err, plain.Close())
	}
	group, err := worker.New(worker.Config{Workers: workers, StopWait: sandboxStopWait, Logger: t.Logger})
	if err != nil {
		return errors.Join(err, plain.Close())
	}
	return group.Run(ctx)
}

// warnBeyondLoopback warns if other machines can use a sandbox, which asks for no
// key.
func warnBeyondLoopback(ctx context.Context, t terminal.Terminal, address string) {
	if !doctor.IsLoopback(address) {
		t.Logger.WarnContext(ctx, "listening beyond this machine: everybody who can reach this address controls all phones of the sandbox",
			slog.String("listen", address))
	}
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return listener, nil
}

// serving makes a worker of an HTTP server.
func serving(web *http.Server, serve func() error) func(context.Context) error {
	return func(ctx context.Context) error {
		failed := make(chan error, 1)
		go func() { failed <- serve() }()
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
		}
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sandboxStopWait)
		defer cancel()
		err := web.Shutdown(stopCtx)
		if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
}
