// Package settings reads the file of settings, and says which have changed since it was read
// last. It knows no setting itself: each is a flag of serve that has a variable.
package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// flagName is the flag that names the file.
const flagName = "settings"

// maxBytes bounds the file. All settings with long values have a few kilobytes.
const maxBytes = 1 << 20

// readByOthers is the bit of a file's mode that lets every user of the machine read it.
const readByOthers fs.FileMode = 0o004

// File is what a file of settings says: YAML, one line for each, with the names of the flags.
type File struct {
	Path    string
	values  map[string]value
	secrets []string // the names of those that others should not read
	mode    fs.FileMode
}

// value is one setting, as it would be written behind its flag.
type value struct {
	text string
	line int
}

// Read reads a file, whose settings may be the known ones. Its error names the file and the
// line, and has no value that is secret.
func Read(path string, known []*kong.Flag) (*File, error) {
	content, mode, err := contentOf(path)
	if err != nil {
		return nil, fmt.Errorf("the settings can't be read: %w", err)
	}
	file := &File{Path: path, values: map[string]value{}, mode: mode}
	settings, err := file.mapping(content)
	if err != nil {
		return nil, err
	}
	for n := 0; n+1 < len(settings); n += 2 {
		if err := file.add(settings[n], settings[n+1], known); err != nil {
			return nil, err
		}
	}
	return file, nil
}

func contentOf(path string) (content []byte, mode fs.FileMode, err error) {
	file, err := os.Open(path) //nolint:gosec // the person who starts the program names it
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if content, err = io.ReadAll(io.LimitReader(file, maxBytes+1)); err != nil {
		return nil, 0, err
	}
	if len(content) > maxBytes {
		return nil, 0, fmt.Errorf("%s has more than %d bytes", path, maxBytes)
	}
	return content, info.Mode(), nil
}

// mapping returns the names and values of the file, in turn.
func (f *File) mapping(content []byte) ([]*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil // there is nothing but comments
	case err != nil:
		return nil, fmt.Errorf("%s: %s", f.Path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, f.wrong(second.Line, "there is a second document")
	}
	top := document.Content[0]
	switch {
	case top.Kind == yaml.ScalarNode && top.Tag == "!!null":
		return nil, nil
	case top.Kind != yaml.MappingNode:
		return nil, f.wrong(top.Line, "lines have the form name: value")
	}
	return top.Content, nil
}

// add adds one setting.
func (f *File) add(name, node *yaml.Node, known []*kong.Flag) error {
	n := slices.IndexFunc(known, func(flag *kong.Flag) bool { return flag.Name == name.Value })
	if name.Kind != yaml.ScalarNode || n < 0 {
		return f.wrong(name.Line, "there is no setting %s%s", name.Value, meant(name.Value, known))
	}
	flag := known[n]
	if first, ok := f.values[flag.Name]; ok {
		return f.wrong(name.Line, "%s is in line %d already", flag.Name, first.line)
	}
	text, err := textOf(node, flag)
	if err == nil {
		err = fits(flag, text)
	}
	if err != nil {
		return f.wrong(node.Line, "%s %w", flag.Name, err)
	}
	f.values[flag.Name] = value{text: text, line: node.Line}
	if isSecret(flag) && text != "" {
		f.secrets = append(f.secrets, flag.Name)
	}
	return nil
}

func (f *File) wrong(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.Path, line, fmt.Errorf(format, args...))
}

// textOf is the value as it would be written behind the flag. What is written in the file
// counts, not what YAML makes of it: a version 1.10 is no number.
func textOf(node *yaml.Node, flag *kong.Flag) (string, error) {
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null":
		return "", errors.New("has no value; leave the line out for the default")
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind == yaml.AliasNode:
		return "", errors.New("must be written out: aliases are not understood")
	case node.Kind != yaml.SequenceNode || !flag.IsSlice():
		return "", fmt.Errorf("must be %s", kindOf(flag))
	}
	items := make([]string, len(node.Content))
	for n, item := range node.Content {
		if item.Kind != yaml.ScalarNode {
			return "", fmt.Errorf("must be %s", kindOf(flag))
		}
		items[n] = item.Value
	}
	return kong.JoinEscaped(items, flag.Tag.Sep), nil
}

// fits checks a value as the command line would. The error does not repeat a value that is secret.
func fits(flag *kong.Flag, text string) error {
	target := reflect.New(flag.Target.Type()).Elem()
	token := kong.Token{Type: kong.FlagValueToken, Value: text}
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.ScanFromTokens(token)}, target); err != nil {
		if isSecret(flag) {
			return fmt.Errorf("must be %s", kindOf(flag))
		}
		return fmt.Errorf("must be %s, not %s", kindOf(flag), strconv.Quote(text))
	}
	if flag.Enum != "" && !flag.EnumMap()[text] {
		return fmt.Errorf("must be %s, not %s", kindOf(flag), strconv.Quote(text))
	}
	return nil
}

// kindOf says what the value of a setting must be, for people.
func kindOf(flag *kong.Flag) string {
	switch {
	case flag.Enum != "":
		return "one of " + strings.Join(flag.EnumSlice(), ", ")
	case flag.Target.Type().String() == "time.Duration":
		return "a duration such as 90s, 15m or 72h"
	case flag.IsSlice():
		return "a list of texts"
	case flag.IsBool():
		return "true or false"
	case flag.Target.CanInt():
		return "a whole number"
	default:
		return "a text"
	}
}

// Exposed are the names of the secrets in the file that every user of the machine can read.
// Without a file there are none.
func (f *File) Exposed() []string {
	if f == nil || f.mode&readByOthers == 0 || runtime.GOOS == "windows" {
		return nil
	}
	return f.secrets
}

// WarnExposed warns of secrets in the file if every user of the machine can read it. Without a
// file it does nothing.
func (f *File) WarnExposed(ctx context.Context, logger *slog.Logger) {
	if exposed := f.Exposed(); len(exposed) > 0 {
		logger.WarnContext(ctx, "every user of this machine can read the secrets in the file of settings: chmod o-r, or give them as variables",
			slog.String("file", f.Path), slog.Any("settings", exposed))
	}
}

// Len is how many settings the file has; 0 without a file.
func (f *File) Len() int {
	if f == nil {
		return 0
	}
	return len(f.values)
}

// Known are the settings of the program: the flags of all commands and of serve that have a
// variable, without those that only say how results are printed and where the settings are.
func Known(model *kong.Application) []*kong.Flag {
	flags := slices.Clone(model.Flags)
	for _, command := range model.Children {
		if command.Name == "serve" {
			flags = append(flags, command.Flags...)
		}
	}
	return slices.DeleteFunc(flags, func(flag *kong.Flag) bool {
		return len(flag.Envs) == 0 || flag.Name == flagName || flag.Name == "json"
	})
}

// isSecret reports whether nobody should read the value who may not run the program.
func isSecret(flag *kong.Flag) bool { return flag.Tag.Has("secret") }
