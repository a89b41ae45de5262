package architecture_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// A test does not sleep: it waits for a condition or a signal, which is as fast as the machine and right on a slow one.
// It may sleep where the clock is not the real one (testing/synctest), and in the long run, where time may pass.
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	eachTestFile(t, func(inside string, files *token.FileSet, file *ast.File) {
		for _, sleep := range sleeps(file) {
			t.Errorf("%s:%d sleeps: wait for a condition (testkit.Await) or a signal; the pace of a load is a time.Ticker", inside, files.Position(sleep.Pos()).Line)
		}
	})
}

// sleeps returns where a file sleeps that may not.
func sleeps(file *ast.File) (found []*ast.SelectorExpr) {
	if forTheLongRun(file) || slices.ContainsFunc(file.Imports, func(one *ast.ImportSpec) bool { return one.Path.Value == `"testing/synctest"` }) {
		return nil
	}
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || selector.Sel.Name != "Sleep" {
			return true
		}
		if from, ok := selector.X.(*ast.Ident); ok && from.Name == "time" {
			found = append(found, selector)
		}
		return true
	})
	return found
}

// forTheLongRun reports whether a file is built by make torture alone.
func forTheLongRun(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if group.Pos() > file.Package || !constraint.IsGoBuild(comment.Text) {
				continue
			}
			// Without that tag, whatever else there is, it is left out.
			condition, err := constraint.Parse(comment.Text)
			return err == nil && !condition.Eval(func(tag string) bool { return tag != "torture" })
		}
	}
	return false
}

// The control: what has to be found is, and what is right is not.
func TestSleepsAreFound(t *testing.T) {
	t.Parallel()
	const sleep = `; import "time"; func f() { time.Sleep(time.Second) }`
	for _, c := range []struct {
		source string
		want   int
	}{
		{"package p" + sleep, 1},
		{"//go:build linux\n\npackage p" + sleep, 1},
		{"//go:build !torture\n\npackage p" + sleep, 1},
		{`package p; import "time"; var pause = time.Sleep`, 1},
		{`package p; import "time"; func f() { go func() { for { time.Sleep(1) } }() }`, 1},
		{"//go:build torture && linux\n\npackage p" + sleep, 0},
		{`package p; import "testing/synctest"` + sleep, 0},
		{`package p; import "time"; func f() { <-time.NewTicker(time.Second).C }`, 0},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", c.source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(sleeps(file)); got != c.want {
			t.Errorf("found %d, want %d: %s", got, c.want, c.source)
		}
	}
}
