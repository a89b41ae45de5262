//go:build linux

package imagetest_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The release says of each of its files from which commit it comes, and nothing of files that are
// others than their checksums say.
func TestReleaseSaysWhereItsFilesComeFrom(t *testing.T) {
	t.Parallel()
	folder, commit := t.TempDir(), strings.Repeat("0a", 20)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("a program")))
	write("recado.tar.gz", "a program")
	write("checksums.txt", sum+"  recado.tar.gz\n")
	if _, err := runTool(t, "release/provenance", "", folder, commit); err != nil {
		t.Fatal(err)
	}
	var statement struct {
		Type      string `json:"_type"` //nolint:tagliatelle // the form's own name
		Predicate string `json:"predicateType"`
		Subject   []struct {
			Name   string            `json:"name"`
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
	}
	content, err := os.ReadFile(filepath.Join(folder, "provenance.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &statement); err != nil {
		t.Fatal(err)
	}
	if statement.Type != "https://in-toto.io/Statement/v1" || statement.Predicate != "https://slsa.dev/provenance/v1" || len(statement.Subject) != 1 ||
		statement.Subject[0].Name != "recado.tar.gz" || statement.Subject[0].Digest["sha256"] != sum || !strings.Contains(string(content), `"gitCommit": "`+commit+`"`) {
		t.Errorf("the statement is %s", content)
	}
	write("recado.tar.gz", "another program")
	if _, err := runTool(t, "release/provenance", "", folder, commit); err == nil || !strings.Contains(err.Error(), "checksums.txt says") {
		t.Errorf("of another file, the release says where it comes from: %v", err)
	}
	if _, err := runTool(t, "release/provenance", "", folder, "HEAD"); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("a commit without a number is taken: %v", err)
	}
}
