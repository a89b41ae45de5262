// Package cli is the command line: one struct for each command, with its flags,
// their environment variables and their help. It decides nothing about messages
// or instances: dev, serve and sandbox start the program, keys works on the data
// itself, and instances calls a running gateway as any other client does.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"
)

// commands is the whole command line.
type commands struct {
	Dev       devCommand       `cmd:"" help:"Run the gateway with a sandbox: no phone, no account, no network."`
	Serve     serveCommand     `cmd:"" help:"Run the gateway."`
	Sandbox   sandboxCommand   `cmd:"" help:"Run a sandbox alone, for gateways and other clients elsewhere."`
	Instances instancesCommand `cmd:"" help:"Create, list and link instances of a running gateway."`
	Send      sendCommand      `cmd:"" help:"Send a message through a running gateway."`
	Keys      keysCommand      `cmd:"" help:"Create, list and revoke API keys."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database up to date and stop."`
	Version   versionCommand   `cmd:"" help:"Print the version."`

	Log logFlags `embed:"" prefix:"log-"`
}

// logFlags are the same for all commands.
type logFlags struct {
	Level  slog.Level `help:"What is logged: debug, info, warn or error." default:"info"`
	Format string     `help:"How: text for people, json for programs." enum:"text,json" default:"text"`
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.Level}
	if f.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// terminal is where a command writes: results to out, everything else to err.
type terminal struct {
	out, err io.Writer
	logger   *slog.Logger
	now      func() time.Time
}

// printf writes a result. A terminal that is gone ends the command by its
// context; there is nobody to tell.
func (t terminal) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format, args...)
}

// environment is the prefix of all variables: --database-url is
// RECADO_DATABASE_URL.
const environment = "RECADO"

// exited carries the exit code that the command line's own help asks for.
type exited int

// Run carries out one command line, without the program's name, and returns the
// exit code: 0, 1 where the command failed, 2 where the line is wrong.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case exited:
			code = int(reason)
		default:
			panic(reason)
		}
	}()
	var line commands
	parser, err := newParser(&line, kong.Writers(stdout, stderr), kong.Exit(func(code int) { panic(exited(code)) }))
	if err != nil {
		return fail(stderr, err, 2)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return fail(stderr, err, 2)
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.Bind(terminal{out: stdout, err: stderr, logger: line.Log.logger(stderr), now: time.Now})
	if err := parsed.Run(); err != nil && !errors.Is(err, context.Canceled) {
		return fail(stderr, err, 1)
	}
	return 0
}

func newParser(line *commands, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(line, append([]kong.Option{
		kong.Name("recado"),
		kong.Description("A self-hosted gateway: an HTTP API for a phone messenger."),
		kong.UsageOnError(),
		kong.DefaultEnvars(environment),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}, options...)...)
}

func fail(stderr io.Writer, err error, code int) int {
	_, _ = fmt.Fprintf(stderr, "recado: %v\n", err) // nothing is left to tell it to
	return code
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(t terminal) error {
	t.printf("recado %s\n", version())
	return nil
}

// version is the module's, as the build noted it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.0.0-dev"
}
