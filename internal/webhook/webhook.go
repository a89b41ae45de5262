package webhook

import (
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Webhook is the configuration of an instance's webhook.
type Webhook struct {
	ID         string // UUID v7
	InstanceID string
	URL        string // absolute, http or https
	Secret     Secret // empty where none is set
	// PreviousSecret signs too, until PreviousSecretUntil.
	PreviousSecret      Secret
	PreviousSecretUntil time.Time
	Active              bool
	CreatedAt           time.Time
	UpdatedAt           time.Time
}

// Secret is what signatures are made with. It is never logged.
type Secret string

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

// Status says whether an endpoint gets events.
type Status string

// The states of a delivery.
const (
	StatusOK        Status = "ok"
	StatusBackoff   Status = "backoff"   // it failed, and is tried again
	StatusSuspended Status = "suspended" // it is not tried any more until it is saved or resumed
)

// Why a webhook was suspended.
const (
	ReasonGone        = "gone"        // it answered 410
	ReasonUnreachable = "unreachable" // nothing succeeded for too long
)

// State is how far the delivery of a webhook has come.
type State struct {
	Status Status
	Reason string // of the suspension
	// Cursor is the sequence number up to which every event was delivered, is a
	// dead letter, or belongs to a blocked chat.
	Cursor int64
	// Failures counts the endpoint's since its last success.
	Failures     int
	FailingSince time.Time // zero where it does not fail
	NextTry      time.Time // zero where it does not fail
	Attempts     int64     // how many were made
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

// DeadLetter is an event that was given up.
type DeadLetter struct {
	Sequence int64
	EventID  string
	Kind     eventlog.Kind
	Chat     gateway.JID
	Status   int    // of the last answer; 0 where there was none
	Error    string // why the last try failed
	At       time.Time
}

// Attempt is one request to an endpoint.
type Attempt struct {
	Number   int64 // counts the webhook's attempts from 1
	Sequence int64
	EventID  string
	Kind     eventlog.Kind
	Chat     gateway.JID
	At       time.Time
	Duration time.Duration
	Status   int    // of the answer; 0 where there was none
	Error    string // why it failed; empty where it did not
	Answer   string // the beginning of the answer's body
}

// Saved is a webhook as it was saved, with the newest event of its instance.
type Saved struct {
	Webhook Webhook
	State   State
	Blocked []BlockedChat
	Newest  int64
}

// Progress is what changed in a webhook since it was last saved.
type Progress struct {
	InstanceID  string
	State       State
	Blocked     []BlockedChat // new or changed
	Unblocked   []gateway.JID
	DeadLetters []DeadLetter
	Attempts    []Attempt
	// RevivedAfter, where not nil, drops the dead letters after a sequence
	// number, which are delivered again.
	RevivedAfter *int64
}

// DeliveryState says what became of an event.
type DeliveryState string

// What can become of an event.
const (
	DeliveryBlocked    DeliveryState = "blocked"     // it fails while others succeed; its chat waits
	DeliveryDeadLetter DeliveryState = "dead_letter" // it was given up
	DeliveryDone       DeliveryState = "delivered"   // an attempt that succeeded
	DeliveryFailed     DeliveryState = "failed"      // an attempt that failed
)

// Delivery is one line of what became of the events of a webhook: an event that
// blocks its chat, a dead letter, or an attempt.
type Delivery struct {
	State    DeliveryState
	Sequence int64
	EventID  string
	Kind     eventlog.Kind
	Chat     gateway.JID
	// At is when the attempt was made, when the event was given up, or since when
	// the chat waits.
	At       time.Time
	Status   int           // of the last answer; 0 where there was none
	Error    string        // why it failed; empty where it did not
	Duration time.Duration // of an attempt
	Answer   string        // of an attempt: the beginning of the answer's body
	// Failures and NextTry are those of a blocked event, and of the endpoint with
	// the newest attempt, where that failed and the endpoint waits.
	Failures int
	NextTry  time.Time
}

// Health is how a webhook is doing now.
type Health struct {
	State

	Problem      string // why the endpoint failed the last time; empty where that is not known
	Newest       int64  // the newest event of the instance
	BlockedChats int
}
