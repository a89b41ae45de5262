package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
)

// The master key is compared with the database, and its file with what others may do.
func TestMasterKey(t *testing.T) {
	t.Parallel()
	key := seal.NewKey()
	settings := server.Config{DataDir: folder(t)}
	look := func(source seal.Source) []Finding {
		t.Helper()
		e := with(t, settings)
		e.config.Master = source
		return openedFor(t, e).masterKey(t.Context())
	}
	fine(t, look(seal.Source{}))
	fine(t, look(seal.Source{Text: key.Text()}))
	says(t, look(seal.Source{File: filepath.Join(t.TempDir(), "missing")}), Wrong, "it can't be read")
	says(t, look(seal.Source{Command: "echo nonsense"}), Wrong, "it can't be read")

	fill(t, settings, nil)
	fine(t, look(seal.Source{}))
	says(t, look(seal.Source{Text: key.Text()}), Warning, "still plain")

	settings.MasterKey = key
	fill(t, settings, nil)
	says(t, look(seal.Source{Text: key.Text()}), Warning, "not everything is sealed")
	fill(t, settings, func(s *store.Store) error {
		_, err := s.Vault().Reseal(t.Context())
		return err
	})
	fine(t, look(seal.Source{Text: key.Text()}))
	says(t, look(seal.Source{}), Wrong, "there is no master key")
	says(t, look(seal.Source{Text: seal.NewKey().Text()}), Wrong, "another master key")

	outside, inside := filepath.Join(t.TempDir(), "key"), filepath.Join(settings.DataDir, "key")
	for _, file := range []string{outside, inside} {
		if err := os.WriteFile(file, []byte(key.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fine(t, look(seal.Source{File: outside}))
	says(t, look(seal.Source{File: inside}), Warning, "is in the data folder")
	if err := errors.Join(os.Remove(inside), os.Chmod(outside, 0o644)); err != nil {
		t.Fatal(err)
	}
	says(t, look(seal.Source{File: outside}), Warning, "its mode is 0644")
}
