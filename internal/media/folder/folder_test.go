package folder

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/testkit/blobtest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFolder(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, blobtest.Harness{Clock: true, Open: func(t *testing.T, now func() time.Time) (store, second media.Store) {
		t.Helper()
		return open(t, Config{Path: t.TempDir(), Now: now}), nil
	}})
}

func TestSharedFolder(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, blobtest.Harness{Clock: true, Open: func(t *testing.T, now func() time.Time) (store, second media.Store) {
		t.Helper()
		config := Config{Path: t.TempDir(), Shared: true, Now: now}
		return open(t, config), open(t, config)
	}})
}

func open(t *testing.T, config Config) *Store {
	t.Helper()
	store, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// blobs opens a folder of the test.
func blobs(t *testing.T) (files *media.Blobs, store *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "media")
	store = open(t, Config{Path: path})
	files, err := media.OpenBlobs(t.Context(), media.BlobsConfig{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	return files, store, path
}

func put(t *testing.T, files *media.Blobs, key string) {
	t.Helper()
	if err := files.Put(t.Context(), key, strings.NewReader("content"), media.BlobMeta{Size: 7}); err != nil {
		t.Fatal(err)
	}
}

func wantEmpty(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) > 0 {
		t.Errorf("left over are %v, %v", entries, err)
	}
}

func wantGone(t *testing.T, files *media.Blobs, key string) {
	t.Helper()
	_, err := files.Stat(t.Context(), key)
	_, getErr := files.Get(t.Context(), key)
	if gateway.KindOf(err) != gateway.NotFound || gateway.KindOf(getErr) != gateway.NotFound {
		t.Errorf("the file is there: %v, %v", err, getErr)
	}
}

func TestFilesAreForThisUserAlone(t *testing.T) {
	t.Parallel()
	files, _, path := blobs(t)
	put(t, files, "one/photo")
	for name, want := range cases.Sorted(map[string]os.FileMode{"": 0o700, "one": 0o700, "one/photo": 0o600, "one/photo" + media.Described: 0o600}) {
		if about, err := os.Stat(filepath.Join(path, name)); err != nil || about.Mode().Perm() != want {
			t.Errorf("%q is %v, %v; want %v", name, about.Mode(), err, want)
		}
	}
}

// Nothing is left of a file that did not arrive whole.
func TestNothingIsLeftOfHalfAFile(t *testing.T) {
	t.Parallel()
	files, _, path := blobs(t)
	if err := files.Put(t.Context(), "key", strings.NewReader("half"), media.BlobMeta{Size: 8}); err == nil {
		t.Error("it was stored")
	}
	wantEmpty(t, filepath.Join(path, incoming))
	if err := os.Remove(filepath.Join(path, incoming)); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, path)
}

// What a power cut has left of a file is not served, and makes room for the file
// itself.
func TestBrokenBlobIsReplaced(t *testing.T) {
	t.Parallel()
	for name, breakIt := range cases.Sorted(map[string]func(path string) error{
		"empty":                 func(path string) error { return os.Truncate(path, 0) },
		"cut short":             func(path string) error { return os.Truncate(path, 3) },
		"without a description": func(path string) error { return os.Remove(path + media.Described) },
		"half a description":    func(path string) error { return os.Truncate(path+media.Described, 5) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, _, path := blobs(t)
			put(t, files, "one/photo")
			if err := breakIt(filepath.Join(path, "one", "photo")); err != nil {
				t.Fatal(err)
			}
			wantGone(t, files, "one/photo")
			put(t, files, "one/photo")
			if found, err := files.Stat(t.Context(), "one/photo"); err != nil || found.Size != 7 {
				t.Errorf("it is %+v, %v", found, err)
			}
		})
	}
}

// A name stands for what is on the disk: file and description are brought there
// before they are named, and then the names.
func TestBlobIsOnDiskBeforeItIsNamed(t *testing.T) {
	t.Parallel()
	files, store, path := blobs(t)
	named := func() bool {
		_, err := os.Stat(filepath.Join(path, "one", "photo"))
		return err == nil
	}
	var order []string
	store.sync = func(file *os.File) error {
		about, err := file.Stat()
		if err != nil {
			return err
		}
		switch {
		case about.IsDir() && named():
			order = append(order, "folder")
		case !about.IsDir() && !named():
			order = append(order, "file")
		default:
			order = append(order, "too early, or too late: "+file.Name())
		}
		return file.Sync()
	}
	put(t, files, "one/photo")
	if want := []string{"file", "file", "folder", "folder"}; !slices.Equal(order, want) {
		t.Errorf("synced were %q, want %q", order, want)
	}
	store.sync = func(*os.File) error { return errors.New("the disk is full") }
	if err := files.Put(t.Context(), "one/other", strings.NewReader("x"), media.BlobMeta{Size: 1}); err == nil {
		t.Error("what is not on disk is stored")
	}
	wantGone(t, files, "one/other")
	wantEmpty(t, filepath.Join(path, incoming))
}

func TestHalfWrittenBlobsAreRemovedAtTheStart(t *testing.T) {
	t.Parallel()
	files, _, path := blobs(t)
	put(t, files, "one/photo")
	left := filepath.Join(path, incoming, "left")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		now  time.Time
		kept bool
	}{
		{name: "another process may be writing it", now: time.Now(), kept: true},
		{name: "in a shared folder after a day", now: time.Now().Add(leftAfter + time.Hour)},
	} {
		again := open(t, Config{Path: path, Shared: true, Now: func() time.Time { return test.now }})
		if _, err := os.Stat(left); (err == nil) != test.kept {
			t.Errorf("%s: %v", test.name, err)
		}
		_ = again.Close()
	}
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, Config{Path: path})
	t.Cleanup(func() { _ = again.Close() })
	wantEmpty(t, filepath.Join(path, incoming))
	if _, err := again.Stat(t.Context(), "one/photo"); err != nil {
		t.Error(err)
	}
}

func TestDeletedBlobIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	files, _, path := blobs(t)
	put(t, files, "one/photo")
	opened, err := files.Get(t.Context(), "one/photo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	if err := files.Delete(t.Context(), "one/photo"); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(path, "one", "photo*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if rest, err := io.ReadAll(opened); err != nil || string(rest) != "content" {
		t.Errorf("who had it open reads %q, %v", rest, err)
	}
	if found, err := files.Folders(t.Context()); err != nil || !slices.Equal(found, []string{"one"}) {
		t.Errorf("the empty folder is not listed: %q, %v", found, err)
	}
	// What a process that was killed had half written goes with the folder.
	if err := os.WriteFile(filepath.Join(path, "one", "half.part"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := files.DeleteFolder(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if found, err := files.Folders(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("left are %q, %v", found, err)
	}
}

// What was there before a start counts.
func TestFilesFromBeforeCount(t *testing.T) {
	t.Parallel()
	files, _, path := blobs(t)
	put(t, files, "one/photo")
	again, err := media.OpenBlobs(t.Context(), media.BlobsConfig{Store: open(t, Config{Path: path})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	if used, _ := again.Used(); used != 7 {
		t.Errorf("%d bytes are used", used)
	}
}
