package web_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/webtest"
)

// roomsBelow are the rooms whose refusals pages show.
func roomsBelow() []string {
	return []string{
		"access", "call", "channel", "chat", "dashboard", "directory", "gateway", "group", "instance", "label", "media",
		"messaging", "outbound", "presence", "profile", "share", "store", "user", "webhook", "whatsapp",
	}
}

// ofOperators reports whether a room below speaks to who starts the program alone, or to who writes
// JSON.
func ofOperators(folder string) bool {
	return slices.Contains([]string{"filestore", "format", "version"}, filepath.Base(folder))
}

// Each sentence that comes from below has a translation in each language.
func TestEverySentenceFromBelowIsTranslated(t *testing.T) {
	t.Parallel()
	said := map[string]string{}
	for _, room := range roomsBelow() {
		collect(t, filepath.Join("..", room), said)
	}
	if len(said) < 100 {
		t.Fatalf("only %d sentences were found", len(said))
	}
	for file, translated := range cases.Sorted(saidFiles(t)) {
		for sentence, where := range cases.Sorted(said) {
			if translated[sentence] == "" {
				t.Errorf("%s does not translate %q (%s)", file, sentence, where)
			}
		}
	}
}

// collect adds the sentences of the files under a folder, with where each stands.
func collect(t *testing.T, folder string, said map[string]string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && ofOperators(path) {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			for _, expression := range sentencesIn(node) {
				if text := patternOf(expression); text != "" && text != "%s" {
					said[text] = files.Position(node.Pos()).String()
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sentencesIn returns what a piece of code says to people: the words of an error, or of one field.
func sentencesIn(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.CallExpr:
		name := ""
		switch function := node.Fun.(type) {
		case *ast.SelectorExpr:
			name = function.Sel.Name
		case *ast.Ident:
			name = function.Name
		}
		switch {
		case name == "Errorf" && len(node.Args) > 2 && patternOf(node.Args[0]) == "%s":
			return node.Args[2:3]
		case (name == "InvalidField" || name == "refuse") && len(node.Args) == 2, name == "refused" && len(node.Args) > 0:
			return node.Args[len(node.Args)-1:]
		case name == "New" && len(node.Args) == 1 && startsWithVerb.MatchString(patternOf(node.Args[0])):
			return node.Args
		}
	case *ast.KeyValueExpr:
		if key, ok := node.Key.(*ast.Ident); ok && (key.Name == "Message" || key.Name == "Problem") {
			return []ast.Expr{node.Value}
		}
	case *ast.ReturnStmt:
		for _, result := range node.Results {
			if text := patternOf(result); startsWithVerb.MatchString(text) || strings.HasPrefix(text, "its host ") {
				return []ast.Expr{result}
			}
		}
	}
	return nil
}

// startsWithVerb finds what is said of a field.
var startsWithVerb = regexp.MustCompile(`^(must|is|needs|lies|has|can't) `)

// patternOf is a text of code with %s in place of what is not known before it runs.
func patternOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text
		}
	case *ast.BinaryExpr:
		return patternOf(e.X) + patternOf(e.Y)
	case *ast.CallExpr:
		if function, ok := e.Fun.(*ast.SelectorExpr); ok && function.Sel.Name == "Sprintf" {
			return patternOf(e.Args[0])
		}
	}
	return "%s"
}

// A sentence keeps its values, and what stands in another is translated with it.
func TestSaid(t *testing.T) {
	t.Parallel()
	words, err := web.ReadWords()
	if err != nil {
		t.Fatal(err)
	}
	if got := words.Said("es", "the group is full; nothing was changed"); got != "el grupo está lleno; no se cambió nada" {
		t.Errorf("in Spanish: %q", got)
	}
	for sentence, want := range cases.Sorted(map[string]string{
		"":                                       "",
		"nobody has translated this":             "nobody has translated this",
		"choose a file":                          "escolha um arquivo",
		"must have 1 to 4096 characters":         "deve ter de 1 a 4096 caracteres",
		"there is no role \"king\"":              "o papel \"king\" não existe",
		"the group is full; nothing was changed": "o grupo está cheio; nada foi alterado",
		"the password must have 12 to 128 characters":      "a senha deve ter de 12 a 128 caracteres",
		"the name of the host can't be resolved":           "the name of the host can't be resolved",
		"the platform does not accept <b>%s</b> (code 7)":  "a plataforma não aceita <b>%s</b> (código 7)",
		strings.Repeat("a", 3000) + ": repeat the request": strings.Repeat("a", 3000) + ": repeat the request",
	}) {
		if got := words.Said("pt-BR", sentence); got != want {
			t.Errorf("%q is %q, want %q", sentence, got, want)
		}
		if got := words.Said("en", sentence); got != sentence {
			t.Errorf("in English %q is %q", sentence, got)
		}
	}
}

// Each translation has the places of its sentence.
func TestSayingsHaveTheirValues(t *testing.T) {
	t.Parallel()
	verbs := regexp.MustCompile(`%(?:\[\d+\])?[.0-9]*[a-z]`)
	for file, said := range cases.Sorted(saidFiles(t)) {
		for english, translated := range cases.Sorted(said) {
			if len(verbs.FindAllString(english, -1)) != len(verbs.FindAllString(translated, -1)) {
				t.Errorf("%s: %q and %q have different values", file, english, translated)
			}
		}
	}
}

// saidFiles are the translations, by their files: one for each language but English.
func saidFiles(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, file := range webtest.Languages(t, "said") {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var said map[string]string
		if err := json.Unmarshal(content, &said); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[file] = said
	}
	return all
}
