package archive_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/archive"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// bucketOf opens a bucket, or a shared folder, until the test ends.
func bucketOf(t *testing.T, address string) *filestore.Stores {
	t.Helper()
	at, err := filestore.Parse(address)
	check(t, err)
	stores, err := at.Open(t.Context(), filestore.Config{})
	check(t, err)
	t.Cleanup(func() { check(t, errors.Join(stores.Fetched.Close(), stores.Queued.Close())) })
	return &stores
}

func put(t *testing.T, at media.Store, key, name, content string) {
	t.Helper()
	_, err := at.Write(t.Context(), key, media.BlobMeta{MimeType: "image/png", FileName: name}, func(file *os.File) error {
		_, err := file.WriteString(content)
		return err
	})
	check(t, err)
}

// got fails unless a store has that file, with its name.
func got(t *testing.T, at media.Store, key, name, content string) {
	t.Helper()
	blob, err := at.Get(t.Context(), key)
	check(t, err)
	read, err := io.ReadAll(blob)
	check(t, errors.Join(err, blob.Close()))
	if string(read) != content || blob.FileName != name || blob.MimeType != "image/png" {
		t.Errorf("%s is %q, %+v", key, read, blob.BlobMeta)
	}
}

// Files of a bucket are in the backup, and come back wherever the restored gateway keeps its own:
// in a bucket or in a folder, and from there into a bucket.
func TestFilesOfABucket(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	d := newData(t, inFolder(t.TempDir()))
	d.config.Files, d.config.Named = bucketOf(t, server.URL("before")), true
	put(t, d.config.Files.Fetched, "shop/picture", "céu.png", "a picture")
	put(t, d.config.Files.Fetched, "shop/picture-2", "", "")
	put(t, d.config.Files.Queued, "shop/waiting", "a.png", "a file to send")

	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	report, err := archive.Write(t.Context(), d.config, path)
	check(t, err)
	if verified, err := archive.Verify(t.Context(), path); err != nil || verified != report || report.Files != 6 {
		t.Errorf("wrote %+v, and read %+v, %v", report, verified, err)
	}
	has := func(stores *filestore.Stores) {
		t.Helper()
		got(t, stores.Fetched, "shop/picture", "céu.png", "a picture")
		got(t, stores.Fetched, "shop/picture-2", "", "")
		got(t, stores.Queued, "shop/waiting", "a.png", "a file to send")
	}
	after := bucketOf(t, server.URL("after"))
	_, err = archive.Restore(t.Context(), path, inFolder(t.TempDir()), "", after, nil)
	check(t, err)
	has(after)

	folder := t.TempDir()
	_, err = archive.Restore(t.Context(), path, inFolder(t.TempDir()), folder, nil, nil)
	check(t, err)
	has(bucketOf(t, "file://"+folder))

	d.config.Files, d.config.Folder = nil, folder
	path = filepath.Join(t.TempDir(), "backup.tar.gz")
	_, err = archive.Write(t.Context(), d.config, path)
	check(t, err)
	again := bucketOf(t, server.URL("again"))
	_, err = archive.Restore(t.Context(), path, inFolder(t.TempDir()), "", again, nil)
	check(t, err)
	has(again)
}

// Files that are left out are named in the backup, and missed at the restore.
func TestFilesLeftOut(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	d := newData(t, inFolder(t.TempDir()))
	d.config.Files, d.config.Named, d.config.WithoutFiles = bucketOf(t, server.URL("x")), true, true
	put(t, d.config.Files.Fetched, "shop/picture", "", "a picture")
	put(t, d.config.Files.Queued, "shop/waiting", "", "a file to send")
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	report, err := archive.Write(t.Context(), d.config, path)
	check(t, err)
	if verified, err := archive.Verify(t.Context(), path); err != nil || verified != report || report.Files != 0 || report.Absent != 2 {
		t.Errorf("wrote %+v, and read %+v, %v", report, verified, err)
	}
	missing := func(want int) {
		t.Helper()
		report, err := archive.Restore(t.Context(), path, inFolder(t.TempDir()), "", d.config.Files, nil)
		if err != nil || report.Absent != 2 || report.Missing != want {
			t.Errorf("restored %+v, %v, want %d missing", report, err, want)
		}
	}
	missing(0)
	_, err = d.config.Files.Fetched.Delete(t.Context(), "shop/picture")
	check(t, err)
	missing(1)
	if report, err := archive.Restore(t.Context(), path, inFolder(t.TempDir()), t.TempDir(), nil, nil); err != nil || report.Missing != 2 {
		t.Errorf("restored into a folder: %+v, %v", report, err)
	}
}

// A gateway whose files are at a place of their own is not backed up without them by mistake,
// and what signs its links is in the backup.
func TestFilesThatNobodyNamed(t *testing.T) {
	t.Parallel()
	d := newData(t, inFolder(t.TempDir()))
	secrets := map[string][]byte{}
	for _, name := range []string{"files", "links"} {
		secret, err := d.Secret(t.Context(), name, 32)
		check(t, err)
		secrets[name] = secret
	}
	path := filepath.Join(t.TempDir(), "backup.tar.gz")
	for _, without := range []bool{false, true} { // whose names would be missing too
		d.config.WithoutFiles = without
		if _, err := archive.Write(t.Context(), d.config, path); !errors.Is(err, archive.ErrFilesElsewhere) {
			t.Errorf("without files %t: it ends with %v", without, err)
		}
	}
	d.config.Named, d.config.WithoutFiles = true, false
	_, err := archive.Write(t.Context(), d.config, path)
	check(t, err)
	target := inFolder(t.TempDir())
	_, err = archive.Restore(t.Context(), path, target, t.TempDir(), nil, nil)
	check(t, err)
	restored, err := store.Open(t.Context(), target)
	check(t, err)
	defer func() { check(t, restored.Close()) }()
	for name, want := range cases.Sorted(secrets) {
		if secret, err := restored.Secret(t.Context(), name, 32); err != nil || !bytes.Equal(secret, want) {
			t.Errorf("the secret %s is another one (%v)", name, err)
		}
	}
}
