package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A loop over a map in a test goes through cases.Sorted, unless it calls nothing. Go visits a map in another order each
// time, so cases that share a world would come in the order that shows a fault on some days only.
func TestCasesRunInAFixedOrder(t *testing.T) {
	t.Parallel()
	eachTestFile(t, func(inside string, files *token.FileSet, file *ast.File) {
		for _, loop := range unordered(file) {
			t.Errorf("%s:%d ranges over a map, whose order is another each time: range over cases.Sorted of it (internal/testkit/cases), or over a slice", inside, files.Position(loop.For).Line)
		}
	})
}

// eachTestFile reads the files of tests, and those of the rooms that are there for tests alone. inside is a file's path
// from the root.
func eachTestFile(t *testing.T, do func(inside string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	read := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "testdata", "tools"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !ofTests(inside) {
			return nil
		}
		read++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		do(inside, files, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read == 0 {
		t.Error("no test was read")
	}
}

// ofTests reports whether a file is one of tests, or of a room that is there for tests alone.
func ofTests(path string) bool {
	folder := filepath.ToSlash(filepath.Dir(path))
	return strings.HasSuffix(path, "_test.go") ||
		strings.HasSuffix(path, ".go") && (strings.HasSuffix(folder, "test") || strings.HasPrefix(folder, "e2e/") || strings.HasPrefix(folder+"/", "internal/testkit/"))
}

// unordered returns the loops of a file that call something for each entry of a map. It sees that something is a map
// from the file alone: it is a literal, it comes from the package maps, or it is a variable that is declared as a map
// in the same function or outside all functions.
func unordered(file *ast.File) []*ast.RangeStmt {
	known := names{types: map[string]bool{}, variables: map[string]bool{}}
	ast.Inspect(file, func(node ast.Node) bool {
		if named, ok := node.(*ast.TypeSpec); ok {
			known.types[named.Name.Name] = known.isType(named.Type)
		}
		return true
	})
	for _, declaration := range file.Decls {
		if _, ok := declaration.(*ast.GenDecl); ok {
			known.declare(declaration)
		}
	}
	var loops []*ast.RangeStmt
	for _, declaration := range file.Decls {
		here := names{types: known.types, variables: map[string]bool{}, outer: known.variables}
		here.declare(declaration)
		ast.Inspect(declaration, func(node ast.Node) bool {
			if loop, ok := node.(*ast.RangeStmt); ok && here.isMap(loop.X) && calls(loop.Body) {
				loops = append(loops, loop)
			}
			return true
		})
	}
	return loops
}

// names are those that a function knows, each with whether it is a map somewhere in it.
type names struct {
	types, variables, outer map[string]bool
}

// declare takes note of the variables that are declared inside a node.
func (n names) declare(inside ast.Node) {
	note := func(name ast.Expr, isMap bool) {
		if identifier, ok := name.(*ast.Ident); ok {
			n.variables[identifier.Name] = n.variables[identifier.Name] || isMap
		}
	}
	ast.Inspect(inside, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.StructType:
			return false // its fields are no variables
		case *ast.Field:
			for _, name := range node.Names {
				note(name, n.isType(node.Type))
			}
		case *ast.ValueSpec:
			for at, name := range node.Names {
				note(name, n.isType(node.Type) || at < len(node.Values) && n.isWritten(node.Values[at]))
			}
		case *ast.AssignStmt:
			for at, name := range node.Lhs {
				note(name, len(node.Lhs) == len(node.Rhs) && n.isWritten(node.Rhs[at]))
			}
		case *ast.RangeStmt:
			note(node.Key, false)
			note(node.Value, false)
		}
		return true
	})
}

// isType reports whether an expression is the type of maps.
func (n names) isType(expression ast.Expr) bool {
	switch e := expression.(type) {
	case *ast.MapType:
		return true
	case *ast.Ident:
		return n.types[e.Name]
	}
	return false
}

// isWritten reports whether an expression makes a map: it is a literal, or a call of make.
func (n names) isWritten(expression ast.Expr) bool {
	switch e := expression.(type) {
	case *ast.CompositeLit:
		return n.isType(e.Type)
	case *ast.CallExpr:
		function, ok := e.Fun.(*ast.Ident)
		return ok && function.Name == "make" && n.isType(e.Args[0])
	}
	return false
}

// isMap reports whether a loop over an expression has the order of a map.
func (n names) isMap(expression ast.Expr) bool {
	switch e := ast.Unparen(expression).(type) {
	case *ast.Ident:
		isMap, declared := n.variables[e.Name]
		return isMap || !declared && n.outer[e.Name]
	case *ast.CallExpr:
		function, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		from, ok := function.X.(*ast.Ident)
		return ok && from.Name == "maps" && slices.Contains([]string{"All", "Keys", "Values"}, function.Sel.Name)
	default:
		return n.isWritten(e)
	}
}

// calls reports whether something in a loop is called that is not built in.
func calls(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			function, ok := call.Fun.(*ast.Ident)
			found = found || !ok || !slices.Contains([]string{"append", "cap", "clear", "copy", "delete", "len", "make", "max", "min", "new"}, function.Name)
		}
		return !found
	})
	return found
}

// What TestCasesRunInAFixedOrder refuses, and what not.
func TestUnorderedLoopsAreFound(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{
		`func f(t *testing.T) { for name := range map[string]int{"a": 1} { t.Log(name) } }`,
		`func f(t *testing.T) { for name := range (map[string]int{"a": 1}) { t.Run(name, func(t *testing.T) { t.Parallel() }) } }`,
		`func f(t *testing.T) { m := map[string]int{}; for name := range m { t.Log(name) } }`,
		`func f(t *testing.T) { m := make(map[string]int, 2); func() { for name := range m { t.Log(name) } }() }`,
		`func f(t *testing.T) { var m map[string]int; m = read(); for name := range m { t.Log(name) } }`,
		`func f(t *testing.T, m map[string]int) { for name := range m { t.Log(name) } }`,
		`func f(t *testing.T) { check := func(m map[string]int) { for name := range m { t.Log(name) } }; check(nil) }`,
		`func f(t *testing.T) { for name := range m { t.Log(name) } }; var m = map[string]int{}`,
		`func f(t *testing.T) { for name := range (set{"a": 1}) { t.Log(name) } }; type set map[string]int`,
		`func f(t *testing.T, m set) { for name := range m { t.Log(name) } }; type set map[string]int`,
		`func f(t *testing.T, m set) { for name := range maps.Keys(m) { t.Log(name) } }`,
		`func f(t *testing.T) { for name := range map[string]int{"a": 1} { for range 3 { if err := try(name); err != nil { return } } } }`,
	} {
		if len(unordered(parsed(t, refused))) != 1 {
			t.Errorf("not found: %s", refused)
		}
	}
	for _, accepted := range []string{
		`func f(t *testing.T) { for name := range cases.Sorted(map[string]int{"a": 1}) { t.Log(name) } }`,
		`func f(t *testing.T, m map[string]int) { for _, name := range slices.Sorted(maps.Keys(m)) { t.Log(name) } }`,
		`func f(t *testing.T) { for _, name := range []string{"a"} { t.Log(name) } }`,
		`func f(t *testing.T) { for range 3 { t.Log() } }`,
		`func f(t *testing.T) { sum, all := 0, []int{}; for _, n := range map[string]int{"a": 1} { sum += n; all = append(all, n) }; t.Log(sum) }`,
		`func f(t *testing.T, m []string) { for _, name := range m { t.Log(name) } }; var m = map[string]int{}`,
		`func f(t *testing.T, c struct{ m map[string]int }, m []string) { for _, name := range m { t.Log(name) } }`,
		`func f(t *testing.T) { for _, m := range c.all { for name := range m { t.Log(name) } } }; var m = map[string]int{}`,
	} {
		if len(unordered(parsed(t, accepted))) != 0 {
			t.Errorf("found: %s", accepted)
		}
	}
}

func parsed(t *testing.T, declarations string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+declarations, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
