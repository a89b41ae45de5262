// Command generate writes the part of a client that the OpenAPI document describes: an operation is
// a method, a schema a type, an enumeration a list of constants.
//
//	go run ./internal/clientgen docs/openapi.yaml go client
//
// It reads the document and nothing else, so what the client should say differently is said
// differently in the document. read makes a model of the document (model.go), which knows nothing
// of any language; a file for each language writes it (golang.go, php.go, python.go). A test holds that the files in
// the repository are what comes of the document.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: generate DOCUMENT "+strings.Join(languages(), "|")+" FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// writers write the files of a client in a language, by their names.
func writers() map[string]func(model) (map[string][]byte, error) {
	return map[string]func(model) (map[string][]byte, error){"go": goFiles, "php": phpFiles, "python": pythonFiles}
}

// languages are the names of the languages.
func languages() []string { return slices.Sorted(maps.Keys(writers())) }

// generate writes the files of the client in a language into a folder.
func generate(document, language, folder string) error {
	files, err := files(document, language)
	if err != nil {
		return err
	}
	for name, code := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as all folders of the repository
			return fmt.Errorf("write the client: %w", err)
		}
		if err := os.WriteFile(path, code, 0o644); err != nil { //nolint:gosec // as all files of the repository
			return fmt.Errorf("write the client: %w", err)
		}
	}
	return nil
}

// files returns the files of the client in a language by their names.
func files(document, language string) (map[string][]byte, error) {
	write, ok := writers()[language]
	if !ok {
		return nil, fmt.Errorf("the language %q is none of %s", language, strings.Join(languages(), ", "))
	}
	content, err := os.ReadFile(document) //nolint:gosec // named on the command line
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	model, err := read(content)
	if err != nil {
		return nil, err
	}
	return write(model)
}
