package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/socket"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// sessionLogger makes the logger of a session: every line names its instance, and no error in it
// names the people that the platform client was busy with.
func sessionLogger(logger *slog.Logger, instanceID string) *slog.Logger {
	return slog.New(anonymous{logger.Handler()}).With(slog.String("instance_id", instanceID))
}

// anonymous is a handler that takes numbers and nodes out of the errors in lines.
type anonymous struct{ slog.Handler }

// Handle writes a line.
func (h anonymous) Handle(ctx context.Context, line slog.Record) error {
	clean := slog.NewRecord(line.Time, line.Level, line.Message, line.PC)
	line.Attrs(func(attr slog.Attr) bool {
		if err, ok := attr.Value.Any().(error); ok {
			attr.Value = slog.StringValue(wire.Anonymous(err.Error()))
		}
		clean.AddAttrs(attr)
		return true
	})
	return h.Handler.Handle(ctx, clean) //nolint:wrapcheck // it is the handler's own
}

// WithAttrs returns the handler with attributes.
func (h anonymous) WithAttrs(attributes []slog.Attr) slog.Handler {
	return anonymous{h.Handler.WithAttrs(attributes)}
}

// WithGroup returns the handler with a group.
func (h anonymous) WithGroup(name string) slog.Handler { return anonymous{h.Handler.WithGroup(name)} }

// log passes whatsmeow's warnings and errors to the session's log. Its finer lines hold
// whole nodes, so they are dropped.
type log struct{ logger *slog.Logger }

func (l log) Errorf(format string, args ...any) { l.write(slog.LevelError, format, args) }
func (l log) Warnf(format string, args ...any)  { l.write(slog.LevelWarn, format, args) }
func (log) Infof(string, ...any)                {}
func (log) Debugf(string, ...any)               {}

// Sub returns the same logger: the modules' names do not help an operator.
func (l log) Sub(string) waLog.Logger { return l }

func (l log) write(level slog.Level, format string, args []any) {
	if slices.Contains(partings(), format) || slices.ContainsFunc(args, isParting) {
		level = slog.LevelDebug
	}
	ctx := context.Background()
	if !l.logger.Enabled(ctx, level) || slices.ContainsFunc(args, expected) {
		return
	}
	shown := make([]any, len(args))
	for n, arg := range args {
		shown[n] = withoutContent(arg)
	}
	l.logger.LogAttrs(ctx, level, "platform client", slog.String("detail", fmt.Sprintf(format, shown...)))
}

// withoutContent returns what a line may show of an argument: of a node its tag and its identifier, since
// the rest is what people are called and have written, and of everything else what names nobody.
func withoutContent(arg any) any {
	switch arg := arg.(type) {
	case *waBinary.Node:
		if arg != nil {
			return nameOf(*arg)
		}
	case waBinary.Node:
		return nameOf(arg)
	case time.Duration:
		return arg.Round(time.Millisecond)
	case []byte: // of keys, their names
		return arg
	}
	switch reflect.ValueOf(arg).Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint64, reflect.Uint32, reflect.Invalid:
		return arg
	default:
		return wire.Anonymous(fmt.Sprint(arg))
	}
}

func nameOf(node waBinary.Node) string {
	return strings.TrimSpace(node.Tag + " " + node.AttrGetter().OptionalString("id"))
}

// partings are the lines of whatsmeow that say only that a connection has ended. What follows from it is
// the session's to say, once, with the reason.
func partings() []string {
	return []string{
		"Error reading from websocket: %v",
		"Error sending close to websocket: %v",
		"Received stream end frame",
		"Got 503 stream error, assuming automatic reconnect will handle it",
		"Got %d/%s connect failure, assuming automatic reconnect will handle it",
		"Failed to send keepalive: %v",
		"Keepalive timed out",
	}
}

// isParting reports whether an argument is the error of somebody who needed a connection that
// has ended.
func isParting(arg any) bool {
	err, ok := arg.(error)
	if !ok {
		return false
	}
	_, disconnected := errors.AsType[*whatsmeow.DisconnectedError](err)
	return disconnected || errors.Is(err, whatsmeow.ErrNotConnected) || errors.Is(err, socket.ErrSocketClosed) || errors.Is(err, net.ErrClosed)
}

// expected reports whether an argument is an error that this package causes on purpose: by
// keeping whatsmeow from deleting keys, or by ending its connection.
func expected(arg any) bool {
	err, ok := arg.(error)
	return ok && (errors.Is(err, keys.ErrStay) || errors.Is(err, keys.ErrLater) || errors.Is(err, context.Canceled))
}
