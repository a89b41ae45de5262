package files

import (
	"io"
	"os"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/types/events"
)

// The phone answers once, however many ask it for the same file.
func TestAnswerIsForAllWhoWait(t *testing.T) {
	t.Parallel()
	f := New(nil, NewPlaces(), "", 0)
	one, doneOne := f.expect("A")
	two, doneTwo := f.expect("A")
	gone, doneGone := f.expect("A")
	other, doneOther := f.expect("B")
	doneGone()
	f.Answered(&events.MediaRetry{MessageID: "A"})
	f.Answered(&events.MediaRetry{MessageID: "A"}) // more than anybody asked for
	if len(one) != 1 || len(two) != 1 || len(gone) != 0 || len(other) != 0 {
		t.Errorf("answered are %d, %d, %d and %d", len(one), len(two), len(gone), len(other))
	}
	doneOne()
	doneTwo()
	doneOther()
	if len(f.waiting) != 0 {
		t.Errorf("still waiting: %v", f.waiting)
	}
}

// Usual files are encrypted in memory, so many at a time, and others on the disk, from which they are removed.
func TestUsualFilesAreEncryptedInMemory(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	f := New(nil, NewPlaces(), folder, 0)
	onDisk := func(size int64) (is bool, done func()) {
		t.Helper()
		room, done, err := f.makeRoom(size)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(room, strings.Repeat("x", 100)); err != nil {
			t.Fatal(err)
		}
		if _, err := room.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if written, err := io.ReadAll(room); err != nil || len(written) != 100 {
			t.Errorf("%d bytes are read (%v)", len(written), err)
		}
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		return len(files) > 0, done
	}
	is, done := onDisk(mostInMemory + 1)
	done()
	if !is {
		t.Error("a large file is in memory")
	}
	var all []func()
	for n := range placesAtOnce {
		is, done := onDisk(mostInMemory)
		if all = append(all, done); is {
			t.Fatalf("file %d is on the disk", n)
		}
	}
	is, done = onDisk(1)
	done()
	if !is {
		t.Error("there are more in memory than places")
	}
	for _, done := range all {
		done()
	}
	is, done = onDisk(1)
	done()
	if is {
		t.Error("no place was given back")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Errorf("%d files are left (%v)", len(files), err)
	}
}
