package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// readByLibraries are the rooms whose types are embedded because a library reads the fields of embedded
// structs as those of the outer one: huma the parameters of a request, kong the flags of a command.
func readByLibraries() []string {
	return []string{"internal/body", "internal/api/contract", "internal/cli/remote", "internal/cli/data"}
}

// A method that is called has its room in front of it: no struct embeds a type of another room that has
// exported methods. Interfaces may be embedded, by wrappers that pass most of them on.
func TestMethodsSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	rooms := declarations(t, os.DirFS(root))
	if len(rooms) < 100 {
		t.Fatalf("only %d rooms were found", len(rooms))
	}
	for _, found := range foreignMethods(rooms) {
		t.Error(found)
	}
}

// The control: an embedded type is found with a pointer and without, directly and through a type of its
// own room; interfaces, plain data and types of the struct's own room are not.
func TestEmbeddedMethodsAreFound(t *testing.T) {
	t.Parallel()
	const parts = "package parts\n" +
		"type Part struct{}\nfunc (*Part) Do() {}\ntype Whole struct{ *Part }\ntype Data struct{ N int }\ntype Port interface{ Do() }\n" +
		"type Quiet struct{}\nfunc (Quiet) do() {}\ntype Box[T any] struct{}\nfunc (Box[T]) Open() {}\n"
	for embedded, wrong := range cases.Sorted(map[string]bool{
		"parts.Part": true, "alias": true, "*parts.Part": true, "parts.Whole": true, "*parts.Box[int]": true,
		"parts.Data": false, "parts.Port": false, "parts.Quiet": false, "part parts.Part": false, "own": false,
	}) {
		house := house{
			"internal/parts/parts.go": parts,
			"internal/user/user.go": "package user\nimport \"github.com/recado-project/recado/internal/parts\"\n" +
				"type own struct{}\ntype alias = parts.Part\nfunc (own) Do() {}\nvar _ parts.Data\ntype user struct{ " + embedded + " }\n",
		}
		if found := foreignMethods(declarations(t, house.fs(t))); (len(found) > 0) != wrong {
			t.Errorf("%s: found %v", embedded, found)
		}
	}
}

// house is a made-up tree of files.
type house map[string]string

func (h house) fs(t *testing.T) fs.FS {
	t.Helper()
	folder := t.TempDir()
	for name, content := range cases.Sorted(h) {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return os.DirFS(folder)
}

// declared is what a room declares under a name.
type declared struct {
	isInterface bool
	exported    bool // it has an exported method of its own
	embeds      []embedded
	alias       *embedded // of another type; nil for none
}

// embedded is a type that a struct embeds.
type embedded struct {
	room, name string // the room is a path from the root; empty for another module's
	at         string
}

// declarations reads the types of all rooms, by room and name.
func declarations(t *testing.T, files fs.FS) map[string]map[string]*declared {
	t.Helper()
	rooms := map[string]map[string]*declared{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		types := rooms[path.Dir(name)]
		if types == nil {
			types = map[string]*declared{}
			rooms[path.Dir(name)] = types
		}
		readTypes(file, path.Dir(name), types, func(node ast.Node) string { return positions.Position(node.Pos()).String() })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rooms
}

// readTypes adds what a file declares to the types of its room.
func readTypes(file *ast.File, room string, types map[string]*declared, at func(ast.Node) string) {
	imports := map[string]string{}
	for _, one := range file.Imports {
		location, _ := strconv.Unquote(one.Path.Value)
		name := path.Base(location)
		if one.Name != nil {
			name = one.Name.Name
		}
		if own, ok := strings.CutPrefix(location, module); ok {
			imports[name] = own
		}
	}
	in := func(qualifier string) string {
		if qualifier == "" {
			return room
		}
		return imports[qualifier]
	}
	of := func(name string) *declared {
		if types[name] == nil {
			types[name] = &declared{}
		}
		return types[name]
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && d.Name.IsExported() {
				_, name := typeName(d.Recv.List[0].Type)
				of(name).exported = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				one, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				known := of(one.Name.Name)
				_, known.isInterface = one.Type.(*ast.InterfaceType)
				if one.Assign.IsValid() {
					qualifier, name := typeName(one.Type)
					known.alias = &embedded{in(qualifier), name, at(one)}
				}
				ast.Inspect(one.Type, func(node ast.Node) bool {
					found, ok := node.(*ast.StructType)
					if !ok {
						return true
					}
					for _, field := range found.Fields.List {
						if len(field.Names) > 0 {
							continue
						}
						qualifier, name := typeName(field.Type)
						known.embeds = append(known.embeds, embedded{in(qualifier), name, at(field)})
					}
					return true
				})
			}
		}
	}
}

// typeName takes an expression of a type apart: without pointer and parameters.
func typeName(of ast.Expr) (qualifier, name string) {
	switch e := of.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		_, qualifier = typeName(e.X)
		return qualifier, e.Sel.Name
	case *ast.Ident:
		return "", e.Name
	default:
		return "", ""
	}
}

// aliasOf returns what a type is another name for; itself if it is none.
func aliasOf(rooms map[string]map[string]*declared, of embedded) embedded {
	if known := rooms[of.room][of.name]; known != nil && known.alias != nil {
		return embedded{known.alias.room, known.alias.name, of.at}
	}
	return of
}

// foreignMethods names the structs that embed a type of another room which has exported methods.
func foreignMethods(rooms map[string]map[string]*declared) []string {
	var hasMethods func(of embedded) bool
	hasMethods = func(of embedded) bool {
		known := rooms[of.room][of.name]
		if known == nil || known.isInterface {
			return false
		}
		if known.alias != nil {
			return hasMethods(*known.alias)
		}
		return known.exported || slices.ContainsFunc(known.embeds, hasMethods)
	}
	var found []string
	for room, types := range cases.Sorted(rooms) {
		for name, known := range types {
			for _, inner := range known.embeds {
				if alias := aliasOf(rooms, inner); alias.room != room && alias.room != "" && !slices.Contains(readByLibraries(), alias.room) && hasMethods(alias) {
					found = append(found, inner.at+": "+name+" embeds "+alias.name+" of "+alias.room+", so that its methods come from nowhere: give the field a name")
				}
			}
		}
	}
	return found
}
