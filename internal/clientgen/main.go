// Command generate writes the part of the Go client that the OpenAPI document describes: an
// operation is a method, a schema a type, an enumeration a list of constants.
//
//	go run ./internal/clientgen docs/openapi.yaml client
//
// It reads the document and nothing else, so what the client should say differently is said
// differently in the document. read makes a model of the document (model.go), which knows nothing
// of Go; a file for each language writes it (golang.go). A test holds that the files in the
// repository are what comes of the document.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate DOCUMENT FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes the files of the Go client into a folder.
func generate(document, folder string) error {
	files, err := files(document)
	if err != nil {
		return err
	}
	for name, code := range files {
		if err := os.WriteFile(filepath.Join(folder, name), code, 0o644); err != nil { //nolint:gosec // as all files of the repository
			return fmt.Errorf("write the client: %w", err)
		}
	}
	return nil
}

// files returns the files of the Go client by their names.
func files(document string) (map[string][]byte, error) {
	content, err := os.ReadFile(document) //nolint:gosec // named on the command line
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	model, err := read(content)
	if err != nil {
		return nil, err
	}
	return goFiles(model)
}
