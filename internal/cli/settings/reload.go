// Settings that change while the program runs.

package settings

import (
	"context"
	"log/slog"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"
)

// Values are the settings that a command line, its variables and the file have come to, by their
// names.
type Values map[string]any

// ValuesOf returns the settings of a command line that was parsed.
func ValuesOf(parsed *kong.Context) Values {
	values := Values{}
	known := Known(parsed.Model)
	for _, flag := range parsed.Flags() {
		if slices.Contains(known, flag) {
			values[flag.Name] = flag.Target.Interface()
		}
	}
	return values
}

// Reloads reports whether a setting changes by a reload. All others take a restart.
func Reloads(flag *kong.Flag) bool { return flag.Tag.Has("reload") }

// Fresh are settings that were read again.
type Fresh struct {
	Values   Values
	File     *File        // nil without one
	TakeOver func() error // of those that change by a reload; if it fails, nothing has changed
}

// Config is what a Reloader stands on. All of it is required.
type Config struct {
	Model   *kong.Application
	Running Values // from the start
	// Read reads the settings again, and checks them.
	Read   func() (Fresh, error)
	Logger *slog.Logger
	// Told is called after each reload; its error is why nothing has changed.
	Told func(err error)
}

// Reloader takes settings over while the program runs. It is used by one goroutine.
type Reloader struct {
	config  Config
	reloads map[string]bool
}

// NewReloader makes a reloader.
func NewReloader(config Config) *Reloader {
	r := &Reloader{config: config, reloads: map[string]bool{}}
	for _, flag := range Known(config.Model) {
		r.reloads[flag.Name] = Reloads(flag)
	}
	return r
}

// Reload reads the settings again and takes over those that can change now. If anything is wrong
// it changes nothing. The log says what has changed, by names and without values.
func (r *Reloader) Reload(ctx context.Context) {
	fresh, err := r.config.Read()
	if err == nil {
		err = fresh.TakeOver()
	}
	r.config.Told(err)
	if err != nil {
		r.config.Logger.ErrorContext(ctx, "settings not taken over; everything stays as it is", slog.Any("error", err))
		return
	}
	fresh.File.WarnExposed(ctx, r.config.Logger)
	taken, waiting := r.changed(fresh.Values)
	r.config.Logger.InfoContext(ctx, "settings read again", slog.Any("changed", taken))
	if len(waiting) > 0 {
		r.config.Logger.WarnContext(ctx, "settings have changed that need a restart", slog.Any("settings", waiting))
	}
	for _, name := range taken {
		r.config.Running[name] = fresh.Values[name]
	}
}

// changed names the settings with other values than those that the program works with: taken
// change by a reload, and waiting by a restart.
func (r *Reloader) changed(fresh Values) (taken, waiting []string) {
	taken = []string{}
	for name, value := range fresh {
		switch {
		case reflect.DeepEqual(value, r.config.Running[name]):
		case r.reloads[name]:
			taken = append(taken, name)
		default:
			waiting = append(waiting, name)
		}
	}
	slices.Sort(taken)
	slices.Sort(waiting)
	return taken, waiting
}
