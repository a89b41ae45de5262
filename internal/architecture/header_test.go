package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// A file says first what it is for: in a comment before the package
// clause, or in that of a type or function which comes first.
func TestFilesSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	for path, r := range rooms(t) {
		for _, name := range r.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if !saysWhatItIsFor(file) {
				t.Errorf("%s/%s does not say in its first line what it is for", path, name)
			}
		}
	}
}

func saysWhatItIsFor(file *ast.File) bool {
	if len(file.Comments) > 0 && file.Comments[0].Pos() < file.Package {
		return true
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			return d.Doc != nil
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				return d.Doc != nil && d.Tok == token.TYPE
			}
		}
	}
	return false
}
