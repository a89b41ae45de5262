package terminal_test

import (
	"bytes"
	"errors"
	"iter"
	"testing"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A result is printed once its call has succeeded; after an error nothing is, whatever prints it.
func TestUnless(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	head, row := []string{"NAME"}, func(name string) []string { return []string{name} }
	for name, printed := range cases.Sorted(map[string]func(terminal.Terminal) error{
		"Print":  func(t terminal.Terminal) error { return t.Print("shop", "shop") },
		"Done":   func(t terminal.Terminal) error { return t.Done(map[string]any{"name": "shop"}, "%s", "shop") },
		"Fields": func(t terminal.Terminal) error { return t.Fields("shop", terminal.Pair{"name", "shop"}) },
		"Table":  func(t terminal.Terminal) error { return t.Table("shop", head, [][]string{{"shop"}}) },
		"Rows":   func(t terminal.Terminal) error { return terminal.Rows(t, []string{"shop"}, head, row) },
	}) {
		for _, asJSON := range []bool{false, true} {
			var out bytes.Buffer
			shown := terminal.Terminal{Out: &out, JSON: asJSON}
			if err := printed(shown.Unless(refused)); !errors.Is(err, refused) || out.Len() > 0 {
				t.Errorf("%s: printed %q, returned %v", name, out.String(), err)
			}
			if err := printed(shown.Unless(nil)); err != nil || !bytes.Contains(out.Bytes(), []byte("shop")) {
				t.Errorf("%s: printed %q, returned %v", name, out.String(), err)
			}
		}
	}
}

// A list is printed whole or not at all, and is never null.
func TestList(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	for want, items := range cases.Sorted(map[string]iter.Seq2[string, error]{
		"[]\n":             func(func(string, error) bool) {},
		`["a","b"]` + "\n": func(yield func(string, error) bool) { _ = yield("a", nil) && yield("b", nil) },
		"":                 func(yield func(string, error) bool) { _ = yield("a", nil) && yield("", refused) },
	}) {
		var out bytes.Buffer
		err := terminal.List(terminal.Terminal{Out: &out, JSON: true}, items, nil, func(string) []string { return nil })
		if out.String() != want || (want == "") != errors.Is(err, refused) {
			t.Errorf("printed %q, returned %v; want %q", out.String(), err, want)
		}
	}
}
