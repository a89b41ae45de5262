package place_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/place"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
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
		stores, err := at.Open(t.Context(), place.Config{DataDir: t.TempDir(), TempDir: t.TempDir()})
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
	if _, err := parse(t, "file://"+missing).Open(t.Context(), place.Config{DataDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("it ends with %v", err)
	}
}

// A place belongs to the database that used it first: two that clean up at one place would
// remove each other's files.
func TestPlaceHasOneOwner(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	for _, address := range []string{"file://" + t.TempDir(), server.URL("a")} {
		at := parse(t, address)
		for _, test := range []struct {
			owner   string
			refused bool
		}{{owner: "one"}, {owner: "one"}, {owner: "another", refused: true}, {owner: "one"}} {
			stores, err := at.Open(t.Context(), place.Config{DataDir: t.TempDir(), TempDir: t.TempDir(), Owner: test.owner})
			if (err != nil) != test.refused || err != nil && !strings.Contains(err.Error(), "another database") {
				t.Errorf("%s: opened by %s it ends with %v", address, test.owner, err)
			}
			if err == nil {
				err = errors.Join(stores.Fetched.Close(), stores.Queued.Close())
			}
			if err != nil && !test.refused {
				t.Error(err)
			}
		}
	}
}
