// How the file of settings comes into the command line: flag, then variable, then file.

package settings

import (
	"os"

	"github.com/alecthomas/kong"
)

// Loader gives one parse of a command line the settings of a file.
type Loader struct {
	File *File // that was read; nil if none was named
	done bool
}

// Load reads the file that the command line or its variable names, for a command that takes
// one. It is a hook of the parser, which calls it several times.
func (l *Loader) Load(ctx *kong.Context) error {
	if l.done {
		return nil
	}
	l.done = true
	for _, flag := range ctx.Flags() {
		if flag.Name != flagName {
			continue
		}
		path, _ := ctx.FlagValue(flag).(string)
		if path == "" {
			return nil
		}
		var err error
		if l.File, err = Read(path, Known(ctx.Model)); err == nil {
			ctx.AddResolver(kong.ResolverFunc(l.File.resolve))
		}
		return err
	}
	return nil
}

// resolve gives a flag its value from the file. The parser asks for those that are not on the
// command line; a variable comes before the file too.
func (f *File) resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil //nolint:nilnil // the parser has a value
		}
	}
	if found, ok := f.values[flag.Name]; ok {
		return found.text, nil
	}
	return nil, nil //nolint:nilnil // the parser takes the default
}
