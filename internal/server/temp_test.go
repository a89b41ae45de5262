package server_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// What a process that was killed left of decrypted files does not outlive the
// next start.
func TestTemporaryFilesAreSweptAtTheStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	temp := filepath.Join(data, "tmp")
	incoming := filepath.Join(data, "media", ".incoming")
	for _, folder := range []string{temp, incoming} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "recado-download-1"), []byte("plain"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Start(t, testkit.Options{DataDir: data})
	for _, folder := range []string{temp, incoming} {
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 0 {
			t.Errorf("%s has %v, %v", folder, entries, err)
		}
		if about, err := os.Stat(folder); err != nil || about.Mode().Perm() != 0o700 {
			t.Errorf("%s is %v, %v", folder, about.Mode(), err)
		}
	}
}
