package backlog

import (
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Status says whether an endpoint gets events.
type Status string

// The states of a delivery.
const (
	StatusOK        Status = "ok"
	StatusBackoff   Status = "backoff"   // it failed and is tried again later
	StatusSuspended Status = "suspended" // it gets nothing until its webhook is saved or resumed
)

// Why a webhook was suspended.
const (
	ReasonGone        = "gone"        // it answered 410
	ReasonUnreachable = "unreachable" // nothing succeeded for Schedule.SuspendAfter
)

// State is how far the delivery of a webhook has come.
type State struct {
	Status Status
	Reason string // of the suspension
	// Cursor is a sequence number. Every event up to it was delivered, is a dead
	// letter, or belongs to a blocked chat.
	Cursor int64
	// Failures counts the endpoint's failures since its last success.
	Failures     int
	FailingSince time.Time // zero while it does not fail
	NextTry      time.Time // zero while it does not fail
	Attempts     int64     // made so far; the pump counts them, not the backlog
}

// BlockedChat is a chat that waits because one of its events fails while others
// succeed.
type BlockedChat struct {
	Chat     gateway.JID
	Sequence int64 // of the first event that was not delivered
	Through  int64 // of the last event of the chat that the cursor has passed
	EventID  string
	Kind     eventlog.Kind
	Failures int // of that event
	Since    time.Time
	NextTry  time.Time
	Status   int    // of the last answer; 0 where there was none
	Error    string // why the last try failed
}

// DeadLetter is an event that is not tried any more.
type DeadLetter struct {
	Sequence int64
	EventID  string
	Kind     eventlog.Kind
	Chat     gateway.JID
	Status   int    // of the last answer; 0 where there was none
	Error    string // why the last try failed
	At       time.Time
}

// Progress is what changed in a backlog since it was last saved.
type Progress struct {
	State       State
	Blocked     []BlockedChat // new or changed
	Unblocked   []gateway.JID
	DeadLetters []DeadLetter
	// RevivedAfter, where not nil, drops the dead letters after a sequence
	// number, because their events are delivered again.
	RevivedAfter *int64
}

// Replayed is the result of a replay.
type Replayed struct {
	// FromSequence is the first event that is delivered again, or, where Events
	// is 0, the next one that is delivered anyway.
	FromSequence int64
	Events       int64 // how many are delivered again
}
