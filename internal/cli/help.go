// What the program says of itself: a first screen with the commands that people need first, the list of all of them,
// and each command's own explanation.

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// subjects are the headings under which commands are listed.
func subjects() []kong.Group {
	return []kong.Group{
		{Key: "run", Title: "Run the gateway:"},
		{Key: "instances", Title: "Link phones, and look at them:"},
		{Key: "messages", Title: "Send and read:"},
		{Key: "programs", Title: "Connect your programs:"},
		{Key: "care", Title: "Keep it well:"},
		{Key: "people", Title: "People, groups and channels:"},
		{Key: "account", Title: "What others see of the account:"},
		{Key: "itself", Title: "The command line itself:"},
	}
}

// helpCommand exists to be listed: explicitHelp replaces it by --help.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, or all."`
}

// Run does nothing.
func (helpCommand) Run() error { return nil }

// explicitHelp turns "help send text", "help all" and a bare "recado" into --help.
func explicitHelp(args []string) []string {
	switch {
	case len(args) == 0 || asksForAll(args):
		return []string{"--help"}
	case args[0] == "help" && !slices.ContainsFunc(args[1:], func(arg string) bool { return strings.HasPrefix(arg, "-") }):
		return append(slices.Clone(args[1:]), "--help")
	default:
		return args
	}
}

// asksForAll reports whether a command line asks for the list of all commands.
func asksForAll(args []string) bool { return slices.Equal(args, []string{"help", "all"}) }

// helpFor returns what answers --help in a command line.
func helpFor(args []string) kong.HelpPrinter {
	return func(options kong.HelpOptions, ctx *kong.Context) error {
		selected := ctx.Selected()
		if selected == nil && !asksForAll(args) {
			return printFirstScreen(ctx.Stdout, ctx.Model)
		}
		options.FlagsLast = selected == nil
		for node := selected; node != nil; node = node.Parent {
			node.Group = nil // the subject is a heading of the list of all, not of a command's own commands
		}
		return kong.DefaultHelpPrinter(options, ctx)
	}
}

// printFirstScreen prints what the program is, the commands that people need first, and how to learn of the others.
func printFirstScreen(w io.Writer, app *kong.Application) error {
	var text strings.Builder
	fmt.Fprintf(&text, "Usage: %s <command> [flags]\n\n%s\n", app.Name, app.Help)
	subject := ""
	for _, command := range app.Children {
		if !command.Tag.Has("first") {
			continue
		}
		if command.Group.Key != subject {
			subject = command.Group.Key
			fmt.Fprintf(&text, "\n%s\n", command.Group.Title)
		}
		fmt.Fprintf(&text, "  %-8s  %s\n", command.Name, firstSentence(command.Help))
	}
	text.WriteString("\n" + `recado help all           all commands, by subject
recado help <command>     the same as recado <command> --help
recado <command> --json   the result as JSON, for programs
recado --version          the version
`)
	_, err := io.WriteString(w, text.String())
	return err
}

// firstSentence is the first sentence of an explanation.
func firstSentence(help string) string {
	if first, _, several := strings.Cut(help, ". "); several {
		return first + "."
	}
	return help
}
