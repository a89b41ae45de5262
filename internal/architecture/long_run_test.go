package architecture_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a test does a few times with every change, make torture does as often as the test promises.
func TestLongRunHasTheTestsWithAmounts(t *testing.T) {
	t.Parallel()
	recipe := tortureRecipe(t, read(t, "Makefile"))
	found := 0
	eachTestFile(t, func(inside string, _ *token.FileSet, file *ast.File) {
		for _, name := range withAmounts(file) {
			found++
			if left := leftOut(recipe, "./"+filepath.ToSlash(filepath.Dir(inside)), name); left != "" {
				t.Errorf("%s: make torture does not run %s: it leaves out %s", inside, name, left)
			}
		}
	})
	if found == 0 {
		t.Error("no test has an amount")
	}
}

// tortureRecipe is what make torture runs.
func tortureRecipe(t *testing.T, makefile string) string {
	t.Helper()
	_, recipe, _ := strings.Cut(makefile, "\ntorture:")
	recipe, _, ok := strings.Cut(recipe, "\n\n")
	if !ok {
		t.Fatal("the Makefile has no recipe of torture")
	}
	return recipe
}

// leftOut returns which of the two a recipe does not name, the folder or the test.
func leftOut(recipe, folder, name string) string {
	words := regexp.MustCompile(`[\w./]+`).FindAllString(recipe, -1)
	for _, one := range []string{folder, name} {
		if !slices.Contains(words, one) {
			return one
		}
	}
	return ""
}

// withAmounts returns the tests of a file that call amount.Of.
func withAmounts(file *ast.File) (names []string) {
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if ok && fmt.Sprint(selector.X, ".", selector.Sel) == "amount.Of" && !slices.Contains(names, function.Name.Name) {
				names = append(names, function.Name.Name)
			}
			return true
		})
	}
	return names
}

// The control: a test, or its folder, that the recipe leaves out is found.
func TestLeftOutTestsAreFound(t *testing.T) {
	t.Parallel()
	file := parsed(t, `func TestA(t *testing.T) { for range amount.Of(1, 2) { t.Log() } }; func TestB(t *testing.T) { t.Log(amount.Less(1)) }`)
	if got := withAmounts(file); !slices.Equal(got, []string{"TestA"}) {
		t.Errorf("found %v", got)
	}
	recipe := tortureRecipe(t, "test:\n\tgo test TestB\n\ntorture: ## long\n\tgo test ./a -run '^(TestA|TestAll)$$'\n\nlint:\n")
	for _, c := range []struct{ folder, name, want string }{
		{"./a", "TestA", ""}, {"./a", "TestAll", ""}, {"./a", "TestB", "TestB"}, {"./b", "TestA", "./b"}, {"./a", "TestAl", "TestAl"},
	} {
		if got := leftOut(recipe, c.folder, c.name); got != c.want {
			t.Errorf("%s %s: left out %q, want %q", c.folder, c.name, got, c.want)
		}
	}
}
