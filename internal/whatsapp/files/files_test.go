package files

import (
	"testing"

	"go.mau.fi/whatsmeow/types/events"
)

// The phone answers once, however many ask it for the same file.
func TestAnswerIsForAllWhoWait(t *testing.T) {
	t.Parallel()
	f := New(nil, "", 0)
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
