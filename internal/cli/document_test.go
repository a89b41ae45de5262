package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/recado-project/recado/internal/cli/settings"
	"github.com/recado-project/recado/internal/testkit/cases"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write the generated documents anew")

const (
	configDocument  = "../../docs/config.md"
	exampleSettings = "../../deploy/recado.example.yaml"
)

// docs/config.md is made from the commands' own definitions.
func TestConfigDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, kong.Vars{})
	if err != nil {
		t.Fatal(err)
	}
	var document strings.Builder
	document.WriteString("# Settings\n\nEvery setting is a flag and an environment variable. Those of `recado serve` can be in a file as well, " +
		"which `--settings` names:\nYAML with the names of the flags, as in [deploy/recado.example.yaml](../deploy/recado.example.yaml). " +
		"The flag wins over the variable, the variable\nover the file. Commands that work on the data take what they need from the same file. " +
		"`recado serve --check` says what is wrong with it.\nWhile the gateway runs, SIGHUP makes it read the file again: " +
		"[Changing settings while it runs](operate.md#changing-settings-while-it-runs).\n`--log-level` changes by such a reload too, `--log-format` by a restart.\n\nGenerated from the program: `make generate`.\n")
	known := settings.Known(parser.Model)
	writeFlags(&document, "All commands", parser.Model.Node, nil)
	for _, leaf := range parser.Model.Leaves(true) {
		if leaf.Name == "serve" {
			writeFlags(&document, "`"+leaf.FullPath()+"`", leaf, known)
			continue
		}
		writeFlags(&document, "`"+leaf.FullPath()+"`", leaf, nil)
	}
	isCurrent(t, configDocument, document.String())
}

// isCurrent fails the test if a generated document has another text.
func isCurrent(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	current, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(current) != text {
		t.Errorf("%s is not what the program says: make generate", path)
	}
}

// The example of a file of settings has all of them, and can be used: as it is, and with every
// comment removed.
func TestExampleSettingsDocument(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, kong.Vars{})
	if err != nil {
		t.Fatal(err)
	}
	example := exampleOf(parser.Model)
	isCurrent(t, exampleSettings, example)
	bare := regexp.MustCompile(`(?m)^#([a-z-]+: )`).ReplaceAllString(example, "$1")
	for want, text := range cases.Sorted(map[int]string{0: example, len(settings.Known(parser.Model)): bare}) {
		path := filepath.Join(t.TempDir(), "recado.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := readLine([]string{"serve", "--settings", path})
		if err != nil {
			t.Fatal(err)
		}
		if read.file.Len() != want {
			t.Errorf("it has %d settings, want %d", read.file.Len(), want)
		}
		if _, err := read.line.Serve.config(); err != nil {
			t.Errorf("with %d settings: %v", want, err)
		}
	}
}

// writeFlags writes the table of a command's flags. If some are settings of a program that runs,
// it says how they change.
func writeFlags(document *strings.Builder, title string, node *kong.Node, known []*kong.Flag) {
	fmt.Fprintf(document, "\n## %s\n\n", title)
	if node.Help != "" {
		fmt.Fprintf(document, "%s\n", node.Help)
	}
	for _, argument := range node.Positional {
		fmt.Fprintf(document, "\n`<%s>`: %s\n", argument.Name, argument.Help)
	}
	rows := 0
	for _, f := range node.Flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		if rows == 0 {
			changes := [2]string{}
			if known != nil {
				changes = [2]string{" changes by |", " --- |"}
			}
			document.WriteString("\n| flag | variable | default |" + changes[0] + " meaning |\n| --- | --- | --- |" + changes[1] + " --- |\n")
		}
		rows++
		standard := "" // none
		if f.HasDefault && f.Default != "" {
			standard = "`" + f.Default + "`"
		}
		if f.Required {
			standard = "required"
		}
		variable := "" // none
		if len(f.Envs) > 0 {
			variable = "`" + strings.Join(f.Envs, "`, `") + "`"
		}
		changes := ""
		switch {
		case known == nil:
		case settings.Reloads(f):
			changes = " a reload |"
		case slices.Contains(known, f):
			changes = " a restart |"
		default:
			changes = " |"
		}
		fmt.Fprintf(document, "| `--%s` | %s | %s |%s %s |\n", f.Name, variable, standard, changes, f.Help)
	}
}

// exampleWidth is how long a line of the example may be.
const exampleWidth = 100

// exampleOf is a file with all settings of the program. Each is a comment that has its default.
func exampleOf(model *kong.Application) string {
	var text strings.Builder
	text.WriteString("# Settings of a gateway: recado serve --settings FILE, or RECADO_SETTINGS=FILE. A flag or a variable\n" +
		"# wins over this file. docs/config.md explains all; `recado serve --settings FILE --check` checks them.\n" +
		"# Generated from the program: `make generate`.\n")
	for _, flag := range settings.Known(model) {
		fmt.Fprintf(&text, "\n%s#%s: %s\n", commentOf(flag), flag.Name, standardOf(flag))
	}
	return text.String()
}

// commentOf is the help of a setting, in lines.
func commentOf(setting *kong.Flag) string {
	var text strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(setting.Help) {
		if len(line)+1+len(word) > exampleWidth {
			text.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return text.String() + line + "\n"
}

// standardOf is the default of a setting, or an empty value.
func standardOf(setting *kong.Flag) string {
	switch {
	case setting.Default != "":
		return setting.Default
	case setting.IsSlice():
		return "[]"
	case setting.IsBool():
		return "false"
	case setting.Target.CanInt():
		return "0"
	default:
		return `""`
	}
}
