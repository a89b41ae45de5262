package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write the generated documents anew")

const configDocument = "../../docs/config.md"

// docs/config.md is made from the commands' own definitions.
func TestConfigDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, kong.Vars{})
	if err != nil {
		t.Fatal(err)
	}
	var document strings.Builder
	document.WriteString("# Settings\n\nEvery setting is a flag and an environment variable; the flag wins. " +
		"Generated from the program: `make generate`.\n")
	writeFlags(&document, "All commands", parser.Model.Node)
	for _, leaf := range parser.Model.Leaves(true) {
		writeFlags(&document, "`"+leaf.FullPath()+"`", leaf)
	}
	if *update {
		if err := os.WriteFile(configDocument, []byte(document.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	current, err := os.ReadFile(configDocument)
	if err != nil {
		t.Fatal(err)
	}
	if string(current) != document.String() {
		t.Errorf("%s is not what the program says: make generate", configDocument)
	}
}

func writeFlags(document *strings.Builder, title string, node *kong.Node) {
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
			document.WriteString("\n| flag | variable | default | meaning |\n| --- | --- | --- | --- |\n")
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
		fmt.Fprintf(document, "| `--%s` | %s | %s | %s |\n", f.Name, variable, standard, f.Help)
	}
}
