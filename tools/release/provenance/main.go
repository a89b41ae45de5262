// Command provenance writes where the files of a release come from, as a statement of in-toto with
// a predicate of SLSA, version 1. Nobody has signed it: that is the owner's step.
//
//	provenance FOLDER COMMIT
//
// The files are those that checksums.txt in the folder names, and each has to have its checksum.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

const repository = "https://github.com/recado-project/recado"

type object = map[string]any

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "provenance:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 || !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(args[1]) {
		return errors.New("usage: provenance FOLDER COMMIT, with a commit of 40 digits")
	}
	folder, commit := args[0], args[1]
	subjects, err := subjectsIn(folder)
	if err != nil {
		return err
	}
	statement, err := json.MarshalIndent(object{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": object{
			"buildDefinition": object{
				"buildType":            repository + "/blob/HEAD/.goreleaser.yaml",
				"externalParameters":   object{"repository": repository, "command": "make release"},
				"internalParameters":   object{"go": runtime.Version()},
				"resolvedDependencies": []object{{"uri": "git+" + repository, "digest": object{"gitCommit": commit}}},
			},
			"runDetails": object{"builder": object{"id": repository + "/blob/HEAD/Makefile"}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "provenance.json"), append(statement, '\n'), 0o644)
}

// subjectsIn returns the files of the checksums in a folder, after comparing each.
func subjectsIn(folder string) (subjects []object, err error) {
	sums, err := os.Open(filepath.Join(folder, "checksums.txt"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = sums.Close() }()
	lines := bufio.NewScanner(sums)
	for lines.Scan() {
		want, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || name != filepath.Base(name) {
			return nil, fmt.Errorf("checksums.txt has the line %q", lines.Text())
		}
		got, err := sumOf(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if got != want {
			return nil, fmt.Errorf("%s has the checksum %s, and checksums.txt says %s", name, got, want)
		}
		subjects = append(subjects, object{"name": name, "digest": object{"sha256": got}})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(subjects) == 0 {
		return nil, errors.New("checksums.txt names no file")
	}
	return subjects, nil
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
