package architecture_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fewestNames is how many names make two structs the same: many things have an ID and a name.
const fewestNames = 3

// An object in JSON has one type. A field that is added to one would have to be added to the others.
func TestObjectsInJSONHaveOneType(t *testing.T) {
	t.Parallel()
	// The sandbox shares nothing with the gateway: a mistake that is in both would not be noticed.
	gateway, sandbox := []string{"client", "internal/api", "internal/eventlog"}, []string{"internal/sandbox", "internal/testkit", "e2e"}
	oneTypeEach(t, gateway)
	oneTypeEach(t, sandbox)
}

func oneTypeEach(t *testing.T, folders []string) {
	t.Helper()
	first := map[string]string{} // where names were found first
	for _, folder := range folders {
		eachStruct(t, folder, func(where string, found *ast.StructType) {
			names := jsonNames(found)
			name, _, _ := strings.Cut(where, " (")
			if len(names) < fewestNames || slices.Contains(writtenTwice(), name) {
				return
			}
			key := strings.Join(names, " ")
			if strings.HasSuffix(name, "ChangeBody") {
				key += " to change" // what stays is told from what is set
			}
			if other, twice := first[key]; twice {
				t.Errorf("%s and %s have the same names in JSON: %s", other, where, key)
			} else {
				first[key] = where
			}
		})
	}
	if len(first) == 0 {
		t.Error("there are no structs with names in JSON")
	}
}

// writtenTwice are the types that there are twice: errors and pages of the client, by hand because they
// have methods and hold any items; and where an event takes place and what templates are made of, which
// requests leave out in part and answers have with null.
func writtenTwice() []string {
	return []string{"Error", "Page", "EventLocation", "NewTemplateComponent", "NewTemplateButton"}
}

// eachStruct calls visit with the structs in the files of a folder, without its tests, and
// with the type or the function that each is in.
func eachStruct(t *testing.T, folder string, visit func(where string, found *ast.StructType)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, filepath.Join(root, path), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		in := ""
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.FuncDecl:
				in = n.Name.Name
			case *ast.TypeSpec:
				in = n.Name.Name
			case *ast.StructType:
				visit(fmt.Sprintf("%s (%s:%d)", in, path, positions.Position(n.Pos()).Line), n)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// jsonNames returns the names of a struct in JSON, sorted. An embedded type stands for those
// that it has.
func jsonNames(of *ast.StructType) (names []string) {
	var embedded []string
	for _, field := range of.Fields.List {
		if field.Tag == nil {
			if len(field.Names) == 0 {
				embedded = append(embedded, types.ExprString(field.Type))
			}
			continue
		}
		tag, tagged := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Lookup("json")
		name, _, _ := strings.Cut(tag, ",")
		if tagged && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	names = append(names, embedded...)
	slices.Sort(names)
	return names
}
