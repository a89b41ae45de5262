package filestore_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// Files go from the data folder to a bucket, from there to another and to a shared folder, with
// their names and types; what is there already is not written again.
func TestCopy(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	open := func(address string) filestore.Stores {
		t.Helper()
		stores, err := parse(t, address).Open(t.Context(), filestore.Config{DataDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(stores.Fetched.Close(), stores.Queued.Close()); err != nil {
				t.Error(err)
			}
		})
		return stores
	}
	from := open("")
	for key, store := range cases.Sorted(map[string]media.Store{"shop/one": from.Fetched, "shop/two": from.Queued}) {
		if _, err := store.Write(t.Context(), key, media.BlobMeta{MimeType: "image/png", FileName: "céu.png"}, func(file *os.File) error {
			_, err := file.WriteString("content of " + key)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{server.URL("a"), server.URL("b"), "file://" + t.TempDir()} {
		to := open(address)
		for range 2 {
			if files, err := filestore.Copy(t.Context(), from, to); err != nil || files != 2 {
				t.Fatalf("%s: copied %d, %v", address, files, err)
			}
		}
		for key, store := range cases.Sorted(map[string]media.Store{"shop/one": to.Fetched, "shop/two": to.Queued}) {
			blob, err := store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(blob)
			if err := errors.Join(err, blob.Close()); err != nil || string(content) != "content of "+key || blob.FileName != "céu.png" || blob.MimeType != "image/png" {
				t.Errorf("%s: %s is %q, %+v, %v", address, key, content, blob.BlobMeta, err)
			}
		}
		from = to
	}
}
