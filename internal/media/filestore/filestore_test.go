package filestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, address string) filestore.Location {
	t.Helper()
	found, err := filestore.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPlaceThatIsWrong(t *testing.T) {
	t.Parallel()
	for address, want := range cases.Sorted(map[string]string{
		"file://srv/recado":              "whole path",
		"file:srv":                       "whole path",
		"file:///":                       "whole path",
		"file:///srv?region=x":           "a path and nothing else",
		"file://user:secret@/srv/recado": "a path and nothing else",
		"/srv/recado":                    "must begin with",
		"https://secret@example.org":     "must begin with",
		"%zz://secret":                   "not a URL",

		"s3://AKIA:secret@bucket/prefix":           "must not have credentials",
		"s3://":                                    "must name a bucket",
		"s3://Bucket":                              "must name a bucket",
		"s3://bucket#secret":                       "must name a bucket",
		"s3://bucket/a/../b":                       "must have a prefix",
		"s3://bucket/a//b":                         "must have a prefix",
		"s3://bucket/ü":                            "must have a prefix",
		"s3://bucket?secret_access_key=secret":     "unknown; known are endpoint",
		"s3://bucket?region=":                      "once, with a value",
		"s3://bucket?region=a&region=b":            "once, with a value",
		"s3://bucket?path-style=secret":            "true or false",
		"s3://bucket?links=secret":                 "presigned or served",
		"s3://bucket?endpoint=example.org":         "https:// or http://",
		"s3://bucket?endpoint=https://a:secret@b":  "https:// or http://",
		"s3://bucket?endpoint=https://b/path":      "https:// or http://",
		"s3://bucket?endpoint=https://b&x;secret=": "malformed query",
	}) {
		_, err := filestore.Parse(address)
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
		stores, err := at.Open(t.Context(), filestore.Config{DataDir: data})
		if err != nil {
			t.Fatal(err)
		}
		for name, store := range cases.Sorted(map[string]media.Store{"media": stores.Fetched, "queue": stores.Queued}) {
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

// What a program keeps in a bucket is below the prefix.
func TestBucket(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	for prefix, below := range cases.Sorted(map[string]string{"": "", "a/b": "a/b/", "c/": "c/"}) {
		at := parse(t, server.URL(prefix)+"&links=served")
		if !at.Shared() {
			t.Errorf("%q is not shared", prefix)
		}
		stores, err := at.Open(t.Context(), filestore.Config{DataDir: t.TempDir(), TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for name, store := range cases.Sorted(map[string]media.Store{"media": stores.Fetched, "queue": stores.Queued}) {
			blobs, err := media.OpenBlobs(t.Context(), media.BlobsConfig{Store: store, Shared: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := blobs.Put(t.Context(), "one/file", strings.NewReader("x"), media.BlobMeta{Size: 1}); err != nil {
				t.Fatal(err)
			}
			if file, err := blobs.Get(t.Context(), "one/file"); err != nil || file.Presign != nil {
				t.Errorf("a link that is to be served from here is presigned, or %v", err)
			}
			if names := server.Names(); !slices.Contains(names, below+name+"/one/file") {
				t.Errorf("with the prefix %q there are %q", prefix, names)
			}
		}
		if err := errors.Join(stores.Fetched.Close(), stores.Queued.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestSharedFolderThatIsNotMounted(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := parse(t, "file://"+missing).Open(t.Context(), filestore.Config{DataDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("it ends with %v", err)
	}
}

// A place belongs to the database that used it first: two that clean up at one place would
// remove each other's files. A database that has a place takes another one only if it is told to.
func TestPlaceHasOneOwner(t *testing.T) {
	t.Parallel()
	t.Run("folders", func(t *testing.T) {
		t.Parallel()
		oneOwner(t, "file://"+t.TempDir(), "file://"+t.TempDir())
	})
	t.Run("a bucket", func(t *testing.T) {
		t.Parallel()
		server := s3.Start(t)
		oneOwner(t, server.URL("a"), server.URL("b"))
	})
}

func oneOwner(t *testing.T, addresses ...string) {
	t.Helper()
	for _, test := range []struct {
		at         int
		owner      string
		known, new bool
		want       error
	}{
		{at: 0, owner: "one", known: true, want: filestore.ErrNotThePlace},
		{at: 0, owner: "one"},
		{at: 0, owner: "one"},
		{at: 0, owner: "another", want: filestore.ErrOthersPlace},
		{at: 0, owner: "another", new: true, want: filestore.ErrOthersPlace},
		{at: 0, owner: "one", known: true},
		{at: 1, owner: "one", known: true, want: filestore.ErrNotThePlace},
		{at: 1, owner: "one", known: true, new: true},
		{at: 1, owner: "one", known: true},
	} {
		config := filestore.Config{DataDir: t.TempDir(), TempDir: t.TempDir(), Owner: test.owner, Known: test.known, New: test.new}
		stores, err := parse(t, addresses[test.at]).Open(t.Context(), config)
		if !errors.Is(err, test.want) || stores.Owned != (test.want == nil) {
			t.Errorf("%s, %+v: it ends with %v", addresses[test.at], test, err)
		}
		if err == nil {
			err = errors.Join(stores.Fetched.Close(), stores.Queued.Close())
		}
		if err != nil && test.want == nil {
			t.Error(err)
		}
		if err := parse(t, addresses[test.at]).Claim(t.Context(), config); !errors.Is(err, test.want) {
			t.Errorf("%s, %+v: it is claimed with %v", addresses[test.at], test, err)
		}
		if owner, err := parse(t, addresses[test.at]).Owner(t.Context(), config); err != nil || test.want == nil && owner != test.owner {
			t.Errorf("the owner of %s is %q, %v", addresses[test.at], owner, err)
		}
	}
}

// A shared folder that is taken away while its stores are open is Unavailable, and nothing is
// written into what is under its name instead; when it is back, they go on.
func TestFolderGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	mount := filepath.Join(t.TempDir(), "mount")
	if err := os.Mkdir(mount, 0o700); err != nil {
		t.Fatal(err)
	}
	stores, err := parse(t, "file://"+mount).Open(t.Context(), filestore.Config{DataDir: t.TempDir(), Owner: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(stores.Fetched.Close(), stores.Queued.Close()); err != nil {
			t.Error(err)
		}
	}()
	use := func(want gateway.Kind) {
		t.Helper()
		for _, store := range []media.Store{stores.Fetched, stores.Queued} {
			_, stat := store.Stat(t.Context(), "one/file")
			_, deleted := store.Delete(t.Context(), "two/file")
			_, folders := store.Folders(t.Context())
			blob, got := store.Get(t.Context(), "one/file")
			if got == nil {
				got = blob.Close()
			}
			all := []error{write(t, store, "one/file"), stat, got, write(t, store, "two/file"), deleted, store.DeleteFolder(t.Context(), "two"), folders}
			for _, err := range store.List(t.Context(), "") {
				all = append(all, err)
			}
			for n, err := range all {
				if refusal, ok := gateway.AsError(err); ok && refusal.Kind == gateway.Unavailable && refusal.RetryAfter == 0 || ok != (want != 0) || ok && refusal.Kind != want {
					t.Errorf("call %d ends with %v", n, err)
				}
			}
		}
	}
	if err := errors.Join(write(t, stores.Fetched, "one/file"), write(t, stores.Queued, "one/file")); err != nil {
		t.Fatal(err)
	}
	use(0)
	for range 2 {
		if err := os.Rename(mount, mount+"-away"); err != nil {
			t.Fatal(err)
		}
		use(gateway.Unavailable)
		if err := os.Mkdir(mount, 0o700); err != nil {
			t.Fatal(err)
		}
		use(gateway.Unavailable)
		if err := errors.Join(os.Remove(mount), os.Rename(mount+"-away", mount)); err != nil {
			t.Fatal(err)
		}
		use(0)
	}
}

func write(t *testing.T, to media.Store, key string) error {
	t.Helper()
	_, err := to.Write(t.Context(), key, media.BlobMeta{MimeType: "text/plain"}, func(file *os.File) error {
		_, err := file.WriteString("x")
		return err
	})
	return err
}
