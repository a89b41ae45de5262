package media

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

func openBlobs(t *testing.T) (blobs *Blobs, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "media")
	blobs, err := OpenBlobs(BlobsConfig{Folder: folder})
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
	wantCode(t, err, gateway.NotFound, gateway.CodeMediaNotFound)
	wantEmpty(t, filepath.Join(folder, incoming))
	if err := os.Remove(filepath.Join(folder, incoming)); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, folder)
}

// The type of a file is what its sender says it is.
func TestMalformedTypeIsBytes(t *testing.T) {
	t.Parallel()
	blobs, _ := openBlobs(t)
	for declared, want := range map[string]string{
		"":                                  "application/octet-stream",
		"image/png":                         "image/png",
		"Audio/OGG; codecs=opus":            "audio/ogg; codecs=opus",
		"nonsense":                          "application/octet-stream",
		"image/":                            "application/octet-stream",
		"a\x00b/c":                          "application/octet-stream",
		"text/html\r\nX-Evil: yes":          "application/octet-stream",
		"text/plain; a=\"\x00\"":            "application/octet-stream",
		"\xff\xfe/x":                        "application/octet-stream",
		"image/" + strings.Repeat("x", 300): "application/octet-stream",
	} {
		put(t, blobs, "one/photo", "content", BlobMeta{MimeType: declared})
		found, err := blobs.Stat(t.Context(), "one/photo")
		if err != nil || found.MimeType != want {
			t.Errorf("%q is %q, %v; want %q", declared, found.MimeType, err, want)
		}
		if err := blobs.Delete(t.Context(), "one/photo"); err != nil {
			t.Fatal(err)
		}
	}
}

// Who asks for a file at the same time as others waits for theirs.
func TestBlobIsFetchedOnce(t *testing.T) {
	t.Parallel()
	blobs, _ := openBlobs(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	var fetches atomic.Int32
	fetch := func(file *os.File) error {
		if fetches.Add(1) > 1 {
			return errors.New("fetched once more")
		}
		close(begun)
		<-goOn
		_, err := file.WriteString("content")
		return err
	}
	ended := make(chan error)
	receive := func() { ended <- blobs.Receive(t.Context(), "one/photo", BlobMeta{Size: -1}, fetch) }
	go receive()
	<-begun
	for range 3 {
		go receive()
	}
	gone, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := blobs.Receive(gone, "one/photo", BlobMeta{Size: -1}, fetch); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller that does not wait gets %v", err)
	}
	put(t, blobs, "one/other", "content", BlobMeta{}) // another file is not held up
	close(goOn)
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if fetches.Load() != 1 {
		t.Errorf("it was fetched %d times", fetches.Load())
	}
}

// What a power cut has left of a file is not served, and makes room for the file
// itself.
func TestBrokenBlobIsReplaced(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(path string) error{
		"empty":                 func(path string) error { return os.Truncate(path, 0) },
		"cut short":             func(path string) error { return os.Truncate(path, 3) },
		"without a description": func(path string) error { return os.Remove(path + attributes) },
		"half a description":    func(path string) error { return os.Truncate(path+attributes, 5) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobs, folder := openBlobs(t)
			put(t, blobs, "one/photo", "content", BlobMeta{})
			if err := breakIt(filepath.Join(folder, "one", "photo")); err != nil {
				t.Fatal(err)
			}
			_, err := blobs.Stat(t.Context(), "one/photo")
			wantCode(t, err, gateway.NotFound, gateway.CodeMediaNotFound)
			_, err = blobs.Get(t.Context(), "one/photo")
			wantCode(t, err, gateway.NotFound, gateway.CodeMediaNotFound)
			put(t, blobs, "one/photo", "content", BlobMeta{})
			if found, err := blobs.Stat(t.Context(), "one/photo"); err != nil || found.Size != 7 {
				t.Errorf("it is %+v, %v", found, err)
			}
		})
	}
}

// A name stands for what is on the disk: file and description are brought there
// before they are named, and then the names.
func TestBlobIsOnDiskBeforeItIsNamed(t *testing.T) {
	t.Parallel()
	blobs, folder := openBlobs(t)
	named := func() bool {
		_, err := os.Stat(filepath.Join(folder, "one", "photo"))
		return err == nil
	}
	var order []string
	blobs.sync = func(file *os.File) error {
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
	put(t, blobs, "one/photo", "content", BlobMeta{})
	if want := []string{"file", "file", "folder", "folder"}; !slices.Equal(order, want) {
		t.Errorf("synced were %q, want %q", order, want)
	}
	blobs.sync = func(*os.File) error { return errors.New("the disk is full") }
	if err := blobs.Put(t.Context(), "one/other", strings.NewReader("x"), BlobMeta{Size: 1}); err == nil {
		t.Error("what is not on disk is stored")
	}
	if _, err := blobs.Stat(t.Context(), "one/other"); err == nil {
		t.Error("what is not on disk is there")
	}
	wantEmpty(t, filepath.Join(folder, incoming))
}

func TestHalfWrittenBlobsAreRemovedAtTheStart(t *testing.T) {
	t.Parallel()
	blobs, folder := openBlobs(t)
	put(t, blobs, "one/photo", "content", BlobMeta{})
	if err := os.WriteFile(filepath.Join(folder, incoming, "left"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := OpenBlobs(BlobsConfig{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	wantEmpty(t, filepath.Join(folder, incoming))
	if _, err := again.Stat(t.Context(), "one/photo"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"photo", "photo" + attributes} {
		if about, err := os.Stat(filepath.Join(folder, "one", name)); err != nil || about.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", name, about.Mode(), err)
		}
	}
}

func TestBlobIsDeleted(t *testing.T) {
	t.Parallel()
	blobs, folder := openBlobs(t)
	put(t, blobs, "one/photo", "content", BlobMeta{})
	put(t, blobs, "one/other", "content", BlobMeta{})
	open, err := blobs.Get(t.Context(), "one/photo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the second time there is nothing left to do
		if err := blobs.Delete(t.Context(), "one/photo"); err != nil {
			t.Fatal(err)
		}
	}
	_, err = blobs.Stat(t.Context(), "one/photo")
	wantCode(t, err, gateway.NotFound, gateway.CodeMediaNotFound)
	if left, err := filepath.Glob(filepath.Join(folder, "one", "photo*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
	if rest, err := io.ReadAll(open); err != nil || string(rest) != "content" {
		t.Errorf("who had it open reads %q, %v", rest, err)
	}
	if _, err := blobs.Stat(t.Context(), "one/other"); err != nil {
		t.Errorf("its neighbour: %v", err)
	}
}

func TestBlobFolderIsDeleted(t *testing.T) {
	t.Parallel()
	blobs, folder := openBlobs(t)
	for _, key := range []string{"one/photo", "one/deep/photo", "one1/photo", "two/photo", "single"} {
		put(t, blobs, key, "content", BlobMeta{})
	}
	// What a process that was killed had half written.
	if err := os.WriteFile(filepath.Join(folder, "one", "half.part"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing left to do
		if err := blobs.DeleteFolder("one"); err != nil {
			t.Fatal(err)
		}
	}
	found, err := blobs.Folders()
	if want := []string{"one1", "two"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("left are %q, %v; want %q", found, err, want)
	}
	if err := blobs.Delete(t.Context(), "two/photo"); err != nil {
		t.Fatal(err)
	}
	if found, err := blobs.Folders(); err != nil || !slices.Contains(found, "two") {
		t.Errorf("an empty folder is not listed: %q, %v", found, err)
	}
	if _, err := blobs.Stat(t.Context(), "single"); err != nil {
		t.Errorf("a file in no folder: %v", err)
	}
	for _, name := range []string{"", "..", ".", "/", "two/..", "../media"} {
		if err := blobs.DeleteFolder(name); !errors.Is(err, errBadKey) {
			t.Errorf("%q was taken as a folder: %v", name, err)
		}
	}
}

func TestBlobKeys(t *testing.T) {
	t.Parallel()
	blobs, _ := openBlobs(t)
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".hidden", "a b", "ç", "a?b", "a%2Fb", "a.attrs", strings.Repeat("a", 256)} {
		if err := blobs.Put(t.Context(), key, strings.NewReader("x"), BlobMeta{Size: 1}); !errors.Is(err, errBadKey) {
			t.Errorf("%q was taken as a key: %v", key, err)
		}
		if err := blobs.Delete(t.Context(), key); !errors.Is(err, errBadKey) {
			t.Errorf("%q was removed as a key: %v", key, err)
		}
		_, err := blobs.Get(t.Context(), key)
		wantCode(t, err, gateway.NotFound, gateway.CodeMediaNotFound)
	}
}
