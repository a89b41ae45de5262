package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/trace"
)

// Receiver keeps what the sessions receive, and appends the events of it in the same
// transaction. It is safe for concurrent use.
type Receiver struct {
	config   ReceiverConfig
	reporter reporter
}

// ReceiverConfig is what a receiver stands on.
type ReceiverConfig struct {
	Store   ReceiverStore
	Log     Log
	Encoder gateway.Encoder
	Chats   Chats
	// Shown reports what a contact shows of being online or typing.
	Shown  func(ctx context.Context, instanceID string, presence gateway.ContactPresence) error
	Labels Labels
	Logger *slog.Logger
	// Rings is told of every call, after its event is kept; it must not wait. nil: nobody is.
	Rings  func(ctx context.Context, instanceID string, call gateway.Call)
	Tracer *trace.Tracer // shows what comes in in traces; nil: there are none. All others are required
}

// Chats keeps what the account's owner does with chats, and with messages for the account alone.
type Chats interface {
	Keep(ctx context.Context, instanceID string, update gateway.ChatUpdate) error
	Arrange(ctx context.Context, instanceID string, updates []gateway.ChatUpdate) error
	KeepMessage(ctx context.Context, instanceID string, update gateway.MessageUpdate) error
}

// Labels keeps what the account's owner does with labels.
type Labels interface {
	Keep(ctx context.Context, instanceID string, change gateway.LabelChange) error
	Arrange(ctx context.Context, instanceID string, changes []gateway.LabelChange) error
}

// Log takes events that stand for themselves.
type Log interface {
	Append(ctx context.Context, events ...eventlog.Event) error
}

// NewReceiver makes the receiver of all instances.
func NewReceiver(config ReceiverConfig) (*Receiver, error) {
	if err := required.Check("messaging", config, "Rings", "Tracer"); err != nil {
		return nil, err
	}
	return &Receiver{config: config, reporter: reporter{config.Encoder}}, nil
}

// For returns the receiver of one instance's sessions.
func (r *Receiver) For(instanceID string) gateway.Receiver {
	return receiver{Receiver: r, instanceID: instanceID, logger: r.config.Logger.With(slog.String("instance_id", instanceID))}
}

// receiver takes what the sessions of one instance receive.
type receiver struct {
	*Receiver

	instanceID string
	logger     *slog.Logger // names the instance
}

// Receive keeps something that a session received and appends its events
// (gateway.Receiver). It returns nil only once both are committed; a second delivery
// changes nothing. What the database refuses leaves a placeholder.
func (r receiver) Receive(ctx context.Context, incoming gateway.Incoming) error {
	ctx, span := r.trace(ctx, incoming)
	err := r.receive(ctx, incoming)
	span.End(err)
	return err
}

// trace begins a span: of the message that a receipt is for, or else of a trace of its own.
func (r receiver) trace(ctx context.Context, incoming gateway.Incoming) (context.Context, trace.Span) {
	name := "receive"
	switch incoming := incoming.(type) {
	case gateway.Message:
		name = "receive message"
	case gateway.Receipt:
		name = "receive receipt"
		if len(incoming.MessageIDs) > 0 {
			ctx = r.config.Tracer.Recall(ctx, traceKey(r.instanceID, incoming.MessageIDs[0]))
		}
	}
	return r.config.Tracer.Start(ctx, name, trace.Text("recado.instance_id", r.instanceID))
}

func (r receiver) receive(ctx context.Context, incoming gateway.Incoming) error {
	var from origin
	var err error
	switch incoming := incoming.(type) {
	case gateway.Message:
		from, err = messageOrigin(incoming), r.keepMessage(ctx, incoming)
	case gateway.History:
		return r.keepHistory(ctx, incoming)
	case gateway.Change:
		from, err = changeOrigin(incoming), r.keepChange(ctx, incoming)
	case gateway.PollVote:
		from, err = voteOrigin(incoming), r.keepVote(ctx, incoming)
	case gateway.EventResponse:
		from, err = responseOrigin(incoming), r.keepResponse(ctx, incoming)
	case gateway.Receipt:
		from, err = receiptOrigin(incoming), r.keepReceipt(ctx, incoming)
	case gateway.ChatUpdate:
		return r.config.Chats.Keep(ctx, r.instanceID, incoming)
	case gateway.ChatArrangements:
		return r.config.Chats.Arrange(ctx, r.instanceID, incoming)
	case gateway.ContactPresence:
		return r.config.Shown(ctx, r.instanceID, incoming)
	case gateway.MessageUpdate:
		return r.config.Chats.KeepMessage(ctx, r.instanceID, incoming)
	case gateway.LabelChange:
		return r.config.Labels.Keep(ctx, r.instanceID, incoming)
	case gateway.LabelChanges:
		return r.config.Labels.Arrange(ctx, r.instanceID, incoming)
	case gateway.Restriction:
		return r.keepRestriction(ctx, incoming)
	default:
		from, err = r.appendNotice(ctx, incoming)
	}
	if errors.Is(err, gateway.ErrUnstorable) && from.what != "" {
		return r.keepPlaceholder(ctx, from, err)
	}
	return err
}

func (r receiver) append(ctx context.Context, events ...eventlog.Event) error {
	if err := r.config.Log.Append(ctx, events...); err != nil {
		return fmt.Errorf("messaging: append event %s: %w", events[0].Kind, err)
	}
	return nil
}
