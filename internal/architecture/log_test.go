package architecture_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/loglines"
)

// Every line below the rooms of sessions, messages and webhooks names its instance: with hundreds of them, nobody
// can use one that does not. Tests that start the program see the lines that they cause; this one sees all.
func TestLinesNameTheirInstance(t *testing.T) {
	t.Parallel()
	lines := 0
	for _, room := range []string{"internal/whatsapp", "internal/messaging", "internal/webhook"} {
		err := fs.WalkDir(os.DirFS(root), room, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join(root, path), nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			seen, wrong := unnamed(file)
			lines += seen
			for _, line := range wrong {
				t.Errorf("%s:%d: the line does not name its instance: use the logger of the session, the lane, the pump or the receiver, or say instance_id; "+
					"if it is about no single instance, list it in internal/testkit/loglines", path, files.Position(line.Pos()).Line)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines < 50 {
		t.Errorf("only %d lines were found: are they written in another way by now?", lines)
	}
}

// unnamed returns how many lines a file writes, and those that don't name their instance.
func unnamed(file *ast.File) (lines int, wrong []*ast.CallExpr) {
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "LogAttrs", "Debug", "Info", "Warn", "Error"}, method.Sel.Name) ||
			len(call.Args) < 2 {
			return true
		}
		lines++
		if !hasInstance(method.X) && !slices.ContainsFunc(call.Args, saysInstance) && !slices.ContainsFunc(call.Args, isOfTheProcess) {
			wrong = append(wrong, call)
		}
		return true
	})
	return lines, wrong
}

// hasInstance reports whether a logger is one that names an instance.
func hasInstance(logger ast.Expr) bool {
	switch logger := logger.(type) {
	case *ast.Ident: // made of one of those below
		return logger.Name == "logger"
	case *ast.CallExpr: // l.logger(), p.logger()
		method, ok := logger.Fun.(*ast.SelectorExpr)
		return ok && method.Sel.Name == "logger"
	case *ast.SelectorExpr:
		switch of := logger.X.(type) {
		case *ast.Ident: // s.logger of a session, r.logger of a receiver, l.Logger of a line; the connector and the services have none
			return logger.Sel.Name == "logger" || logger.Sel.Name == "Logger" && of.Name == "l"
		case *ast.SelectorExpr: // the parts of a session share its line
			return logger.Sel.Name == "Logger" && of.Sel.Name == "line"
		}
	}
	return false
}

func saysInstance(argument ast.Expr) bool {
	found := false
	ast.Inspect(argument, func(node ast.Node) bool {
		text, ok := node.(*ast.BasicLit)
		found = found || ok && text.Value == `"instance_id"`
		return true
	})
	return found
}

func isOfTheProcess(argument ast.Expr) bool {
	text, ok := argument.(*ast.BasicLit)
	return ok && slices.Contains(loglines.OfTheProcess(), strings.Trim(text.Value, `"`))
}

// The control: a line without its instance is found.
func TestUnnamedLinesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call string
		want int
	}{
		{`s.config.Logger.WarnContext(ctx, "not kept")`, 1},
		{`s.service.logger.WarnContext(ctx, "not kept")`, 1},
		{`s.config.Logger.WarnContext(ctx, "not kept", slog.String("instance_id", id))`, 0},
		{`s.config.Logger.WarnContext(ctx, "states of webhooks not saved")`, 0},
		{`c.line.Logger.WarnContext(ctx, "not kept")`, 0},
		{`s.logger.LogAttrs(ctx, slog.LevelWarn, "not kept")`, 0},
		{`p.logger().LogAttrs(ctx, slog.LevelWarn, "not kept")`, 0},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() { "+c.call+" }", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if lines, wrong := unnamed(file); lines != 1 || len(wrong) != c.want {
			t.Errorf("%s: %d of %d lines are wrong, want %d", c.call, len(wrong), lines, c.want)
		}
	}
}
