// The example of a file of settings.

package settings

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// exampleWidth is how long a line of the example may be.
const exampleWidth = 100

// WriteExample writes a file with all settings of the program. Each is a comment that has its
// default.
func WriteExample(to io.Writer, model *kong.Application) error {
	var text strings.Builder
	text.WriteString("# Settings of a gateway: recado serve --settings FILE, or RECADO_SETTINGS=FILE. A flag or a variable\n" +
		"# wins over this file. docs/config.md explains all; `recado serve --settings FILE --check` checks them.\n" +
		"# Generated from the program: `make generate`.\n")
	for _, flag := range Known(model) {
		fmt.Fprintf(&text, "\n%s#%s: %s\n", comment(flag), flag.Name, exampleOf(flag))
	}
	_, err := io.WriteString(to, text.String())
	if err != nil {
		return fmt.Errorf("write the example: %w", err)
	}
	return nil
}

// comment is the help of a setting, in lines.
func comment(flag *kong.Flag) string {
	var text strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(flag.Help) {
		if len(line)+1+len(word) > exampleWidth {
			text.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return text.String() + line + "\n"
}

// exampleOf is the default of a setting, or an empty value.
func exampleOf(flag *kong.Flag) string {
	switch {
	case flag.Default != "":
		return flag.Default
	case flag.IsSlice():
		return "[]"
	case flag.IsBool():
		return "false"
	case flag.Target.CanInt():
		return "0"
	default:
		return `""`
	}
}
