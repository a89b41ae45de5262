package server_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/testkit"
)

// queuedAt makes the folder of a file that waits with a message of a time: half of the file,
// as it is for a moment while it gets its name.
func queuedAt(t *testing.T, place string, at time.Time) (folder string) {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(at.UnixMilli()))
	copy(id[:6], stamp[2:])
	folder = filepath.Join(place, "queue", id.String())
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "file.attrs"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Files whose message was never accepted are removed at a start, but not what another
// gateway at the same place is writing.
func TestStartLeavesTheQueueOfOthers(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	lost := queuedAt(t, place, time.Now().Add(-2*time.Hour))
	underway := queuedAt(t, place, time.Now())
	g := testkit.Start(t, testkit.Options{MediaURL: "file://" + place})
	testkit.Await(t, "the lost file to be removed", func() bool { return !exists(t, lost) })
	g.Stop()
	if !exists(t, underway) {
		t.Error("what another gateway writes was removed")
	}
}
