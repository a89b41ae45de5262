package media

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/recado-project/recado/internal/gateway"
)

func openBlobs(t *testing.T) (blobs *Blobs, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "media")
	blobs, err := OpenBlobs(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	return blobs, folder
}

func put(t *testing.T, blobs *Blobs, key, content string, meta BlobMeta) {
	t.Helper()
	meta.Size = int64(len(content))
	if err := blobs.Put(t.Context(), key, strings.NewReader(content), meta); err != nil {
		t.Fatal(err)
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	blobs, folder := openBlobs(t)
	meta := BlobMeta{MimeType: "image/jpeg", FileName: "praça \"central\".jpg"}
	put(t, blobs, "0199/photo", "content", meta)
	put(t, blobs, "0199/photo", "another", BlobMeta{})

	found, err := blobs.Stat(t.Context(), "0199/photo")
	if err != nil {
		t.Fatal(err)
	}
	if found.MimeType != meta.MimeType || found.FileName != meta.FileName || found.Size != 7 || found.Created.IsZero() {
		t.Errorf("kept was %+v", found)
	}
	file, err := blobs.Get(t.Context(), "0199/photo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := file.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(file); err != nil || string(rest) != "tent" {
		t.Errorf("the end is %q, %v: a key that is taken keeps its content", rest, err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v; want it for this user alone", info.Mode(), err)
	}
}

// A file that did not arrive whole does not exist.
func TestBlobIsWholeOrAbsent(t *testing.T) {
	t.Parallel()
	blobs, folder := openBlobs(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, write := range map[string]func() error{
		"a reader that fails": func() error {
			broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("broken")))
			return blobs.Put(t.Context(), "key", broken, BlobMeta{Size: -1})
		},
		"another size": func() error {
			return blobs.Put(t.Context(), "key", strings.NewReader("half"), BlobMeta{Size: 8})
		},
		"a caller that goes": func() error {
			return blobs.Put(gone, "key", strings.NewReader("half"), BlobMeta{Size: -1})
		},
	} {
		if err := write(); err == nil {
			t.Errorf("%s: it was stored", name)
		}
	}
	_, err := blobs.Stat(t.Context(), "key")
	wantCode(t, err, gateway.NotFound, gateway.CodeNotFound)
	wantEmpty(t, folder)
}

func TestBlobKeys(t *testing.T) {
	t.Parallel()
	blobs, _ := openBlobs(t)
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".hidden", "a b", "ç", "a?b", "a%2Fb", "a.attrs", strings.Repeat("a", 256)} {
		if err := blobs.Put(t.Context(), key, strings.NewReader("x"), BlobMeta{Size: 1}); !errors.Is(err, errBadKey) {
			t.Errorf("%q was taken as a key: %v", key, err)
		}
		_, err := blobs.Get(t.Context(), key)
		wantCode(t, err, gateway.NotFound, gateway.CodeNotFound)
	}
}
