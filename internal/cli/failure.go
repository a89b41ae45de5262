// Failures of commands: their exit codes, and what a person is told to do.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/reason"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// The exit codes (docs/cli.md).
const (
	exitFailed      = 1   // the command failed, and would fail again
	exitUsage       = 2   // the command line is wrong
	exitTryLater    = 75  // the same command may succeed later (EX_TEMPFAIL of sysexits.h)
	exitInterrupted = 130 // Ctrl-C
)

// fail prints why a command failed and what to do about it, and returns the exit
// code.
func fail(stderr io.Writer, err error) int {
	code := exitCode(err)
	if code == exitInterrupted {
		return code // the user did it
	}
	_, _ = fmt.Fprintf(stderr, "recado: %s\n", terminal.Cleaned(reason.Of(err))) // if this fails, there is nowhere left to print it
	return code
}

func exitCode(err error) int {
	if _, ok := errors.AsType[*terminal.UsageError](err); ok {
		return exitUsage
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		if refusal.Temporary() {
			return exitTryLater
		}
		return exitFailed
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return exitTryLater
	}
	return exitFailed
}

// mistaken makes a usage error of an error of the parser.
func mistaken(err error) error {
	text := err.Error()
	if missing, ok := strings.CutPrefix(text, "missing flags: "); ok {
		names := regexp.MustCompile(`--[a-z-]+`).FindAllString(missing, -1)
		text = strings.Join(names, " and ") + map[bool]string{true: " are missing", false: " is missing"}[len(names) > 1]
	} else if missing := regexp.MustCompile(`^expected "(<[^"]*>.*)"$`).FindStringSubmatch(text); missing != nil {
		text = missing[1] + " is missing"
	}
	if parse, ok := errors.AsType[*kong.ParseError](err); ok {
		if path := parse.Context.Selected(); path != nil {
			if strings.HasPrefix(text, "expected one of ") {
				text = "a command is missing: " + childrenOf(path) // the parser lists only five
			}
			return terminal.WrongUsage("%s; see `recado help %s`", text, strings.TrimPrefix(path.Path(), "recado "))
		}
	}
	return terminal.WrongUsage("%s; see `recado help`", text)
}

// childrenOf names all commands below a command.
func childrenOf(command *kong.Node) string {
	var names []string
	for _, child := range command.Children {
		if child.Type == kong.CommandNode && !child.Hidden {
			names = append(names, child.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
