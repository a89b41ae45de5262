package cli

import (
	"io"
	"log/slog"

	"github.com/recado-project/recado/internal/cli/shortlog"
)

// logFlags are the same for all commands.
type logFlags struct {
	Level  string `help:"Level of the log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	Format string `help:"Format of the log: text, json for programs, or short for people; auto means short for dev in a terminal and text otherwise." enum:"auto,text,json,short" default:"auto"`
}

func (f logFlags) level() slog.Level {
	return map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}[f.Level]
}

func (f logFlags) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.level()}
	switch f.Format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options))
	case "short":
		return slog.New(shortlog.New(w, f.level(), isTTY(underneath(w))))
	default:
		return slog.New(slog.NewTextHandler(w, options))
	}
}
