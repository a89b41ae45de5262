// Package webhook delivers the events of instances to the endpoints of clients: at
// least once, in order within a chat, and so that one endpoint never delays
// another.
//
// It follows the event log with one cursor per webhook and keeps no queue of its
// own. An instance has several. The rules are in package backlog, which is pure. Around it are the pump of
// each webhook (pump.go), the HTTP client that all share (transport.go) and the
// flusher that saves their states (flush.go). The API calls the Service; the server
// connects it with the event log.
package webhook

import (
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Ref names a webhook: one of an instance. Without an ID it is the first one, that of the
// contract's webhook-config.
type Ref struct {
	InstanceID string
	ID         string
}

// First names the first webhook of an instance.
func First(instanceID string) Ref { return Ref{InstanceID: instanceID} }

// Webhook is the configuration of one destination of an instance's events.
type Webhook struct {
	ID         string // UUID v7
	InstanceID string
	First      bool // it is the one of the contract's webhook-config
	// Account is the webhook of the account that it follows, whose settings it has; empty if it
	// has its own.
	Account string
	URL     string // absolute, http or https
	Secret  Secret // empty where none is set
	// PreviousSecret signs too, until PreviousSecretUntil.
	PreviousSecret      Secret
	PreviousSecretUntil time.Time
	Filter              Filter
	Headers             []Header // its own, by their names
	MediaLinks          bool     // events of messages with a file have a link to it
	Format              string   // the name of its language; empty: FormatRecado
	Active              bool
	CreatedAt           time.Time
	UpdatedAt           time.Time
}

// ref names the webhook, by its id.
func (w Webhook) ref() Ref { return Ref{InstanceID: w.InstanceID, ID: w.ID} }

// Secret is what signatures are made with. It is never logged.
type Secret string

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

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
	State   backlog.State
	Blocked []backlog.BlockedChat
	Newest  int64
}

// Progress is what changed in a webhook since it was last saved.
type Progress struct {
	backlog.Progress

	ID         string // of the webhook
	InstanceID string
	Tenure     gateway.Tenure // under which it was made
	Attempts   []Attempt
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
	// At is when the attempt was made, when the event became a dead letter, or when
	// the chat was blocked.
	At       time.Time
	Status   int           // of the last answer; 0 where there was none
	Error    string        // why it failed; empty where it did not
	Duration time.Duration // of an attempt
	Answer   string        // of an attempt: the beginning of the answer's body
	// Failures and NextTry belong to a blocked event. With the newest attempt, if it
	// failed and the endpoint waits, they are the endpoint's.
	Failures int
	NextTry  time.Time
}

// Health is how a webhook is doing now.
type Health struct {
	backlog.State

	Problem      string // why the endpoint failed the last time; empty where that is not known
	Newest       int64  // the newest event of the instance
	BlockedChats int
}
