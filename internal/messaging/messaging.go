// Package messaging holds the use cases of a message: sending it, keeping it,
// finding it by any of its identifiers, changing it, and moving its status
// forward. It knows nothing of HTTP, SQL or the wire.
package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/keylock"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/worker"
)

// Directory finds the chat that a message goes to.
type Directory interface {
	Party(ctx context.Context, through gateway.People, to gateway.Recipient) (gateway.Party, error)
	// Parties returns the addresses of people, in their order, with few questions to the platform; who
	// has no account has neither.
	Parties(ctx context.Context, through gateway.People, people []gateway.Recipient) ([]gateway.Party, error)
	// Candidates returns the addresses that it may have, without asking the platform: one
	// at least, one of which is the recipient's.
	Candidates(ctx context.Context, to gateway.Recipient) ([]gateway.Party, error)
}

// Previews finds what phones show of the first link in a text.
type Previews interface {
	// Find returns soon, with nil if there is nothing to show.
	Find(ctx context.Context, text string) *gateway.LinkPreview
}

// Config is what the service stands on. All of the first part is required.
type Config struct {
	Store     Store
	Sessions  gateway.Sessions
	Directory Directory
	Encoder   gateway.Encoder
	Chats     Chats
	Media     *media.Service
	Blobs     *media.Blobs
	Links     *media.Links
	Logger    *slog.Logger
	Previews  Previews // nil: texts have none
	// QueuedFiles keeps the files of messages that wait to be sent. Nothing removes them but
	// this service.
	QueuedFiles *media.Blobs
	Bell        *eventlog.Bell // rings after each commit of events

	// Limits is asked whenever one of them counts, and may say others each time; nil: the
	// usual ones.
	Limits func() Limits
	// PendingLimit is how long a message may be without an acknowledgement or a
	// receipt. After that it counts as failed: the process died while the message
	// was on its way (5 minutes).
	PendingLimit time.Duration
	// Stopping ends when the program begins to stop: from then on no message and no change is begun,
	// and what was begun is answered soon. nil: it never does.
	Stopping context.Context //nolint:containedctx // a signal
	// DatabaseFails reports whether the database takes no writes at the moment; nil: it always does.
	DatabaseFails func() bool
	// LastAnswer is how long the platform may take to acknowledge something once the program has begun
	// to stop (10 s).
	LastAnswer time.Duration
	Tenures    gateway.Tenures  // nil: the process works for every instance
	Watcher    Watcher          // is told of sends; nil: nobody is
	Tracer     *trace.Tracer    // shows sends in traces; nil: there are none
	Now        func() time.Time // nil: the wall clock
	// Steady is a clock that nobody sets, for pauses; nil: Now. RemovalTime says by which time
	// something is old; nil: by Now.
	Steady      func() time.Time
	RemovalTime gateway.RemovalTime
}

// Watcher is told of what goes to the platform and comes from it. Its methods must not
// block, and are called by many goroutines at a time.
type Watcher interface {
	// Sent tells of a message or a change that was handed to the platform, how that ended,
	// and how long it took. The kind is the type of the message, or edit,
	// deletion or reaction.
	Sent(kind string, err error, took time.Duration)
	// Uploaded and Fetched tell how many bytes of files were left with the platform, and
	// fetched from it.
	Uploaded(bytes int64)
	Fetched(bytes int64)
}

// nobody watches.
type nobody struct{}

func (nobody) Sent(string, error, time.Duration) {}

func (nobody) Uploaded(int64) {}

func (nobody) Fetched(int64) {}

// Service carries out the use cases. It is safe for concurrent use.
type Service struct {
	config       Config
	reporter     reporter
	messageLocks keylock.Locks // by the messages' ids: a change may depend on the one before it
	turns        keylock.Locks // by instance: one thing after another is handed to its session

	queue *queue.Queue
	reads *worker.Errands // marking as read what is due

	underway sync.WaitGroup // sends that a session has, until their outcome is written

	mu      sync.Mutex
	sending map[repeatKey]struct{} // requests that run
	since   map[string]time.Time   // when the instances were taken up
}

// Limits are what can change while the service runs. The zero value of a duration means its
// default.
type Limits struct {
	// EditWindow and DeleteWindow are how long after sending the platform accepts
	// an edit and a deletion (15 minutes, 1 hour).
	EditWindow, DeleteWindow time.Duration
	// LinkLifetime is how long a download link works (1 hour).
	LinkLifetime time.Duration
	// KeepMessages is how long messages are kept, at least MinKeepMessages; 0 means
	// without end.
	KeepMessages time.Duration
	// MaxMessages is how many messages of an instance are kept, the newest; 0 means
	// all.
	MaxMessages int
}

// Check returns what is wrong with the limits.
func (l Limits) Check() error {
	if l.KeepMessages != 0 && l.KeepMessages < MinKeepMessages {
		return fmt.Errorf("messaging: messages must be kept for %s at least, or without end (0)", MinKeepMessages)
	}
	if l.MaxMessages < 0 {
		return errors.New("messaging: the number of messages that are kept must not be negative")
	}
	return nil
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("messaging", config, "DatabaseFails", "Limits", "Now", "Previews", "RemovalTime", "Steady", "Stopping", "Tenures", "Tracer", "Watcher"); err != nil {
		return nil, err
	}
	if config.Limits == nil {
		config.Limits = func() Limits { return Limits{} }
	}
	if err := config.Limits().Check(); err != nil {
		return nil, err
	}
	if config.PendingLimit == 0 {
		config.PendingLimit = 5 * time.Minute
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.RemovalTime == nil {
		config.RemovalTime = gateway.Trusting(config.Now)
	}
	if config.Tenures == nil {
		config.Tenures = gateway.Alone{}
	}
	if config.DatabaseFails == nil {
		config.DatabaseFails = func() bool { return false }
	}
	config.LastAnswer = cmp.Or(config.LastAnswer, defaultLastAnswer)
	if config.Stopping == nil {
		config.Stopping = context.Background()
	}
	if config.Watcher == nil {
		config.Watcher = nobody{}
	}
	s := &Service{config: config, reporter: reporter{config.Encoder}, sending: map[repeatKey]struct{}{}, since: map[string]time.Time{}}
	s.reads = worker.NewErrands(s.markDue)
	var err error
	s.queue, err = queue.New(queue.Config{
		Store: config.Store, Sender: queued{s}, Bell: config.Bell, Logger: config.Logger, Tenures: config.Tenures, Now: config.Now,
		Steady: config.Steady, RemovalTime: config.RemovalTime,
	})
	return s, err
}

// traceKey is the key under which the trace of a message is remembered for its receipts.
func traceKey(instanceID, platformID string) string { return instanceID + "/" + platformID }

// Queue returns the messages that wait to be sent.
func (s *Service) Queue() *queue.Queue { return s.queue }

// Wait returns when the outcome of every send is written. The sessions must have been
// closed, which ends their sends.
func (s *Service) Wait() {
	s.underway.Wait()
	s.queue.Wait()
}

// Find returns the message of the instance that ref names. If two chats hold the same
// identifier, it is the message in the chat of ref, or else the older one. Its error is
// NotFound.
func (s *Service) Find(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Message, error) {
	found, err := s.config.Store.FindMessages(ctx, instanceID, ref.ID)
	if err != nil {
		return gateway.Message{}, err
	}
	if len(found) == 0 {
		return gateway.Message{}, notFound()
	}
	for _, message := range found {
		if message.Chat.Is(ref.Chat) {
			return message, nil
		}
	}
	return found[0], nil
}

func notFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound,
		"the instance has no message with this identifier")
}

// TakeUp begins to send the messages that wait of instances that this process works for from
// now on. After an error it may be called again.
func (s *Service) TakeUp(ctx context.Context, tenures []gateway.Tenure) error {
	now := s.config.Now()
	s.mu.Lock()
	for _, tenure := range tenures {
		s.since[tenure.InstanceID] = now
	}
	s.mu.Unlock()
	return s.queue.TakeUp(ctx, tenures)
}

// LetGo sends nothing more from the queue for the instances. Settle is called after it.
func (s *Service) LetGo(tenures []gateway.Tenure) {
	s.mu.Lock()
	for _, tenure := range tenures {
		delete(s.since, tenure.InstanceID)
	}
	s.mu.Unlock()
	s.queue.LetGo(tenures)
}

// Settle waits until the outcome of what was being sent from the queue is written. The
// sessions must have been closed, which ends it.
func (s *Service) Settle(tenures []gateway.Tenure) { s.queue.Settle(tenures) }

// takenUpAfter reports whether an instance was taken up after a time.
func (s *Service) takenUpAfter(instanceID string, t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.since[instanceID].After(t)
}

// limits are those of now.
func (s *Service) limits() Limits { return s.config.Limits().OrUsual() }

// OrUsual returns the limits with the usual ones where none are set.
func (l Limits) OrUsual() Limits {
	l.EditWindow = cmp.Or(l.EditWindow, 15*time.Minute)
	l.DeleteWindow = cmp.Or(l.DeleteWindow, time.Hour)
	l.LinkLifetime = cmp.Or(l.LinkLifetime, time.Hour)
	return l
}
