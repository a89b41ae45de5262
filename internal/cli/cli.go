// Package cli is the command line: one struct for each command, with its flags,
// their environment variables and their help. It decides nothing about messages
// or instances: dev, serve and sandbox run the program, those of the room data work on
// the data itself, and all others call a running gateway like any other client.
package cli

import (
	"context"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/internal/cli/data"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/settings"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// commands is the whole command line. The tag group says under which of the subjects a command is listed, and first
// puts it on the first screen.
type commands struct {
	Dev     devCommand     `cmd:"" group:"run" first:"" help:"Run the gateway with a sandbox: no phone, no account, no network."`
	Serve   serveCommand   `cmd:"" group:"run" first:"" help:"Run the gateway."`
	Sandbox sandboxCommand `cmd:"" group:"run" help:"Run a sandbox on its own, for gateways and other clients elsewhere."`

	List      listInstancesCommand `cmd:"" group:"instances" first:"" help:"List the instances. The same as instances list."`
	QR        linkInstanceCommand  `cmd:"" group:"instances" first:"" name:"qr" aliases:"link" help:"Show the codes that link an instance, until a phone has used one."`
	Status    statusCommand        `cmd:"" group:"instances" first:"" help:"Say how the gateway or an instance is doing, and what to do."`
	Logs      logsCommand          `cmd:"" group:"instances" first:"" aliases:"events" help:"Show the events of an instance as they happen."`
	Instances instancesCommand     `cmd:"" group:"instances" help:"Create, list, change, stop and delete instances."`

	Send        sendCommand        `cmd:"" group:"messages" first:"" help:"Send a message: recado send text --to NUMBER 'Oi!'"`
	Messages    messagesCommand    `cmd:"" group:"messages" help:"List, search, edit, delete, read, forward, react to and download messages, and count votes."`
	Chats       chatsCommand       `cmd:"" group:"messages" help:"List and arrange chats."`
	Queue       queueCommand       `cmd:"" group:"messages" help:"List and cancel messages that wait to be sent."`
	StatusPosts statusPostsCommand `cmd:"" group:"messages" name:"status-posts" help:"Post and list status posts."`
	Presence    remote.Presence    `cmd:"" group:"messages" help:"Show a contact that the account is typing, recording, or online."`

	Webhooks        remote.Webhooks        `cmd:"" group:"programs" first:"" help:"Set up, test and resume the webhooks of an instance."`
	AccountWebhooks remote.AccountWebhooks `cmd:"" group:"programs" help:"Set up webhooks for all instances of the account. Needs a partner key."`
	AppSecret       remote.AppSecrets      `cmd:"" group:"programs" name:"app-secret" help:"Set the secret that signs deliveries in the format cloud. Needs a partner key."`
	Keys            data.KeysCommand       `cmd:"" group:"programs" first:"" help:"Create, list and revoke API keys, in the gateway's data."`

	Doctor    doctorCommand         `cmd:"" group:"care" first:"" help:"Look at all that a gateway stands on, and say what to do. Takes the settings of serve, changes nothing, and works beside a running gateway."`
	Health    healthCommand         `cmd:"" group:"care" help:"Ask a running gateway whether it can serve requests, for health checks."`
	Users     data.UsersCommand     `cmd:"" group:"care" help:"Create, list and delete users of the dashboard, and make links to set a password, directly in the gateway's data."`
	MasterKey data.MasterKeyCommand `cmd:"" group:"care" name:"master-key" help:"Seal the secrets in the database with a master key: make one, change it, give it up."`
	Backup    data.BackupCommand    `cmd:"" group:"care" help:"Write a backup of the data and the files, while the gateway works."`
	Restore   data.RestoreCommand   `cmd:"" group:"care" help:"Restore a backup into an empty folder or PostgreSQL database. The gateway must be stopped."`
	Import    data.ImportCommand    `cmd:"" group:"care" help:"Take linked devices over from another gateway, directly into the gateway's data."`
	Export    data.ExportCommand    `cmd:"" group:"care" help:"Write an instance as a store of whatsmeow, for another program."`
	Move      data.MoveCommand      `cmd:"" group:"care" help:"Move the data from SQLite to PostgreSQL. The gateway must be stopped."`
	Migrate   data.MigrateCommand   `cmd:"" group:"care" help:"Bring the database up to date and stop."`
	Nodes     data.NodesCommand     `cmd:"" group:"care" help:"List the processes that share a PostgreSQL database, and empty one of them."`

	Numbers     remote.Numbers     `cmd:"" group:"people" help:"Check which phone numbers have an account."`
	Contacts    remote.Contacts    `cmd:"" group:"people" help:"List, name, block and unblock contacts, and show their pictures."`
	Blocks      remote.Blocks      `cmd:"" group:"people" help:"List the people whom the account has blocked."`
	Labels      remote.Labels      `cmd:"" group:"people" help:"List, make, change and delete labels, and put them on chats and messages."`
	Groups      remote.Groups      `cmd:"" group:"people" help:"List, create, change, join and leave groups."`
	Communities remote.Communities `cmd:"" group:"people" help:"List, create, link and unlink communities."`
	Channels    remote.Channels    `cmd:"" group:"people" help:"List, create, follow and read channels."`

	Profile remote.Profile `cmd:"" group:"account" help:"Show and change what others see of the account."`
	Privacy remote.Privacy `cmd:"" group:"account" help:"Show and change what the account lets others see and do."`
	Calls   remote.Calls   `cmd:"" group:"account" help:"Reject calls. To reject all, see recado instances set."`

	Completion completionCommand `cmd:"" group:"itself" help:"Print the script that makes a shell complete recado's commands."`
	Version    versionCommand    `cmd:"" group:"itself" help:"Print the version."`
	Help       helpCommand       `cmd:"" group:"itself" help:"Explain a command: recado help send text. List all of them: recado help all."`

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
	if few, fewer := fewCommands(args); fewer {
		if read, err := readBy(few, args, options...); err == nil {
			return read, nil
		}
		// What is wrong is said by the parser that knows all commands.
	}
	return readBy(reflect.ValueOf(&commands{}), args, options...)
}

// readBy reads a command line by a struct that is commands, or a part of it.
func readBy(grammar reflect.Value, args []string, options ...kong.Option) (*invocation, error) {
	read := &invocation{args: args}
	var loader settings.Loader
	parser, err := newParser(grammar.Interface(), append(options, kong.WithBeforeResolve(loader.Load), kong.Help(helpFor(args)))...)
	if err != nil {
		return nil, err
	}
	answerCompletion(parser)
	if read.parsed, err = parser.Parse(explicitHelp(args)); err != nil {
		return nil, mistaken(err)
	}
	read.file = loader.File
	line := reflect.ValueOf(&read.line).Elem()
	for field, value := range grammar.Elem().Fields() {
		line.FieldByName(field.Name).Set(value)
	}
	return read, nil
}

// fewCommands makes a struct like commands with the command alone that a command line begins with, and serve, whose flags
// are the settings: building the parser of all commands takes longer than most of them run. fewer is false where the line
// begins with no command, or asks for help or for completion, which speak of all.
func fewCommands(args []string) (grammar reflect.Value, fewer bool) {
	if len(args) == 0 || args[0] == "help" || slices.Contains(args, "--help") || slices.Contains(args, "-h") || isCompletion() {
		return grammar, false
	}
	found := slices.Equal(args, []string{"--version"})
	var fields []reflect.StructField
	for field := range reflect.TypeFor[commands]().Fields() {
		_, isCommand := field.Tag.Lookup("cmd")
		named := isCommand && isNamed(field, args[0])
		if named || !isCommand || field.Name == "Serve" {
			fields = append(fields, field)
		}
		found = found || named
	}
	return reflect.New(reflect.StructOf(fields)), found
}

// isNamed reports whether a word is the name of a field's command, or one of its aliases.
func isNamed(field reflect.StructField, word string) bool {
	name := field.Tag.Get("name")
	if name == "" {
		name = strings.ToLower(capitals.ReplaceAllString(field.Name, "$1-$2"))
	}
	return word == name || slices.Contains(strings.Split(field.Tag.Get("aliases"), ","), word)
}

// capitals are where the name of a field begins a new word.
var capitals = regexp.MustCompile("([a-z])([A-Z])")

func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append([]kong.Option{
		kong.Name("recado"),
		kong.Description("A self-hosted gateway: an HTTP API and a dashboard for a phone messenger."),
		kong.DefaultEnvars(environment),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ExplicitGroups(subjects()),
		kong.WithHyphenPrefixedParameters(true), // coordinates may be negative
		kong.Vars{"version": "recado " + terminal.Version()},
	}, options...)...)
}

// versionCommand prints the version.
type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(t terminal.Terminal) error {
	return t.Print(map[string]string{"version": t.Version}, "recado "+t.Version)
}
