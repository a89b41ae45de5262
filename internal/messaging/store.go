package messaging

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
)

// Store keeps what the service needs. Each part is a transaction of its own, which
// includes the events that it causes.
type Store interface {
	MessageStore
	VoteStore
	SentChangeStore
	IdempotencyStore
	RetentionStore
	ReadingStore
	NewChatStore
	DueReadStore
	QueueStore
	DisappearingStore
}

// DueReadStore keeps which messages are still to be marked as read by themselves.
type DueReadStore interface {
	DueReads(ctx context.Context, instanceID string, limit int) ([]gateway.Message, error)
	EndDueReads(ctx context.Context, instanceID string, ids []string) error
}

// DisappearingStore knows after which time the messages of a chat disappear; 0 for never. It is
// asked for every message that is sent.
type DisappearingStore interface {
	DisappearsAfter(ctx context.Context, instanceID string, chat gateway.Party) (time.Duration, error)
}

// QueueStore keeps the messages that wait to be sent.
type QueueStore interface {
	queue.Store
	AllQueued(ctx context.Context) ([]string, error)
	RemoveQueued(ctx context.Context, instanceID string, ids ...string) error
	AddMessage(ctx context.Context, message gateway.Message, events ...eventlog.Event) (bool, error)
}

// MessageStore keeps the messages that are sent.
type MessageStore interface {
	// AcceptMessage begins to keep a message; kept waits until it is kept.
	AcceptMessage(ctx context.Context, message gateway.Message, repeat *gateway.Idempotency) (kept func() error)
	FindMessages(ctx context.Context, instanceID, id string) ([]gateway.Message, error)
	UpdateMessages(ctx context.Context, instanceID string, ids []string,
		change func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error)) error
	PendingMessages(ctx context.Context, after gateway.Position, before time.Time, limit int) ([]gateway.Message, error)
}

// VoteStore finds the votes in a poll.
type VoteStore interface {
	ListVotes(ctx context.Context, messageID string) ([]gateway.StoredVote, error)
}

// SentChangeStore keeps the changes that are sent, until the platform may no longer refer
// to them.
type SentChangeStore interface {
	AcceptChange(ctx context.Context, change gateway.SentChange) error
	ConfirmChange(ctx context.Context, instanceID, platformID string,
		confirm func(change gateway.SentChange, message gateway.Message) (gateway.Message, []eventlog.Event, error)) (known bool, err error)
	DropChange(ctx context.Context, instanceID, platformID string) error
	DeleteChanges(ctx context.Context, before time.Time) (int64, error)
}

// IdempotencyStore keeps which requests were accepted under an Idempotency-Key.
type IdempotencyStore interface {
	FindIdempotency(ctx context.Context, keyID, key string) (gateway.Idempotency, bool, error)
	FailIdempotency(ctx context.Context, keyID, key string, failure *gateway.Error) error
	DeleteIdempotency(ctx context.Context, before time.Time) (int64, error)
	ForgetIdempotency(ctx context.Context, keyID, key string, before time.Time) error
}

// RetentionStore finds and removes messages that have been kept long enough.
type RetentionStore interface {
	AllInstances(ctx context.Context) ([]gateway.Instance, error)
	MessagesBefore(ctx context.Context, instanceID string, before time.Time, limit int) ([]string, error)
	MessagesBeyond(ctx context.Context, instanceID string, keep, limit int) ([]string, error)
	DeleteMessages(ctx context.Context, instanceID string, ids []string) error
}

// ReadingStore sums up messages.
type ReadingStore interface {
	ListCorrespondence(ctx context.Context, instanceID string, since time.Time) ([]gateway.Correspondence, error)
}

// NewChatStore says whether the platform may refuse a chat for being new.
type NewChatStore interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
	ChatKnown(ctx context.Context, instanceID string, chat gateway.Party) (bool, error)
}

// ReceiverStore keeps what the receiver needs.
type ReceiverStore interface {
	ReceivedStore
	ReceivedChangeStore
	ReceivedVoteStore
	RestrictionStore
	DisappearingStore
	SettingStore
}

// SettingStore knows what an instance is set to. It is asked for most of what comes in.
type SettingStore interface {
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
}

// ReceivedStore keeps the messages that are received.
type ReceivedStore interface {
	AddMessage(ctx context.Context, message gateway.Message, events ...eventlog.Event) (bool, error)
	// AddText is AddMessage for a text, of which report says whether it answers the menu that is open in its chat.
	AddText(ctx context.Context, message gateway.Message, event eventlog.Event,
		report func(poll gateway.Message) (eventlog.Event, bool, error)) (bool, error)
	AddHistory(ctx context.Context, instanceID string, messages []gateway.Message) error
	FindMessages(ctx context.Context, instanceID, id string) ([]gateway.Message, error)
	UpdateMessages(ctx context.Context, instanceID string, ids []string,
		change func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error)) error
	// UpdateMessagesSoon is UpdateMessages for what nobody waits for.
	UpdateMessagesSoon(ctx context.Context, instanceID string, ids []string,
		change func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error)) error
}

// ReceivedChangeStore keeps the changes by this account that the platform refers to.
type ReceivedChangeStore interface {
	AcceptChange(ctx context.Context, change gateway.SentChange) error
	FindChange(ctx context.Context, instanceID, platformID string) (gateway.SentChange, bool, error)
	ConfirmChange(ctx context.Context, instanceID, platformID string,
		confirm func(change gateway.SentChange, message gateway.Message) (gateway.Message, []eventlog.Event, error)) (known bool, err error)
}

// ReceivedVoteStore keeps the votes and reactions that are received.
type ReceivedVoteStore interface {
	KeepVote(ctx context.Context, poll gateway.Message, vote gateway.StoredVote,
		report func(votes []gateway.StoredVote, answers bool) (eventlog.Event, error)) error
	KeepReaction(ctx context.Context, instanceID string, reaction gateway.StoredReaction, event eventlog.Event) error
}

// RestrictionStore keeps what the platform says of an account with its instance.
type RestrictionStore interface {
	UpdateInstance(ctx context.Context, id string,
		change func(*gateway.Instance) ([]eventlog.Event, error)) (gateway.Instance, error)
}
