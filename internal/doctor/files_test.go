package doctor

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The doctor sees that a place is not the one which the database knows.
func TestPlaceOfFiles(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	at, err := filestore.Parse("file://" + mount)
	if err != nil {
		t.Fatal(err)
	}
	settings := server.Config{DataDir: folder(t), MediaLocation: at}
	look := func() []Finding { return openedFor(t, with(t, settings)).files(t.Context()) }
	fill(t, settings, nil)
	says(t, look(), OK, "place of files: the database knows none yet")
	fill(t, settings, func(s *store.Store) error {
		return s.OwnFiles(t.Context(), "one", func(context.Context, string, bool) (bool, error) { return true, nil })
	})
	says(t, look(), Wrong, "place of files: the files of this database have a place, and this is not it")
	owner := filepath.Join(mount, "owner")
	for name, want := range cases.Sorted(map[string]State{"one": OK, "another": Wrong}) {
		if err := os.WriteFile(owner, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		says(t, look(), want, "place of files: ")
	}
	settings.MediaLocation = filestore.Location{}
	says(t, look(), Wrong, "this is not it")
}
