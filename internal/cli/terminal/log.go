// The log of a command, as its flags want it.

package terminal

import (
	"io"
	"log/slog"
)

// Log has the flags of the log, which are the same for all commands.
type Log struct {
	Level  string `help:"Level of the log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" reload:""`
	Format string `help:"Format of the log: text, json for programs, or short for people; auto means short for dev in a terminal and text otherwise." enum:"auto,text,json,short" default:"auto"`
}

// Least is the level of the lines that are written, and of all above it.
func (l Log) Least() slog.Level {
	return map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[l.Level]
}

func (l Log) logger(w io.Writer, isTTY bool, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	switch l.Format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options))
	case "short":
		return ShortLog(w, level, isTTY)
	default:
		return slog.New(slog.NewTextHandler(w, options))
	}
}
