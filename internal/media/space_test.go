package media_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/folder"
)

// openBlobs opens files in a folder.
func openBlobs(t *testing.T, path string, config media.BlobsConfig) *media.Blobs {
	t.Helper()
	store, err := folder.Open(folder.Config{Path: path, Shared: config.Shared, Now: config.Now})
	if err != nil {
		t.Fatal(err)
	}
	config.Store = store
	blobs, err := media.OpenBlobs(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	return blobs
}

func put(t *testing.T, blobs *media.Blobs, key, content string, meta media.BlobMeta) {
	t.Helper()
	meta.Size = int64(len(content))
	if err := blobs.Put(t.Context(), key, strings.NewReader(content), meta); err != nil {
		t.Fatal(err)
	}
}

// keys returns which of the keys have a file.
func keys(t *testing.T, blobs *media.Blobs, of ...string) []string {
	t.Helper()
	return slices.DeleteFunc(of, func(key string) bool {
		_, err := blobs.Stat(t.Context(), key)
		return err != nil
	})
}

// run runs the blobs' own work until the function that it returns is called.
func run(t *testing.T, blobs *media.Blobs) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- blobs.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

//nolint:paralleltest // a bubble of time
func TestOldBlobsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blobs := openBlobs(t, t.TempDir(), media.BlobsConfig{Keep: 30 * 24 * time.Hour})
		put(t, blobs, "one/old", "content", media.BlobMeta{})
		time.Sleep(20 * 24 * time.Hour)
		put(t, blobs, "one/new", "content", media.BlobMeta{})
		stop := run(t, blobs)
		time.Sleep(10*24*time.Hour - time.Minute)
		synctest.Wait()
		if got := keys(t, blobs, "one/new", "one/old"); len(got) != 2 {
			t.Errorf("after 30 days less a minute there are %q", got)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if got := keys(t, blobs, "one/new", "one/old"); !slices.Equal(got, []string{"one/new"}) {
			t.Errorf("after 30 days there are %q", got)
		}
		if used, _ := blobs.Used(); used != 7 {
			t.Errorf("%d bytes are used", used)
		}
		stop()
	})
}

// Several processes keep to a quota together: what the others have stored counts as soon as
// it is measured. What was just stored stays, though it is too much.
//
//nolint:paralleltest // a bubble of time
func TestProcessesShareAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		place := t.TempDir()
		config := media.BlobsConfig{Shared: true, PerFolder: 1000, Total: 250}
		one, other := openBlobs(t, place, config), openBlobs(t, place, config)
		stop, stopOther := run(t, one), run(t, other)
		content := strings.Repeat("x", 100)
		put(t, one, "a/1", content, media.BlobMeta{})
		time.Sleep(time.Minute)
		put(t, one, "b/2", content, media.BlobMeta{})
		time.Sleep(time.Minute)
		put(t, other, "a/3", content, media.BlobMeta{})
		put(t, other, "a/4", content, media.BlobMeta{})
		all := []string{"a/1", "b/2", "a/3", "a/4"}
		if got := keys(t, one, slices.Clone(all)...); len(got) != 4 {
			t.Errorf("of what was just stored there are %q", got)
		}
		if used, _ := one.Used(); used != 200 {
			t.Errorf("one knows of %d bytes before it has measured", used)
		}
		time.Sleep(16 * time.Minute)
		synctest.Wait()
		if got, want := keys(t, one, slices.Clone(all)...), []string{"a/3", "a/4"}; !slices.Equal(got, want) {
			t.Errorf("there are %q, want %q", got, want)
		}
		stop()
		stopOther()
	})
}

func TestBlobsAreKeptForEver(t *testing.T) {
	t.Parallel()
	blobs := openBlobs(t, t.TempDir(), media.BlobsConfig{})
	run(t, blobs)()
}

func TestBlobsNeedAStore(t *testing.T) {
	t.Parallel()
	if _, err := media.OpenBlobs(t.Context(), media.BlobsConfig{}); err == nil {
		t.Error("files are kept nowhere")
	}
}
