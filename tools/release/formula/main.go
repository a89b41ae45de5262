// Command formula writes recado.rb, with which Homebrew installs the program of a release on macOS
// and Linux.
//
//	formula FOLDER
//
// The version and the checksums are those of checksums.txt in the folder.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"text/template"
)

const downloads = "https://github.com/recado-project/recado/releases/download/v"

//go:embed recado.rb.tmpl
var text string

// archivePattern finds an archive in checksums.txt: its checksum, name, version, system and processor.
var archivePattern = regexp.MustCompile(`(?m)^([0-9a-f]{64})  (recado_([0-9A-Za-z.+-]+)_(darwin|linux)_(amd64|arm64)\.tar\.gz)$`)

type system struct {
	Name     string
	Archives []archive
}

type archive struct{ Processor, Address, Sum string }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "formula:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: formula FOLDER")
	}
	sums, err := os.ReadFile(filepath.Join(args[0], "checksums.txt"))
	if err != nil {
		return err
	}
	version, systems, err := archivesOf(string(sums))
	if err != nil {
		return err
	}
	var formula bytes.Buffer
	err = template.Must(template.New("").Parse(text)).Execute(&formula, map[string]any{"Version": version, "Systems": systems})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(args[0], "recado.rb"), formula.Bytes(), 0o644)
}

// archivesOf returns the archives that checksums name, which have to be those of one version.
func archivesOf(sums string) (version string, systems []system, err error) {
	// Homebrew has its own names for systems and processors.
	systems = []system{{Name: "macos"}, {Name: "linux"}}
	place := map[string]*system{"darwin": &systems[0], "linux": &systems[1]}
	processors := map[string]string{"amd64": "intel", "arm64": "arm"}
	for _, found := range archivePattern.FindAllStringSubmatch(sums, -1) {
		if version == "" {
			version = found[3]
		}
		if found[3] != version {
			return "", nil, fmt.Errorf("checksums.txt has archives of the versions %s and %s", version, found[3])
		}
		of := place[found[4]]
		of.Archives = append(of.Archives, archive{processors[found[5]], downloads + version + "/" + found[2], found[1]})
	}
	for _, s := range systems {
		if len(s.Archives) != len(processors) {
			return "", nil, fmt.Errorf("checksums.txt has %d archives for %s, and not %d", len(s.Archives), s.Name, len(processors))
		}
	}
	return version, systems, nil
}
