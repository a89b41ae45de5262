package client_test

import (
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write testdata/names.txt anew")

// Programs are written with the names of this package: what is added, renamed or removed shows
// in the difference of the list.
func TestExportedNames(t *testing.T) {
	t.Parallel()
	const path = "testdata/names.txt"
	names := exportedNames(t)
	if *update {
		if err := os.WriteFile(path, []byte(names), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != names {
		t.Errorf("%s does not list the exported names: go test ./client -run ExportedNames -update, and read the diff", path)
	}
}

// exportedNames returns a line for every exported constant, variable, function, type, field and
// method of the package, sorted.
func exportedNames(t *testing.T) string {
	t.Helper()
	positions := token.NewFileSet()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(positions, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	exported, err := doc.NewFromFiles(positions, parsed, "client")
	if err != nil {
		t.Fatal(err)
	}
	lines := valueLines(exported.Consts, exported.Vars)
	lines = append(lines, functionLines("func ", exported.Funcs)...)
	for _, declared := range exported.Types {
		lines = append(lines, valueLines(declared.Consts, declared.Vars)...)
		lines = append(lines, functionLines("func ", declared.Funcs)...)
		lines = append(lines, functionLines("method "+declared.Name+".", declared.Methods)...)
		lines = append(lines, typeLines(declared)...)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func valueLines(groups ...[]*doc.Value) (lines []string) {
	for _, value := range slices.Concat(groups...) {
		for _, name := range value.Names {
			if ast.IsExported(name) {
				lines = append(lines, value.Decl.Tok.String()+" "+name)
			}
		}
	}
	return lines
}

func functionLines(before string, functions []*doc.Func) (lines []string) {
	for _, function := range functions {
		signature := strings.TrimPrefix(types.ExprString(function.Decl.Type), "func")
		lines = append(lines, before+function.Name+signature)
	}
	return lines
}

// typeLines returns the line of a type, and one for each of its fields.
func typeLines(declared *doc.Type) (lines []string) {
	for _, spec := range declared.Decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		fields, ok := spec.Type.(*ast.StructType)
		if !ok {
			lines = append(lines, "type "+declared.Name+" "+types.ExprString(spec.Type))
			continue
		}
		lines = append(lines, "type "+declared.Name)
		for _, field := range fields.Fields.List {
			if len(field.Names) == 0 {
				lines = append(lines, "type "+declared.Name+" has "+types.ExprString(field.Type))
			}
			for _, name := range field.Names {
				if name.IsExported() {
					lines = append(lines, "type "+declared.Name+" has "+name.Name+" "+types.ExprString(field.Type))
				}
			}
		}
	}
	return lines
}
