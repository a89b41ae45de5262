// Failures of commands: their exit codes, and what a person is told to do.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/admin"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
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
	_, _ = fmt.Fprintf(stderr, "recado: %s\n", terminal.Cleaned(explain(err))) // if this fails, there is nowhere left to print it
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
	if usage, ok := errors.AsType[*terminal.UsageError](err); ok {
		return usage // of the command's own AfterApply
	}
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

// explain words an error for a person at a terminal: what is wrong, and the next step if there
// is one.
func explain(err error) string {
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		return explainRefusal(refusal)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return explainConnection(failed)
	}
	if listening, ok := errors.AsType[*net.OpError](err); ok && listening.Op == "listen" {
		flag := "--listen"
		if _, ok := errors.AsType[*admin.ListenError](err); ok {
			flag = "--admin-listen"
		}
		return explainListening(listening, flag)
	}
	if failure, ok := gateway.AsError(err); ok {
		return failure.Message
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok && failed.Op == "mkdir" {
		return fmt.Sprintf("the folder %s can't be created: %v; choose another with --data", failed.Path, failed.Err)
	}
	text := err.Error()
	for _, room := range []string{"server: ", "store: ", "sandbox: "} { // the package name does not help here
		text = strings.TrimPrefix(text, room)
	}
	return text
}

// explainRefusal adds the next step if there is one.
func explainRefusal(refusal *client.Error) string {
	if refusal.Code == "" {
		return fmt.Sprintf("the answer is %d %s, but not from a gateway: check --url or RECADO_URL", refusal.StatusCode, refusal.Message)
	}
	text := fmt.Sprintf("%s (%d %s)", refusal.Message, refusal.StatusCode, refusal.Code)
	switch refusal.Code {
	case client.CodeUnauthorized:
		return text + "; create a key with `recado keys create`, and pass it with --api-key or RECADO_API_KEY"
	case client.CodeNotFound:
		return text + "; check that --url or RECADO_URL is the address of a gateway, and that it is as new as this program"
	case client.CodeInstanceNotConnected:
		return text + "; `recado status INSTANCE` says what to do"
	case client.CodePlatformTimeout:
		if strings.Contains(refusal.Message, "can't be reached") {
			return text // it says why
		}
		return text + "; if this happens again, the gateway may be unable to reach the platform: its log says why"
	}
	return text
}

// explainConnection says why there was no answer.
func explainConnection(failed *url.Error) string {
	base := failed.URL
	if address, err := url.Parse(failed.URL); err == nil {
		base = address.Scheme + "://" + address.Host
	}
	const elsewhere = "choose another with --url or RECADO_URL"
	unknown, isUnknown := errors.AsType[*net.DNSError](failed)
	switch {
	case errors.Is(failed, syscall.ECONNREFUSED):
		return fmt.Sprintf("no gateway answers at %s; start one with `recado serve`, or %s", base, elsewhere)
	case isUnknown && unknown.IsNotFound:
		return fmt.Sprintf("no gateway answers at %s: there is no host %s; %s", base, unknown.Name, elsewhere)
	case failed.Timeout():
		return fmt.Sprintf("the gateway at %s did not answer in time; wait longer with --timeout, or %s", base, elsewhere)
	case errors.Is(failed, http.ErrSchemeMismatch):
		return fmt.Sprintf("the gateway at %s does not speak TLS: write http:// instead", base)
	default:
		return fmt.Sprintf("the gateway at %s can't be reached: %v", base, failed.Err)
	}
}

// explainListening says why the gateway can't listen at the address of a flag, and suggests another.
func explainListening(failed *net.OpError, flag string) string {
	if address, ok := errors.AsType[*net.AddrError](failed); ok && address.Err == "missing port in address" {
		if _, err := strconv.ParseUint(address.Addr, 10, 16); err == nil {
			return fmt.Sprintf("%s needs an address with a port, for example 127.0.0.1:%s or :%[2]s", flag, address.Addr)
		}
		return fmt.Sprintf("%s %q needs a port, for example %s", flag, address.Addr, net.JoinHostPort(strings.Trim(address.Addr, "[]"), "8080"))
	}
	if failed.Addr == nil {
		return failed.Error()
	}
	host, port, err := net.SplitHostPort(failed.Addr.String())
	number, numberErr := strconv.Atoi(port)
	switch {
	case err != nil || numberErr != nil:
		return failed.Error()
	case errors.Is(failed, syscall.EADDRINUSE):
		return fmt.Sprintf("port %s is in use; try %s %s", port, flag, net.JoinHostPort(host, strconv.Itoa(number+1)))
	case errors.Is(failed, syscall.EACCES):
		return fmt.Sprintf("port %s is reserved for the system's administrator; try %s %s", port, flag, net.JoinHostPort(host, "8080"))
	default:
		return fmt.Sprintf("can't listen on %s: %v", failed.Addr, failed.Err)
	}
}
