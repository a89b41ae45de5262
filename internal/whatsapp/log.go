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

// log hands whatsmeow's warnings and errors to our log. Its finer lines hold
// whole nodes, so they go nowhere.
type log struct {
	logger *slog.Logger
}

func newLog(logger *slog.Logger) waLog.Logger { return log{logger: logger} }

// longDigits are phone numbers, LIDs and identifiers: they have no place in a
// log.
var longDigits = regexp.MustCompile(`\d{6,}`)

func (l log) Errorf(format string, args ...any) { l.write(slog.LevelError, format, args) }
func (l log) Warnf(format string, args ...any)  { l.write(slog.LevelWarn, format, args) }
func (log) Infof(string, ...any)                {}
func (log) Debugf(string, ...any)               {}

// Sub returns the same logger: the modules' names are no help to an operator.
func (l log) Sub(string) waLog.Logger { return l }

func (l log) write(level slog.Level, format string, args []any) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, level) || slices.ContainsFunc(args, expected) {
		return
	}
	detail := longDigits.ReplaceAllString(fmt.Sprintf(format, args...), "…")
	l.logger.LogAttrs(ctx, level, "platform client", slog.String("detail", detail))
}

// expected reports whether an argument is an error that we cause on purpose: by
// keeping whatsmeow from the keys, or by ending a connection under it.
func expected(arg any) bool {
	err, ok := arg.(error)
	return ok && (errors.Is(err, keys.ErrStay) || errors.Is(err, context.Canceled))
}
