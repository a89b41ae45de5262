// Package sdks has the guide as programs: each step of docs/guide.md in the languages that there are clients for.
package sdks

import (
	"embed"
	"strings"
	"sync"
)

//go:embed go/examples/guide.go typescript/examples/guide.ts python/examples/guide.py php/examples/guide.php
var programs embed.FS

// Language is one that there is a client for.
type Language struct {
	ID   string // that of the reference's samples, so that what readers choose is one choice
	Name string
	file string // of the guide as a program
}

// Languages are all of them, in the order in which pages show them, after curl.
func Languages() []Language {
	return []Language{
		{"node", "TypeScript", "typescript/examples/guide.ts"},
		{"python", "Python", "python/examples/guide.py"},
		{"php", "PHP", "php/examples/guide.php"},
		{"go", "Go", "go/examples/guide.go"},
	}
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
		program, err := programs.ReadFile(language.file)
		if err != nil {
			panic(err) // it is embedded
		}
		all[language.ID] = cut(string(program))
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
