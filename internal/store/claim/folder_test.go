package claim_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/store/claim"
)

// One process at a time works in a data folder, which nobody else of the machine can read.
func TestFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "data")
	release, err := claim.TakeFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(folder); err != nil || about.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v (%v)", about, err)
	}
	if _, err := claim.TakeFolder(folder); !errors.Is(err, claim.ErrFolderTaken) {
		t.Errorf("a second claim is answered %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := claim.TakeFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}
