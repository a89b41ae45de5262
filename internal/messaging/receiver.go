// What the sessions receive: one switch over its kinds, and the messages among it.

package messaging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

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
	Rings func(ctx context.Context, instanceID string, call gateway.Call)
	// ReadsDue is told of an instance whose message is stored and to be marked as read; it must not wait. nil:
	// nobody is.
	ReadsDue func(ctx context.Context, instanceID string)
	Tracer   *trace.Tracer // shows what comes in in traces; nil: there are none. All others are required
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
	if err := required.Check("messaging", config, "ReadsDue", "Rings", "Tracer"); err != nil {
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
// changes nothing. What the database refuses leaves a placeholder. What is of groups is dropped
// if the instance ignores them.
func (r receiver) Receive(ctx context.Context, incoming gateway.Incoming) error {
	wanted, err := r.wanted(ctx, incoming)
	if err != nil || wanted == nil {
		return err
	}
	ctx, span := r.trace(ctx, wanted)
	err = r.receive(ctx, wanted)
	span.End(err)
	return err
}

// wanted is what is to be kept of what was received; nil for nothing.
func (r receiver) wanted(ctx context.Context, incoming gateway.Incoming) (gateway.Incoming, error) {
	others, ofGroups := gateway.WithoutGroups(incoming)
	if !ofGroups {
		return incoming, nil
	}
	instance, err := r.config.Store.GetInstance(ctx, r.instanceID)
	if err != nil {
		return nil, wrap("see whether groups are ignored", err)
	}
	if instance.Switches.IgnoreGroups {
		return others, nil
	}
	return incoming, nil
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
		from, err = messageOrigin(incoming), r.takeMessage(ctx, incoming)
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

func messageOrigin(message gateway.Message) origin {
	return origin{
		what: "message", chat: message.Chat, by: message.Sender, fromMe: message.FromMe, key: message.WireKey, at: message.SentAt,
	}
}

// takeMessage keeps a message that has just arrived, and lets it be marked as read if the instance does that by itself.
func (r receiver) takeMessage(ctx context.Context, message gateway.Message) error {
	instance, err := r.config.Store.GetInstance(ctx, r.instanceID)
	if err != nil {
		return wrap("see whether messages are marked as read", err)
	}
	message.ReadDue = marksRead(instance.Switches, message)
	err = r.keepMessage(ctx, message)
	if err == nil && message.ReadDue && r.config.ReadsDue != nil {
		r.config.ReadsDue(ctx, r.instanceID)
	}
	return err
}

// keepMessage keeps a message and appends its event. A message that is stored already
// changes nothing.
func (r receiver) keepMessage(ctx context.Context, message gateway.Message) error {
	if err := identify(&message, r.instanceID); err != nil {
		return err
	}
	event, err := receivedEvent(message)
	if err != nil {
		return fmt.Errorf("messaging: make the event of a message: %w", err)
	}
	if mayAnswer(message) {
		return r.keepText(ctx, message, event)
	}
	if _, err := r.config.Store.AddMessage(ctx, message, event); err != nil {
		return fmt.Errorf("messaging: keep message: %w", err)
	}
	return nil
}

// keepHistory keeps messages from before the link. They cause no events, because
// a flood of old messages would be of no use to a client.
func (r receiver) keepHistory(ctx context.Context, messages gateway.History) error {
	messages = slices.Clone(messages)
	for n := range messages {
		if err := identify(&messages[n], r.instanceID); err != nil {
			return err
		}
		// The same message may still arrive by itself, and then it gets its event.
		messages[n].WireKey = ""
		if at := messages[n].SentAt; !at.IsZero() && at.Before(messages[n].CreatedAt) {
			messages[n].CreatedAt = at // so that it stands in its place
		}
	}
	for part := range slices.Chunk(messages, historyAtOnce) {
		if err := r.keepPartOfHistory(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// historyAtOnce is how many messages of a history are written in one transaction, which everything else that
// is to be written waits for.
const historyAtOnce = 50

func (r receiver) keepPartOfHistory(ctx context.Context, messages gateway.History) error {
	err := r.config.Store.AddHistory(ctx, r.instanceID, messages)
	if !errors.Is(err, gateway.ErrUnstorable) {
		return wrap("keep history", err)
	}
	// The database refuses one of them, and the others must not be lost with it.
	for _, message := range messages {
		err := r.config.Store.AddHistory(ctx, r.instanceID, []gateway.Message{message})
		if errors.Is(err, gateway.ErrUnstorable) {
			r.logger.ErrorContext(ctx, "the database refuses a message of a history; it is left out",
				slog.Any("error", err))
			continue
		}
		if err != nil {
			return wrap("keep history", err)
		}
	}
	return nil
}

// receivedEvent is the event of a message that has arrived: from somebody else, or from
// another device of this account.
func receivedEvent(message gateway.Message) (eventlog.Event, error) {
	var data eventlog.Data
	if message.FromMe {
		data = eventlog.MessageSent{Message: eventlog.NewMessage(message, message.Details), Source: string(gateway.SourceDevice)}
	} else {
		data = eventlog.NewMessageReceived(message)
	}
	return eventlog.NewEvent(message.InstanceID, message.Chat.Key(), "message/"+message.WireKey, message.SentAt, data)
}

// wrap says in an error what was being done; it leaves nil as it is.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("messaging: %s: %w", doing, err)
}

func identify(message *gateway.Message, instanceID string) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("messaging: choose message id: %w", err)
	}
	message.ID, message.InstanceID = id.String(), instanceID
	message.StatusAt = message.SentAt
	return nil
}

// origin is where something that was received comes from, for the placeholder that is
// kept if it can't be kept itself.
type origin struct {
	what     string // for people and programs: "message", "receipt"; empty: it has no placeholder
	chat, by gateway.Party
	fromMe   bool
	key      string // the same for every delivery
	at       time.Time
}

// keepPlaceholder keeps a message of the type "unsupported" in the place of something
// that the database refuses with cause, and appends its event. The database would refuse
// it after each delivery, and everything after it would wait; where the database is only
// in trouble, the platform delivers it again instead.
//
// The connector cleans what it passes on, so this is the second line of defence.
func (r receiver) keepPlaceholder(ctx context.Context, from origin, cause error) error {
	r.logger.ErrorContext(ctx, "the database refuses what arrived; a placeholder is kept for it",
		slog.String("what", from.what), slog.Any("error", cause))
	sum := sha256.Sum256([]byte(from.what + "\x00" + from.key))
	id := hex.EncodeToString(sum[:16])
	message := gateway.Message{
		PlatformID: "placeholder-" + id, WireKey: "placeholder/" + id,
		Chat: addressesOf(from.chat), Sender: addressesOf(from.by), FromMe: from.fromMe,
		Source: gateway.SourcePeer, Type: gateway.TypeUnsupported, Payload: []byte{},
		Details: gateway.Details{Unsupported: "not_kept:" + from.what},
		Status:  gateway.MessageDelivered, SentAt: from.at, CreatedAt: from.at,
	}
	if from.fromMe {
		message.Source = gateway.SourceDevice
	}
	if err := r.keepMessage(ctx, message); err != nil {
		return fmt.Errorf("messaging: keep a placeholder: %w", err)
	}
	return nil
}

// addressesOf is a party without its name, with addresses that every database can hold.
func addressesOf(party gateway.Party) gateway.Party {
	return gateway.Party{
		JID: gateway.JID(gateway.CleanID(string(party.JID))), LID: gateway.JID(gateway.CleanID(string(party.LID))),
	}
}
