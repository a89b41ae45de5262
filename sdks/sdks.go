// Package sdks has programs in the languages that there are clients for: the shortest one, which sends a text, and each step of
// docs/guide.md.
package sdks

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed go/examples/guide.go typescript/examples/guide.ts python/examples/guide.py php/examples/guide.php
//go:embed go/examples/send/send.go typescript/examples/send.ts python/examples/send.py php/examples/send.php
var programs embed.FS

// Language is one that there is a client for.
type Language struct {
	ID     string // that of the reference's samples, so that what readers choose is one choice
	Name   string
	Readme string // of the client, from the root of the repository
	guide  string // as a program
	send   string // the program that sends a text
	// lookup is where that program looks for an instance, and given what stands there when it is known, with INSTANCE in
	// place of its identifier.
	lookup *regexp.Regexp
	given  string
}

//nolint:gochecknoglobals // a table that never changes
var languages = []Language{
	{
		"node", "TypeScript", "sdks/typescript/README.md", "typescript/examples/guide.ts", "typescript/examples/send.ts",
		regexp.MustCompile(`const \{ instanceId \} = .*`), "const instanceId = 'INSTANCE';",
	},
	{
		"python", "Python", "sdks/python/README.md", "python/examples/guide.py", "python/examples/send.py",
		regexp.MustCompile(`instance_id = .*`), `instance_id = "INSTANCE"`,
	},
	{
		"php", "PHP", "sdks/php/README.md", "php/examples/guide.php", "php/examples/send.php",
		regexp.MustCompile(`\$instanceId = .*`), "$instanceId = 'INSTANCE';",
	},
	{
		"go", "Go", "client/README.md", "go/examples/guide.go", "go/examples/send/send.go",
		regexp.MustCompile(`(?s)instances, err := .*instanceID := [^\n]*`), `instanceID := "INSTANCE"`,
	},
}

// Languages are all of them, in the order in which pages show them, after curl.
func Languages() []Language { return languages }

// Send returns the program that sends a text with an instance. Its address and its API key come from the environment, as
// RECADO_URL and RECADO_API_KEY.
func (l Language) Send(instanceID string) string {
	program := l.lookup.ReplaceAllLiteralString(embedded(l.send), strings.ReplaceAll(l.given, "INSTANCE", instanceID))
	return strings.TrimRight(program, "\n")
}

// embedded returns a program.
func embedded(file string) string {
	program, err := programs.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(program)
}

// Step is a step of the guide in one language.
type Step struct {
	Name string // that of its heading's anchor; from the second one below a heading on, with its number
	Code string // without the indentation that all of it has
}

// Steps returns the steps of the guide in a language, in their order.
func (l Language) Steps() []Step { return read()[l.ID] }

//nolint:gochecknoglobals // what is embedded does not change, and is cut once
var read = sync.OnceValue(func() map[string][]Step {
	all := map[string][]Step{}
	for _, language := range Languages() {
		all[language.ID] = cut(embedded(language.guide))
	}
	return all
})

// cut cuts a program at its marks: lines of the form "// step: text" or "# step: text". What stands before the first one
// belongs to no step.
func cut(program string) []Step {
	var steps []Step
	for line := range strings.Lines(program) {
		if name, ok := mark(line); ok {
			steps = append(steps, Step{Name: name})
		} else if len(steps) > 0 {
			steps[len(steps)-1].Code += line
		}
	}
	for i := range steps {
		steps[i].Code = outdented(steps[i].Code)
	}
	return steps
}

// mark returns the step that begins with a line.
func mark(line string) (name string, ok bool) {
	line = strings.TrimSpace(line)
	for _, comment := range []string{"// ", "# "} {
		if name, ok = strings.CutPrefix(line, comment+"step: "); ok {
			return name, true
		}
	}
	return "", false
}

// outdented takes away the indentation of the first line, and the blank lines around. A line that has less of it belongs to
// what is around the step, and ends it.
func outdented(code string) string {
	code = strings.Trim(code, "\n")
	indentation := code[:len(code)-len(strings.TrimLeft(code, " \t"))]
	var lines []string
	for line := range strings.SplitSeq(code, "\n") {
		inner, inside := strings.CutPrefix(line, indentation)
		if !inside && line != "" {
			break
		}
		lines = append(lines, inner)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
