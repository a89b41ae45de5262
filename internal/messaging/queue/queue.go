// Package queue keeps the messages that clients leave to be sent later, and sends them: in
// their order within a chat, at the pace of their instance, once it is connected. What is
// in the queue survives the process. It knows neither how a message is made nor how it is
// sent; messaging does.
package queue

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// MaxWait is how long a message waits after it was due. After that it fails.
const MaxWait = 7 * 24 * time.Hour

// What the queue of an instance holds at most, if Config does not say.
const (
	defaultMaxMessages = 10_000
	defaultMaxBytes    = 1 << 30
)

// Message is a message that waits to be sent.
type Message struct {
	ID         string // UUID v7; the message keeps it
	InstanceID string
	PlatformID string
	To         gateway.Recipient
	Type       gateway.MessageType
	Text       string // the text, or the caption
	QuotedID   string // platform identifier of the message that it answers; empty for none
	// Payload is the content. Where FileSize is not 0, it still lacks where the file lies
	// on the platform.
	Payload    []byte
	Menu       gateway.Menu // of a message whose options have IDs
	ClientData string       // what the program that sends it calls it; empty for nothing
	FileSize   int64        // bytes of its file, which is kept under its ID; 0: it has none
	DueAt      time.Time    // the zero time: at once
	CreatedAt  time.Time
	// Position is where it stands among the messages of its instance: Add chooses it.
	Position int64
}

// Since is from when on the message is to be sent.
func (m Message) Since() time.Time {
	if m.DueAt.IsZero() {
		return m.CreatedAt
	}
	return m.DueAt
}

// Head is what the queue remembers of each message.
type Head struct {
	ID, InstanceID string
	Chat           string // the recipient as it was given: messages to it keep their order
	FileSize       int64
	DueAt          time.Time // the zero time: at once
	CreatedAt      time.Time
	Position       int64
	// Tried says that the platform may have it: an attempt was cut off, or not acknowledged.
	Tried bool
}

// Head returns what the queue remembers of a message.
func (m Message) Head() Head {
	chat := string(m.To.Chat)
	if chat == "" {
		chat = m.To.Number
	}
	return Head{ID: m.ID, InstanceID: m.InstanceID, Chat: chat, FileSize: m.FileSize, DueAt: m.DueAt, CreatedAt: m.CreatedAt, Position: m.Position}
}

// Store keeps the messages, and what the pace of an instance depends on.
type Store interface {
	MessageStore
	PaceStore
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
}

// MessageStore keeps the messages.
type MessageStore interface {
	// AddQueued adds a message and, if record is not nil, its idempotency record, whose key
	// must not be taken: else the error is Conflict. It is NotFound if the instance is gone.
	AddQueued(ctx context.Context, message Message, record *gateway.Idempotency) error
	// QueuedHeads returns what there is of instances, by the position.
	QueuedHeads(ctx context.Context, instanceIDs []string) ([]Head, error)
	// FindQueued finds a message by its own identifier or by the platform's.
	FindQueued(ctx context.Context, instanceID, id string) (Message, bool, error)
	ListQueued(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[Message], error)
}

// PaceStore knows what an instance has sent recently.
type PaceStore interface {
	// SentSince returns when the instance sent its newest messages after a time, oldest
	// first, limit at most.
	SentSince(ctx context.Context, instanceID string, since time.Time, limit int) ([]time.Time, error)
	// NewChatsSince returns the chats that the instance began after a time, oldest first.
	NewChatsSince(ctx context.Context, instanceID string, since time.Time) ([]NewChat, error)
	// AddNewChat notes that the instance begins a chat, and forgets those from before a
	// time. A chat counts once.
	AddNewChat(ctx context.Context, instanceID string, chat gateway.JID, at, forget time.Time) error
}

// Sender makes the messages and sends them. It is called for one message of a chat at a
// time.
//
// It has six methods, one for each step of a message's way.
type Sender interface {
	// Begins reports whether a message begins a chat, as far as it is known without asking
	// the platform, and the addresses that the chat may have.
	Begins(ctx context.Context, message Message) (chats []gateway.Party, begins bool, err error)
	// Address finds the chat of a message. The error is Conflict if the instance is not
	// connected, and any that a send has.
	Address(ctx context.Context, message Message) (gateway.Party, error)
	// ShowTyping shows the chat that a text is being written. A failure changes nothing.
	ShowTyping(ctx context.Context, message Message, chat gateway.Party)
	// Send sends a message, and returns when the platform has acknowledged it and that is
	// written. It calls leaves before the platform may have it. It may be called again for a
	// message that was sent already, and does nothing then.
	Send(ctx context.Context, message Message, chat gateway.Party, leaves func()) error
	// Fail writes that a message will not be sent, and why.
	Fail(ctx context.Context, message Message, why *gateway.Error) error
	// Remove removes messages, which were sent, failed or were cancelled, with their files.
	Remove(ctx context.Context, instanceID string, ids ...string) error
}

// Config is what the queue stands on. The first part is required.
type Config struct {
	Store  Store
	Sender Sender
	Bell   *eventlog.Bell // tells when an instance has connected
	Logger *slog.Logger

	Tenures     gateway.Tenures  // nil: the process works for every instance
	MaxMessages int              // of one instance; 0: 10,000
	MaxBytes    int64            // of the files of one instance; 0: 1 GiB
	Now         func() time.Time // by which messages are due; nil: the wall clock
	// Steady is a clock that nobody sets, for pauses; nil: Now. RemovalTime says by which time a
	// message has waited too long; nil: by Now.
	Steady      func() time.Time
	RemovalTime gateway.RemovalTime
}

// Queue holds the messages of all instances. It is safe for concurrent use. Nothing is sent
// before Run.
type Queue struct {
	config Config
	work   sync.WaitGroup // of the instances' queues, and messages that are being sent

	mu      sync.Mutex
	start   func(l *instanceQueue) // starts the work of an instance's queue; nil before Run
	queues  map[string]*instanceQueue
	leaving map[string]*instanceQueue // that were let go, until they have settled
}

// New makes the queue.
func New(config Config) (*Queue, error) {
	if err := required.Check("queue", config, "Now", "RemovalTime", "Steady", "Tenures"); err != nil {
		return nil, err
	}
	if config.MaxMessages == 0 {
		config.MaxMessages = defaultMaxMessages
	}
	if config.MaxBytes == 0 {
		config.MaxBytes = defaultMaxBytes
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Steady == nil {
		config.Steady = config.Now
	}
	if config.RemovalTime == nil {
		config.RemovalTime = gateway.Trusting(config.Now)
	}
	if config.Tenures == nil {
		config.Tenures = gateway.Alone{}
	}
	q := &Queue{config: config, queues: map[string]*instanceQueue{}, leaving: map[string]*instanceQueue{}}
	config.Bell.Listen(q.heard)
	return q, nil
}

// Run lets the queue send until ctx ends. Messages that are being sent then go on; Wait waits
// for them.
func (q *Queue) Run(ctx context.Context) error {
	q.mu.Lock()
	q.start = func(l *instanceQueue) {
		mine, ok := q.config.Tenures.WithTenure(ctx, l.instanceID)
		if !ok || ctx.Err() != nil {
			return
		}
		l.working = true
		mine, l.end = context.WithCancel(mine)
		l.begin(func() { l.run(mine) })
	}
	for _, l := range q.queues {
		q.begin(l)
	}
	q.mu.Unlock()
	<-ctx.Done()
	return nil
}

// TakeUp loads the messages of instances that this process works for from now on, and
// begins to send them if the queue runs. After an error it may be called again.
func (q *Queue) TakeUp(ctx context.Context, tenures []gateway.Tenure) error {
	ids := make([]string, len(tenures))
	for n, tenure := range tenures {
		ids[n] = tenure.InstanceID
	}
	heads, err := q.config.Store.QueuedHeads(ctx, ids)
	if err != nil {
		return fmt.Errorf("queue: load: %w", err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, head := range heads {
		q.of(head.InstanceID).add(head)
	}
	for _, id := range ids {
		if l, ok := q.queues[id]; ok {
			l.fallDue(true)
			q.begin(l)
		}
	}
	return nil
}

// LetGo begins no message of the instances any more. Settle is called after it.
func (q *Queue) LetGo(tenures []gateway.Tenure) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, tenure := range tenures {
		l, ok := q.queues[tenure.InstanceID]
		if !ok {
			continue
		}
		delete(q.queues, tenure.InstanceID)
		l.over = true
		if l.end != nil {
			l.end()
		}
		q.leaving[l.instanceID] = l
	}
}

// Settle waits until the messages of instances that were let go, and are being sent, have come
// to an end, and their outcome is written.
func (q *Queue) Settle(tenures []gateway.Tenure) {
	q.mu.Lock()
	var leaving []*instanceQueue
	for _, tenure := range tenures {
		if l, ok := q.leaving[tenure.InstanceID]; ok {
			delete(q.leaving, tenure.InstanceID)
			leaving = append(leaving, l)
		}
	}
	q.mu.Unlock()
	for _, l := range leaving {
		l.work.Wait()
	}
}

// Wait returns when nothing is being sent any more. Run must have ended.
func (q *Queue) Wait() { q.work.Wait() }

// Add takes a message. When it returns, the message is kept, and will be sent when it is
// due. The error is RateLimited if the instance has too many messages that wait, and what
// the store says.
func (q *Queue) Add(ctx context.Context, message Message, record *gateway.Idempotency) error {
	head := message.Head()
	q.mu.Lock()
	l := q.of(head.InstanceID)
	if err := l.room(head); err != nil {
		q.mu.Unlock()
		return err
	}
	// It takes its place before it is kept, so that those of a chat have one order in memory
	// and on the disk, and is sent only afterwards.
	message.Position = l.last + 1
	head.Position = message.Position
	it := l.add(head)
	it.unkept = true
	q.mu.Unlock()
	err := q.config.Store.AddQueued(ctx, message, record)
	q.mu.Lock()
	defer q.mu.Unlock()
	it.unkept = false
	// A refusal is certain. After any other error the message may have been kept all the
	// same; the queue looks for it.
	if _, refused := gateway.AsError(err); refused {
		l.drop(it)
	}
	q.begin(l)
	l.wake()
	return err
}

// of returns the queue of an instance; it makes one if there is none. The lock is held.
func (q *Queue) of(instanceID string) *instanceQueue {
	l, ok := q.queues[instanceID]
	if !ok {
		l = newInstanceQueue(q, instanceID)
		q.queues[instanceID] = l
	}
	return l
}

// begin starts the work of an instance's queue, if it has not started and the queue runs. The lock is
// held.
func (q *Queue) begin(l *instanceQueue) {
	if !l.working && !l.over && q.start != nil {
		q.start(l)
	}
}

// heard lets an instance go on whose status has changed.
func (q *Queue) heard(events []eventlog.Event) {
	for _, event := range events {
		if event.Kind != eventlog.KindInstanceStatus {
			continue
		}
		q.mu.Lock()
		if l, ok := q.queues[event.InstanceID]; ok {
			if l.pause.reason == ReasonNotConnected {
				l.pause = pause{}
			}
			l.wake()
		}
		q.mu.Unlock()
		return
	}
}

// Sent notes a message that was sent at once, without the queue: those that wait keep
// their distance from it.
func (q *Queue) Sent(instanceID string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l, ok := q.queues[instanceID]; ok && l.pace != nil {
		l.pace.take(q.config.Steady())
	}
}

// Begun notes that an instance has begun a chat.
func (q *Queue) Begun(ctx context.Context, instanceID string, chat gateway.Party) error {
	now := q.config.Now()
	if err := q.config.Store.AddNewChat(ctx, instanceID, chat.Key(), now, now.Add(-newChatsAge)); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if l, ok := q.queues[instanceID]; ok && l.pace != nil {
		l.pace.takeNewChat(chat.Key(), q.config.Steady())
	}
	return nil
}
