package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// log passes whatsmeow's warnings and errors to the program's log. Its finer lines hold
// whole nodes, so they are dropped.
type log struct {
	logger *slog.Logger
	// read is told of every node that the platform has sent, before whatsmeow handles it: the
	// library passes on only what it understands, and shows the rest to its log alone.
	read func(node *waBinary.Node)
}

// newLog makes the log of a client; read may be nil.
func newLog(logger *slog.Logger, read func(node *waBinary.Node)) waLog.Logger {
	return log{logger: logger, read: read}
}

// longDigits are phone numbers, LIDs and identifiers, which must not be logged.
var longDigits = regexp.MustCompile(`\d{6,}`)

func (l log) Errorf(format string, args ...any) { l.write(slog.LevelError, format, args) }
func (l log) Warnf(format string, args ...any)  { l.write(slog.LevelWarn, format, args) }
func (log) Infof(string, ...any)                {}
func (log) Debugf(string, ...any)               {}

// Sub returns the same logger: the modules' names do not help an operator. The one of what is read
// passes nodes on.
func (l log) Sub(module string) waLog.Logger {
	if module == "Recv" && l.read != nil {
		return readLog{l}
	}
	return l
}

// readLog is the log of what is read.
type readLog struct{ log }

// Debugf passes on the node of a line that has one.
func (l readLog) Debugf(_ string, args ...any) {
	if len(args) != 1 {
		return
	}
	if node, ok := args[0].(*waBinary.Node); ok && node != nil {
		l.read(node)
	}
}

func (l log) write(level slog.Level, format string, args []any) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, level) || slices.ContainsFunc(args, expected) {
		return
	}
	detail := longDigits.ReplaceAllString(fmt.Sprintf(format, args...), "…")
	l.logger.LogAttrs(ctx, level, "platform client", slog.String("detail", detail))
}

// expected reports whether an argument is an error that this package causes on purpose: by
// keeping whatsmeow from deleting keys, or by ending its connection.
func expected(arg any) bool {
	err, ok := arg.(error)
	return ok && (errors.Is(err, keys.ErrStay) || errors.Is(err, keys.ErrLater) || errors.Is(err, context.Canceled))
}
