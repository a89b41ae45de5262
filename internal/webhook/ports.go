package webhook

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Log is the events of all instances.
type Log interface {
	// Read returns the events of an instance after a sequence number, in order,
	// limit at most.
	Read(ctx context.Context, instanceID string, after int64, limit int) ([]eventlog.Event, error)
	// ReadSlice is Read that ends with the event whose data brings all of them to
	// maxBytes.
	ReadSlice(ctx context.Context, instanceID string, after int64, maxEvents, maxBytes int) ([]eventlog.Event, error)
	// Bounds returns the oldest and the newest sequence number that are kept; 0
	// and 0 where there are none.
	Bounds(ctx context.Context, instanceID string) (oldest, newest int64, err error)
	// Append appends events and returns after their commit.
	Append(ctx context.Context, events ...eventlog.Event) error
}

// Store keeps the webhooks and how far each of them is.
type Store interface {
	ConfigurationStore
	ProgressStore
	EventFinder
}

// ConfigurationStore keeps what clients have configured.
type ConfigurationStore interface {
	// SaveWebhook creates or changes a configuration, by its id. Where state is not nil,
	// the delivery starts at its cursor: it replaces the state, and no chat is
	// blocked any more. An instance that does not exist is a gateway.NotFound.
	SaveWebhook(ctx context.Context, webhook Webhook, state *backlog.State) error
	// FindWebhook returns the configuration of a webhook, if it is there.
	FindWebhook(ctx context.Context, ref Ref) (Webhook, bool, error)
	// ListWebhooks returns a page of the webhooks of an instance, oldest first.
	ListWebhooks(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[Webhook], error)
	// DeleteWebhook removes a webhook, which is named by its id, with everything that is
	// known of its deliveries, and reports whether there was one.
	DeleteWebhook(ctx context.Context, ref Ref) (bool, error)
}

// ProgressStore keeps how far the deliveries have come.
type ProgressStore interface {
	// Webhooks returns the webhooks of instances with their states, those of an instance
	// oldest first.
	Webhooks(ctx context.Context, instanceIDs []string) ([]Saved, error)
	// SaveProgress writes how far webhooks have come, in one transaction. It skips
	// webhooks that were deleted. If a tenure is over, it writes nothing, and the error is
	// gateway.ErrTenureOver.
	SaveProgress(ctx context.Context, progress []Progress) error
	// DeleteDeadLetter removes the dead letter of an event. One that is not there is no
	// error.
	DeleteDeadLetter(ctx context.Context, ref Ref, sequence int64) error
	// ListDeliveries returns a page of what became of the events of a webhook, which is
	// named by its id: see Service.Deliveries.
	ListDeliveries(ctx context.Context, ref Ref, request gateway.PageRequest) (gateway.Page[Delivery], error)
}

// EventFinder finds events that the Log can't find.
type EventFinder interface {
	// ReadChatEvents returns the events of a chat after one sequence number and
	// up to another, in order, limit at most.
	ReadChatEvents(ctx context.Context, instanceID string, chat gateway.JID, after, through int64, limit int) ([]eventlog.Event, error)
	// ReadWantedEvents returns the events that a filter lets through, after one sequence
	// number and up to another, in order, maxEvents at most, and ends with the event whose
	// data brings all of them to maxBytes. searched is how far it has looked.
	ReadWantedEvents(ctx context.Context, instanceID string, filter Filter, after, through int64, maxEvents, maxBytes int) (events []eventlog.Event, searched int64, err error)
	// FirstEventSince returns the first sequence number that was appended at that
	// time or later; 0 where there is none.
	FirstEventSince(ctx context.Context, instanceID string, since time.Time) (int64, error)
}

// Watcher is told of attempts and of what comes of them. Its methods must not block, and are
// called by many goroutines at a time.
type Watcher interface {
	// Attempted tells of an attempt, what came of it in a word, and how long it took.
	Attempted(outcome string, took time.Duration)
	// Delivered tells of an event that the endpoint has accepted.
	Delivered(kind eventlog.Kind)
	// GaveUp tells how many events became dead letters.
	GaveUp(events int)
}

// nobody watches.
type nobody struct{}

func (nobody) Attempted(string, time.Duration) {}

func (nobody) Delivered(eventlog.Kind) {}

func (nobody) GaveUp(int) {}
