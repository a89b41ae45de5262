// Package cli is the command line: one struct for each command, with its flags,
// their environment variables and their help. It decides nothing about messages
// or instances: dev, serve and sandbox run the program, those of the room data work on
// the data itself, and all others call a running gateway like any other client.
package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/internal/cli/data"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/settings"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// commands is the whole command line.
type commands struct {
	Dev            devCommand            `cmd:"" help:"Run the gateway with a sandbox: no phone, no account, no network."`
	Serve          serveCommand          `cmd:"" help:"Run the gateway."`
	Sandbox        sandboxCommand        `cmd:"" help:"Run a sandbox on its own, for gateways and other clients elsewhere."`
	Keys           data.KeysCommand      `cmd:"" help:"Create, list and revoke API keys, directly in the gateway's data."`
	Users          data.UsersCommand     `cmd:"" help:"Create, list and delete users of the dashboard, and make links to set a password, directly in the gateway's data."`
	MasterKey      data.MasterKeyCommand `cmd:"" name:"master-key" help:"Seal the secrets in the database with a master key: make one, change it, give it up."`
	Import         data.ImportCommand    `cmd:"" help:"Take linked devices over from another gateway, directly into the gateway's data."`
	Move           data.MoveCommand      `cmd:"" help:"Move the data from SQLite to PostgreSQL. The gateway must be stopped."`
	Backup         data.BackupCommand    `cmd:"" help:"Write a backup of the data and the files, while the gateway works."`
	Restore        data.RestoreCommand   `cmd:"" help:"Restore a backup into an empty folder or PostgreSQL database. The gateway must be stopped."`
	Export         data.ExportCommand    `cmd:"" help:"Write an instance as a store of whatsmeow, for another program."`
	Instances      instancesCommand      `cmd:"" help:"Create, link, list, stop and delete instances."`
	Send           sendCommand           `cmd:"" help:"Send a message."`
	Chats          chatsCommand          `cmd:"" help:"List and arrange chats."`
	Status         statusCommand         `cmd:"" help:"Post and list status posts."`
	Messages       messagesCommand       `cmd:"" help:"List, search, edit, delete, read, forward, react to and download messages, and count votes."`
	Queue          queueCommand          `cmd:"" help:"List and cancel messages that wait to be sent."`
	Events         eventsCommand         `cmd:"" help:"Show the events of an instance as they happen."`
	Webhook        remote.Webhook        `cmd:"" help:"Set up, test and resume the webhook of an instance."`
	AccountWebhook remote.AccountWebhook `cmd:"" help:"Set up webhooks for all instances of the account. Needs a partner key."`
	Numbers        remote.Numbers        `cmd:"" help:"Check which phone numbers have an account."`
	Contacts       remote.Contacts       `cmd:"" help:"List, name, block and unblock contacts, and show their pictures."`
	Labels         remote.Labels         `cmd:"" help:"List, make, change and delete labels, and put them on chats and messages."`
	Profile        remote.Profile        `cmd:"" help:"Show and change what others see of the account."`
	Privacy        remote.Privacy        `cmd:"" help:"Show and change what the account lets others see and do."`
	Blocks         remote.Blocks         `cmd:"" help:"List the people whom the account has blocked."`
	Calls          remote.Calls          `cmd:"" help:"Reject calls. To reject all, see recado instances set."`
	Groups         remote.Groups         `cmd:"" help:"List, create, change, join and leave groups."`
	Channels       remote.Channels       `cmd:"" help:"List, create, follow and read channels."`
	Communities    remote.Communities    `cmd:"" help:"List, create, link and unlink communities."`
	Presence       remote.Presence       `cmd:"" help:"Show a contact that the account is typing, recording, or online."`
	Health         healthCommand         `cmd:"" help:"Ask a running gateway whether it can serve requests."`
	Doctor         doctorCommand         `cmd:"" help:"Look at everything a gateway stands on, and say what is wrong and what to do. Takes the settings of serve, changes nothing, and works beside a running gateway."`
	Nodes          data.NodesCommand     `cmd:"" help:"List the processes that share a PostgreSQL database, and empty one of them."`
	Migrate        data.MigrateCommand   `cmd:"" help:"Bring the database up to date and stop."`
	Completion     completionCommand     `cmd:"" help:"Print the script that makes a shell complete recado's commands."`
	Version        versionCommand        `cmd:"" help:"Print the version."`
	Help           helpCommand           `cmd:"" help:"Explain a command: recado help send text."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version." env:"-"`
	JSON        bool             `name:"json" help:"Print results as JSON, for programs."`
	Log         terminal.Log     `embed:"" prefix:"log-"`
}

// environment is the prefix of all variables: --database-url is
// RECADO_DATABASE_URL.
const environment = "RECADO"

// exited carries the exit code of the parser, which prints help and ends.
type exited int

// Run carries out one command line, without the program's name, and returns the
// exit code: 0, or one of those that docs/cli.md explains. Ending ctx ends the
// command.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case exited:
			code = int(reason)
		default:
			panic(reason)
		}
	}()
	read, err := readLine(args, kong.Writers(stdout, stderr), kong.Exit(func(code int) { panic(exited(code)) }))
	if err != nil {
		return fail(stderr, err)
	}
	t := terminal.New(stdin, stdout, stderr, read.line.JSON, read.line.Log)
	read.parsed.BindTo(ctx, (*context.Context)(nil))
	var opened data.Closers
	read.parsed.Bind(t, read, &opened)
	if err := errors.Join(read.parsed.Run(), opened.Close()); err != nil {
		return fail(t.Err, err)
	}
	return 0
}

// invocation is a command line with the variables and the file of settings, all as they were
// when it was read.
type invocation struct {
	args   []string
	line   commands
	parsed *kong.Context
	file   *settings.File // nil without one
}

// readLine reads a command line. Its error is for people.
func readLine(args []string, options ...kong.Option) (*invocation, error) {
	read := &invocation{args: args}
	var loader settings.Loader
	parser, err := newParser(&read.line, append(options, kong.WithBeforeResolve(loader.Load))...)
	if err != nil {
		return nil, err
	}
	answerCompletion(parser)
	if read.parsed, err = parser.Parse(explicitHelp(args)); err != nil {
		return nil, mistaken(err)
	}
	read.file = loader.File
	return read, nil
}

func newParser(line *commands, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(line, append([]kong.Option{
		kong.Name("recado"),
		kong.Description("A self-hosted gateway: an HTTP API for a phone messenger."),
		kong.DefaultEnvars(environment),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.WithHyphenPrefixedParameters(true), // coordinates may be negative
		kong.Vars{"version": "recado " + terminal.Version()},
	}, options...)...)
}

// helpCommand exists to be listed: explicitHelp replaces it by --help.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// Run does nothing.
func (helpCommand) Run() error { return nil }

// explicitHelp turns "help send text" and a bare "recado" into --help.
func explicitHelp(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help" && !slices.ContainsFunc(args[1:], func(arg string) bool { return strings.HasPrefix(arg, "-") }):
		return append(slices.Clone(args[1:]), "--help")
	default:
		return args
	}
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(t terminal.Terminal) error {
	return t.Print(map[string]string{"version": t.Version}, "recado "+t.Version)
}
