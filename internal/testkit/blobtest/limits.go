// What a store of files promises about its limits.

package blobtest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func hasLimits(t *testing.T, h Harness) {
	t.Helper()
	for name, config := range cases.Sorted(map[string]media.BlobsConfig{
		"of a file": {MaxFile: 10}, "of a folder": {MaxFile: 100, PerFolder: 10}, "of all": {Total: 10, PerFolder: 50},
	}) {
		blobs := h.open(t, config)
		endless := &counted{reader: strings.NewReader(strings.Repeat("x", 1<<20))}
		err := blobs.Put(t.Context(), "one/photo", endless, media.BlobMeta{Size: -1})
		if gateway.KindOf(err) != gateway.TooLarge {
			t.Errorf("%s: too much ends with %v", name, err)
		}
		if endless.read > 64<<10 {
			t.Errorf("%s: %d bytes were read", name, endless.read)
		}
		gone(t, blobs, "one/photo")
		put(t, blobs, "one/photo", "ten bytes!", media.BlobMeta{})
	}
}

type counted struct {
	reader io.Reader
	read   int
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.read += n
	return n, err
}

func makesRoom(t *testing.T, h Harness) {
	t.Helper()
	if !h.Clock {
		keepsToQuota(t, h)
		return
	}
	now := time.Unix(1_800_000_000, 0)
	config := media.BlobsConfig{PerFolder: 300, Total: 500, Now: func() time.Time { return now }}
	blobs := h.open(t, config)
	store := func(key string) {
		now = now.Add(time.Minute)
		put(t, blobs, key, strings.Repeat("x", 100), media.BlobMeta{})
	}
	for _, key := range []string{"b/1", "a/1", "a/2", "a/3"} {
		store(key)
	}
	have := func(want ...string) {
		t.Helper()
		for _, key := range want {
			if _, err := blobs.Stat(t.Context(), key); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		if used, _ := blobs.Used(); used != int64(len(want)*100) {
			t.Errorf("%d bytes are used, want those of %q", used, want)
		}
	}
	have("a/1", "a/2", "a/3", "b/1")
	store("a/4") // its own folder makes room, a tenth more than is needed
	have("a/3", "a/4", "b/1")
	store("c/1")
	store("c/2")
	store("d/1") // the oldest of all
	have("a/4", "c/1", "c/2", "d/1")
	// What is deleted makes room too.
	if err := errors.Join(blobs.DeleteFolder(t.Context(), "c"), blobs.Delete(t.Context(), "a/4")); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"e/1", "e/2", "f/1"} {
		store(key)
	}
	have("d/1", "e/1", "e/2", "f/1")
}

// keepsToQuota tries the quotas where files of the same second have no order.
func keepsToQuota(t *testing.T, h Harness) {
	t.Helper()
	blobs := h.open(t, media.BlobsConfig{PerFolder: 300, Total: 500})
	for _, key := range []string{"a/1", "a/2", "a/3", "a/4", "b/1", "b/2", "b/3"} {
		put(t, blobs, key, strings.Repeat("x", 100), media.BlobMeta{})
		if _, err := blobs.Stat(t.Context(), key); err != nil {
			t.Errorf("%s was stored and is gone: %v", key, err)
		}
		if used, _ := blobs.Used(); used > 500 {
			t.Errorf("%d bytes are used", used)
		}
	}
}
