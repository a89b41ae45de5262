// Package blobtest says what a store of files promises, once for all of them. Only tests
// import it.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Harness is one kind of store.
type Harness struct {
	// Open opens an empty place, as the test's own. A second opener of the same place is
	// another process, as far as a test can be one; it is nil if there may be none. Both
	// use the clock, or the wall clock if it is nil.
	Open func(t *testing.T, now func() time.Time) (store, second media.Store)
	// Clock says that the clock tells how old files are, and not one of the place's own.
	Clock bool
}

// Run checks all promises.
func Run(t *testing.T, harness Harness) {
	t.Helper()
	for name, test := range cases.Sorted(map[string]func(t *testing.T, harness Harness){
		"keeps a file":                          keepsFile,
		"has a file whole or not at all":        wholeOrAbsent,
		"spells types as a header has them":     canonicalTypes,
		"fetches a file once":                   fetchedOnce,
		"deletes a file":                        deletesFile,
		"deletes a folder":                      deletesFolder,
		"takes no malformed key":                refusesKeys,
		"refuses a file beyond a limit":         hasLimits,
		"makes room by deleting the oldest":     makesRoom,
		"lists what there is":                   lists,
		"serves large files in parts":           largeFiles,
		"shows one process what another stored": twoProcesses,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, harness)
		})
	}
}

// open opens the place as one process alone has it.
func (h Harness) open(t *testing.T, config media.BlobsConfig) *media.Blobs {
	t.Helper()
	var second media.Store
	if config.Store, second = h.Open(t, config.Now); second != nil {
		t.Cleanup(func() { _ = second.Close() })
	}
	return openBlobs(t, config)
}

func openBlobs(t *testing.T, config media.BlobsConfig) *media.Blobs {
	t.Helper()
	blobs, err := media.OpenBlobs(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := blobs.Close(); err != nil {
			t.Error(err)
		}
	})
	return blobs
}

func put(t *testing.T, blobs *media.Blobs, key, content string, meta media.BlobMeta) {
	t.Helper()
	meta.Size = int64(len(content))
	if err := blobs.Put(t.Context(), key, strings.NewReader(content), meta); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, blobs *media.Blobs, key string) *media.Blob {
	t.Helper()
	file, err := blobs.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return file
}

// gone fails the test unless there is certainly no file.
func gone(t *testing.T, blobs *media.Blobs, key string) {
	t.Helper()
	_, err := blobs.Stat(t.Context(), key)
	_, getErr := blobs.Get(t.Context(), key)
	for _, err := range []error{err, getErr} {
		if failure, ok := gateway.AsError(err); !ok || failure.Kind != gateway.NotFound || failure.Code != gateway.CodeMediaNotFound {
			t.Fatalf("%s: the error is %v, want that it is not found", key, err)
		}
	}
}

func keepsFile(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	meta := media.BlobMeta{MimeType: "image/jpeg", FileName: "praça \"central\" – 50%.jpg"}
	put(t, blobs, "0199/photo", "content", meta)
	put(t, blobs, "0199/photo", "another", media.BlobMeta{})

	found, err := blobs.Stat(t.Context(), "0199/photo")
	if err != nil {
		t.Fatal(err)
	}
	if found.MimeType != meta.MimeType || found.FileName != meta.FileName || found.Size != 7 || time.Since(found.Created) > time.Hour {
		t.Errorf("kept was %+v", found)
	}
	file := get(t, blobs, "0199/photo")
	if file.FileName != meta.FileName || file.MimeType != meta.MimeType || file.Size != 7 {
		t.Errorf("the open file is %+v", file.BlobMeta)
	}
	if _, err := file.Seek(3, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(file); err != nil || string(rest) != "tent" {
		t.Errorf("the end is %q, %v: a key that is taken keeps its content", rest, err)
	}
	if size, err := file.Seek(-2, io.SeekEnd); err != nil || size != 5 {
		t.Errorf("two before the end is at %d, %v", size, err)
	}
	if rest, err := io.ReadAll(file); err != nil || string(rest) != "nt" {
		t.Errorf("the end is %q, %v", rest, err)
	}
	put(t, blobs, "0199/empty", "", media.BlobMeta{})
	if content, err := io.ReadAll(get(t, blobs, "0199/empty")); err != nil || len(content) != 0 {
		t.Errorf("an empty file is %q, %v", content, err)
	}
}

// A file that did not arrive whole does not exist.
func wholeOrAbsent(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	left, cancel := context.WithCancel(t.Context())
	cancel()
	for name, write := range cases.Sorted(map[string]func() error{
		"a reader that fails": func() error {
			broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("broken")))
			return blobs.Put(t.Context(), "one/key", broken, media.BlobMeta{Size: -1})
		},
		"another size": func() error {
			return blobs.Put(t.Context(), "one/key", strings.NewReader("half"), media.BlobMeta{Size: 8})
		},
		"a caller that goes": func() error {
			return blobs.Put(left, "one/key", strings.NewReader("half"), media.BlobMeta{Size: -1})
		},
	}) {
		if err := write(); err == nil {
			t.Errorf("%s: it was stored", name)
		}
	}
	gone(t, blobs, "one/key")
	put(t, blobs, "one/key", "whole", media.BlobMeta{})
}

// The type of a file is what its sender says it is.
func canonicalTypes(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	for declared, want := range cases.Sorted(map[string]string{
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
	}) {
		put(t, blobs, "one/photo", "content", media.BlobMeta{MimeType: declared})
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
func fetchedOnce(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
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
	receive := func() { ended <- blobs.Receive(t.Context(), "one/photo", media.BlobMeta{Size: -1}, fetch) }
	go receive()
	<-begun
	for range 3 {
		go receive()
	}
	impatient, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := blobs.Receive(impatient, "one/photo", media.BlobMeta{Size: -1}, fetch); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller that does not wait gets %v", err)
	}
	put(t, blobs, "one/other", "content", media.BlobMeta{}) // another file is not held up
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

func deletesFile(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	put(t, blobs, "one/photo", "content", media.BlobMeta{})
	put(t, blobs, "one/other", "content", media.BlobMeta{})
	for range 2 { // the second time there is nothing left to do
		if err := blobs.Delete(t.Context(), "one/photo"); err != nil {
			t.Fatal(err)
		}
	}
	gone(t, blobs, "one/photo")
	if _, err := blobs.Stat(t.Context(), "one/other"); err != nil {
		t.Errorf("its neighbour: %v", err)
	}
	if used, _ := blobs.Used(); used != 7 {
		t.Errorf("%d bytes are said to be used", used)
	}
}

func deletesFolder(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	for _, key := range []string{"one/photo", "one/deep/photo", "one1/photo", "two/photo", "single"} {
		put(t, blobs, key, "content", media.BlobMeta{})
	}
	for range 2 { // the second time there is nothing left to do
		if err := blobs.DeleteFolder(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
	}
	found, err := blobs.Folders(t.Context())
	slices.Sort(found)
	if want := []string{"one1", "two"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("left are %q, %v; want %q", found, err, want)
	}
	gone(t, blobs, "one/photo")
	gone(t, blobs, "one/deep/photo")
	if _, err := blobs.Stat(t.Context(), "single"); err != nil {
		t.Errorf("a file in no folder: %v", err)
	}
	for _, name := range []string{"", "..", ".", "/", "two/..", "../media"} {
		if err := blobs.DeleteFolder(t.Context(), name); err == nil {
			t.Errorf("%q was taken as a folder", name)
		}
	}
}

func refusesKeys(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".hidden", "a b", "ç", "a?b", "a%2Fb", "a.attrs", strings.Repeat("a", 256)} {
		if err := blobs.Put(t.Context(), key, strings.NewReader("x"), media.BlobMeta{Size: 1}); err == nil {
			t.Errorf("%q was taken as a key", key)
		}
		if err := blobs.Delete(t.Context(), key); err == nil {
			t.Errorf("%q was removed as a key", key)
		}
		gone(t, blobs, key)
	}
}

func lists(t *testing.T, h Harness) {
	t.Helper()
	store, second := h.Open(t, nil)
	if second != nil {
		t.Cleanup(func() { _ = second.Close() })
	}
	blobs := openBlobs(t, media.BlobsConfig{Store: store})
	for _, key := range []string{"one/photo", "one/deep/photo", "one1/photo", "single"} {
		put(t, blobs, key, "content", media.BlobMeta{MimeType: "image/png"})
	}
	for folder, want := range cases.Sorted(map[string][]string{
		"": {"one/deep/photo", "one/photo", "one1/photo", "single"}, "one": {"one/deep/photo", "one/photo"}, "none": nil,
	}) {
		var found []string
		for file, err := range store.List(t.Context(), folder) {
			if err != nil {
				t.Fatal(err)
			}
			if file.Size != 7 || time.Since(file.Created) > time.Hour {
				t.Errorf("%s is %+v", file.Key, file)
			}
			found = append(found, file.Key)
		}
		slices.Sort(found)
		if !slices.Equal(found, want) {
			t.Errorf("folder %q has %q, want %q", folder, found, want)
		}
	}
	for _, err := range store.List(t.Context(), "") {
		if err != nil {
			t.Error(err)
		}
		break // a reader may go
	}
}

// A file of several parts comes back as it was, from any place in it.
func largeFiles(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{})
	content := make([]byte, 20<<20)
	for i := range content {
		content[i] = byte(i % 251)
	}
	put(t, blobs, "one/video", string(content), media.BlobMeta{MimeType: "video/mp4"})
	file := get(t, blobs, "one/video")
	for _, at := range []int64{0, 17 << 20, 5<<20 + 3, int64(len(content)) - 10} {
		if _, err := file.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		part := make([]byte, min(100_000, int64(len(content))-at))
		if _, err := io.ReadFull(file, part); err != nil || !bytes.Equal(part, content[at:at+int64(len(part))]) {
			t.Errorf("at %d it is something else, %v", at, err)
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if whole, err := io.ReadAll(file); err != nil || !bytes.Equal(whole, content) {
		t.Errorf("the whole is something else: %d bytes, %v", len(whole), err)
	}
}

func twoProcesses(t *testing.T, h Harness) {
	t.Helper()
	first, second := h.Open(t, nil)
	if second == nil {
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		return // the place is one process's own
	}
	config := media.BlobsConfig{Shared: true, PerFolder: 40, Total: 1000}
	config.Store = first
	one := openBlobs(t, config)
	config.Store = second
	other := openBlobs(t, config)

	put(t, one, "a/1", "ten bytes!", media.BlobMeta{MimeType: "image/png"})
	if content, err := io.ReadAll(get(t, other, "a/1")); err != nil || string(content) != "ten bytes!" {
		t.Errorf("the other reads %q, %v", content, err)
	}
	put(t, other, "a/1", "ten others", media.BlobMeta{})
	if content, err := io.ReadAll(get(t, one, "a/1")); err != nil || string(content) != "ten bytes!" {
		t.Errorf("a key that the other has stored is %q, %v", content, err)
	}
	// What another process has just stored is not deleted to make room.
	for _, key := range []string{"a/2", "a/3"} {
		put(t, one, key, "ten bytes!", media.BlobMeta{})
	}
	for _, key := range []string{"a/4", "a/5", "a/6", "a/7", "a/8"} {
		put(t, other, key, "ten bytes!", media.BlobMeta{})
	}
	for _, key := range []string{"a/1", "a/2", "a/3", "a/8"} {
		if _, err := one.Stat(t.Context(), key); err != nil {
			t.Errorf("%s was just stored: %v", key, err)
		}
	}
	// What is half written belongs to who writes it, also when another process starts.
	goOn, begun, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- one.Receive(t.Context(), "b/1", media.BlobMeta{Size: -1}, func(file *os.File) error {
			close(begun)
			<-goOn
			_, err := file.WriteString("content")
			return err
		})
	}()
	<-begun
	gone(t, other, "b/1")
	if err := other.DeleteFolder(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if content, err := io.ReadAll(get(t, other, "b/1")); err != nil || string(content) != "content" {
		t.Errorf("the other reads %q, %v", content, err)
	}
	gone(t, one, "a/8")
}
