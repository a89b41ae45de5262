package media

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// limited opens a store on a folder with limits and a clock that a test sets.
func limited(t *testing.T, folder string, config BlobsConfig) *Blobs {
	t.Helper()
	config.Folder = folder
	blobs, err := OpenBlobs(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	return blobs
}

func keys(t *testing.T, blobs *Blobs) []string {
	t.Helper()
	files, err := blobs.list("")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		found = append(found, file.key)
	}
	slices.Sort(found)
	return found
}

func TestBlobHasALimit(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]BlobsConfig{
		"of a file": {MaxFile: 10}, "of a folder": {MaxFile: 100, PerFolder: 10}, "of all": {Total: 10, PerFolder: 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			blobs := limited(t, folder, config)
			endless := &counted{reader: io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)))}
			err := blobs.Put(t.Context(), "one/photo", endless, BlobMeta{Size: -1})
			wantCode(t, err, gateway.TooLarge, gateway.CodePayloadTooLarge)
			if endless.read > 64<<10 {
				t.Errorf("%d bytes were read", endless.read)
			}
			wantEmpty(t, filepath.Join(folder, incoming))
			put(t, blobs, "one/photo", "ten bytes!", BlobMeta{})
		})
	}
}

type counted struct {
	reader io.Reader
	read   int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.read += n
	return n, err
}

func TestOldestBlobsMakeRoom(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	now := time.Unix(1_800_000_000, 0)
	config := BlobsConfig{PerFolder: 300, Total: 500, Now: func() time.Time { return now }}
	blobs := limited(t, folder, config)
	store := func(key string) {
		now = now.Add(time.Minute)
		put(t, blobs, key, strings.Repeat("x", 100), BlobMeta{})
	}
	for _, key := range []string{"b/1", "a/1", "a/2", "a/3"} {
		store(key)
	}
	if want := []string{"a/1", "a/2", "a/3", "b/1"}; !slices.Equal(keys(t, blobs), want) {
		t.Fatalf("there are %q, want %q", keys(t, blobs), want)
	}
	store("a/4") // its own folder makes room, a tenth more than is needed
	if want := []string{"a/3", "a/4", "b/1"}; !slices.Equal(keys(t, blobs), want) {
		t.Fatalf("there are %q, want %q", keys(t, blobs), want)
	}
	// What was there before a start counts.
	_ = blobs.Close()
	blobs = limited(t, folder, config)
	store("c/1")
	store("c/2")
	store("d/1") // the oldest of all
	if want := []string{"a/4", "c/1", "c/2", "d/1"}; !slices.Equal(keys(t, blobs), want) {
		t.Errorf("there are %q, want %q", keys(t, blobs), want)
	}
	// What is deleted makes room too.
	if err := errors.Join(blobs.DeleteFolder("c"), blobs.Delete(t.Context(), "a/4")); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"e/1", "e/2", "f/1"} {
		store(key)
	}
	if want := []string{"d/1", "e/1", "e/2", "f/1"}; !slices.Equal(keys(t, blobs), want) {
		t.Errorf("there are %q, want %q", keys(t, blobs), want)
	}
}

//nolint:paralleltest // a bubble of time
func TestOldBlobsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs := limited(t, t.TempDir(), BlobsConfig{Keep: 30 * 24 * time.Hour})
		put(t, blobs, "one/old", "content", BlobMeta{})
		time.Sleep(20 * 24 * time.Hour)
		put(t, blobs, "one/new", "content", BlobMeta{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- blobs.Run(ctx) }()
		time.Sleep(10*24*time.Hour - time.Minute)
		synctest.Wait()
		if want := []string{"one/new", "one/old"}; !slices.Equal(keys(t, blobs), want) {
			t.Errorf("after 30 days less a minute there are %q, want %q", keys(t, blobs), want)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if want := []string{"one/new"}; !slices.Equal(keys(t, blobs), want) {
			t.Errorf("after 30 days there are %q, want %q", keys(t, blobs), want)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestBlobsAreKeptForEver(t *testing.T) {
	t.Parallel()
	blobs := limited(t, t.TempDir(), BlobsConfig{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := blobs.Run(ctx); err != nil {
		t.Error(err)
	}
}
