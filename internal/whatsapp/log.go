package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"

	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// log passes whatsmeow's warnings and errors to the program's log. Its finer lines hold
// whole nodes, so they are dropped.
type log struct {
	logger *slog.Logger
}

func newLog(logger *slog.Logger) waLog.Logger { return log{logger: logger} }

// longDigits are phone numbers, LIDs and identifiers, which must not be logged.
var longDigits = regexp.MustCompile(`\d{6,}`)

func (l log) Errorf(format string, args ...any) { l.write(slog.LevelError, format, args) }
func (l log) Warnf(format string, args ...any)  { l.write(slog.LevelWarn, format, args) }
func (log) Infof(string, ...any)                {}
func (log) Debugf(string, ...any)               {}

// Sub returns the same logger: the modules' names do not help an operator.
func (l log) Sub(string) waLog.Logger { return l }

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
