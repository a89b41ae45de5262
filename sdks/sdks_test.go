package sdks

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every step of the guide is in every language, in the order of the guide.
func TestStepsAreThoseOfTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/guide.md")
	if err != nil {
		t.Fatal(err)
	}
	want := stepsOf(string(guide))
	if len(want) < 100 {
		t.Fatalf("the guide has %d steps", len(want))
	}
	for _, language := range Languages() {
		var got []string
		for _, step := range language.Steps() {
			got = append(got, step.Name)
			if step.Code == "" {
				t.Errorf("%s has nothing at %s", language.Name, step.Name)
			}
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Errorf("%s: step %d is %q, and in the guide %q", language.Name, i, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
				break
			}
		}
	}
}

// stepsOf names the shell blocks of the guide by the anchors of their headings, and numbers them from the second one on.
func stepsOf(guide string) []string {
	var steps []string
	anchor, count := "", 0
	for _, found := range regexp.MustCompile("(?s)\n(?:#+ ([^\n]*)|```(\\w+)\n.*?\n```)\n").FindAllStringSubmatch(guide, -1) {
		switch {
		case found[1] != "":
			words := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(found[1]), "")
			anchor, count = strings.ReplaceAll(words, " ", "-"), 0
		case found[2] == "sh":
			count++
			name := anchor
			if count > 1 {
				name += "-" + strconv.Itoa(count)
			}
			steps = append(steps, name)
		}
	}
	return steps
}

// The program that sends a text does so with the instance that it is given, and does not look for one.
func TestSend(t *testing.T) {
	t.Parallel()
	const instance = "01a22081-3284-7e4d-bba2-355d413fb84f"
	for _, language := range Languages() {
		program := language.Send(instance)
		if !strings.Contains(program, instance) || regexp.MustCompile("(?i)list_?instances").MatchString(program) {
			t.Errorf("%s: the program looks for an instance:\n%s", language.Name, program)
		}
		if _, err := os.Stat("../" + language.Readme); err != nil {
			t.Error(err)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	got := cut("package main\n\n// step: one\nfunc main() {\n\n\t// step: two\n\n\tif ok {\n\t\trun()\n\t}\n\n\t# step: three-2\n\trun()\n}\n# no step: four\n")
	want := []Step{
		{"one", "func main() {"},
		{"two", "if ok {\n\trun()\n}"},
		{"three-2", "run()"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("cut: %q", got)
	}
	if steps := cut("no mark\n"); len(steps) != 0 {
		t.Errorf("cut without marks: %q", steps)
	}
}
