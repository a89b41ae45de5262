// Settings of serve that change while it runs.

package cli

import (
	"context"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/internal/cli/repeatlog"
	"github.com/recado-project/recado/internal/cli/settings"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/server"
)

// reloads take settings over into a gateway that runs.
type reloads struct {
	t      terminal.Terminal
	log    *repeatlog.Log
	server *server.Server
	read   *invocation // at the start
}

// run reloads at each hangup until ctx ends. If the window that the gateway was started in has
// been closed, the hangup says that, and stop is called.
func (r reloads) run(ctx context.Context, hangups <-chan os.Signal, stop func()) {
	reloader := settings.NewReloader(settings.Config{
		Model: r.read.parsed.Model, Running: settings.ValuesOf(r.read.parsed), Read: r.again,
		Logger: r.log.Logger(), Told: func(err error) { r.server.RefusedSettings(err != nil) },
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			if r.t.Gone() {
				stop()
				return
			}
			reloader.Reload(ctx)
		}
	}
}

// again reads the command line, the variables and the file once more.
func (r reloads) again() (settings.Fresh, error) {
	read, err := readLine(r.read.args, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return settings.Fresh{}, err
	}
	config, err := read.line.Serve.config()
	if err != nil {
		return settings.Fresh{}, err
	}
	return settings.Fresh{Values: settings.ValuesOf(read.parsed), File: read.file, TakeOver: func() error {
		if err := r.server.Change(config); err != nil {
			return err
		}
		r.t.Level.Set(read.line.Log.Least())
		r.log.Limit(read.line.Serve.LogRepeats)
		return nil
	}}, nil
}
