package place_test

import (
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/place"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, address string) place.Place {
	t.Helper()
	found, err := place.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPlaceThatIsWrong(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"file://srv/recado":              "whole path",
		"file:srv":                       "whole path",
		"file:///":                       "whole path",
		"file:///srv?region=x":           "a path and nothing else",
		"file://user:secret@/srv/recado": "a path and nothing else",
		"/srv/recado":                    "must begin with",
		"https://secret@example.org":     "must begin with",
		"%zz://secret":                   "not a URL",
	} {
		_, err := place.Parse(address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q ends with %v, want something with %q", address, err, want)
		}
	}
}

// What is kept in a shared folder is seen by every program that names it, and nothing of it
// is in the data folder.
func TestSharedFolder(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	for _, test := range []struct {
		address string
		shared  bool
	}{{"", false}, {"file://" + shared, true}} {
		at := parse(t, test.address)
		if at.Shared() != test.shared {
			t.Errorf("%q is shared: %t", test.address, at.Shared())
		}
		data := t.TempDir()
		stores, err := at.Open(t.Context(), place.Config{DataDir: data})
		if err != nil {
			t.Fatal(err)
		}
		for name, store := range map[string]media.Store{"media": stores.Fetched, "queue": stores.Queued} {
			blobs, err := media.OpenBlobs(t.Context(), media.BlobsConfig{Store: store})
			if err != nil {
				t.Fatal(err)
			}
			if err := blobs.Put(t.Context(), "one/file", strings.NewReader("x"), media.BlobMeta{Size: 1}); err != nil {
				t.Fatal(err)
			}
			where := data
			if test.shared {
				where = shared
			}
			if found, err := filepath.Glob(filepath.Join(where, name, "one", "file")); err != nil || len(found) != 1 {
				t.Errorf("%q keeps its file in %q, %v", test.address, found, err)
			}
			if err := blobs.Close(); err != nil {
				t.Error(err)
			}
		}
		if left, err := filepath.Glob(filepath.Join(data, "*")); test.shared && (err != nil || len(left) > 0) {
			t.Errorf("the data folder has %q, %v", left, err)
		}
	}
}

func TestSharedFolderThatIsNotMounted(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := parse(t, "file://"+missing).Open(t.Context(), place.Config{DataDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("it ends with %v", err)
	}
}
