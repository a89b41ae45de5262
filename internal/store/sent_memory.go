// The memory of the messages that were sent last, so that their acknowledgement and their receipts,
// which follow within seconds, need not read them.
//
// It always answers what the database would: it changes only with writes that are committed, and drops a
// message that a write touches until the commit. So a transaction that failed, or whose outcome is unknown,
// leaves nothing in it, and a later write in the same transaction reads the database.

package store

import (
	"bytes"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/chattable"
)

// With these bounds the messages take 16 MB at most, and as a rule less than 4.
const (
	maxSentMessages = 4_096
	maxSentContent  = 4 << 10 // bytes of a message; a longer one is not remembered
)

// sentMemory holds the messages that were sent last. It is safe for concurrent use; but
// writes of one instance must run one after another, and be committed in that order.
type sentMemory struct {
	byName *lru.Cache[sentName, gateway.Message]
}

// sentName is what the platform knows a message by.
type sentName struct {
	instanceID string
	epoch      int64
	platformID string
}

func newSentMemory() (*sentMemory, error) {
	byName, err := lru.New[sentName, gateway.Message](maxSentMessages)
	if err != nil {
		return nil, fmt.Errorf("make the memory of sent messages: %w", err)
	}
	return &sentMemory{byName}, nil
}

// sentWrite is one write to the messages of an instance, for the goroutine that carries it out. Its methods
// are called in the order of its statements.
type sentWrite struct {
	messages   *sentMemory
	instanceID string
	epoch      int64
	steps      []sentStep
}

// sentStep is what a write does to the messages of a name, or to all of the instance.
type sentStep struct {
	platformID string
	message    gateway.Message // which has the name alone from the commit on
	keep, all  bool
	written    func() bool // asked after the commit; nil means that it was
}

// Begin begins a write, in the tenure with the epoch: what was remembered in an earlier one
// may have been changed by another node since. A write that runs again is begun again.
func (m *sentMemory) Begin(instanceID string, epoch int64) sentWrite {
	return sentWrite{messages: m, instanceID: instanceID, epoch: epoch}
}

// Find returns the only message of the instance with the platform identifier, if it is
// remembered. Its payload must not be changed.
func (w *sentWrite) Find(platformID string) (gateway.Message, bool) {
	return w.messages.byName.Get(sentName{w.instanceID, w.epoch, platformID})
}

// Wrote says that the write leaves the message as it is here, in the form in which the
// database returns it, and that no other message of the instance has its platform
// identifier. It is remembered after the commit, unless it is too long.
func (w *sentWrite) Wrote(message gateway.Message) { w.WroteIf(message, nil) }

// WroteIf is Wrote for a message of which only the commit will tell whether it was
// written. written is called after that.
func (w *sentWrite) WroteIf(message gateway.Message, written func() bool) {
	content := len(message.Text) + len(message.Payload) + len(chattable.MenuText(message.Menu)) + len(message.ClientData) + len(message.Chat.Name) + len(message.Sender.Name)
	message.Payload = bytes.Clone(message.Payload)
	w.step(sentStep{platformID: message.PlatformID, message: message, keep: content <= maxSentContent, written: written})
}

// Touched says that the write may change messages with the platform identifier, or add
// one.
func (w *sentWrite) Touched(platformID string) { w.step(sentStep{platformID: platformID}) }

// TouchedAll says that the write may change any messages of the instance, or remove them.
func (w *sentWrite) TouchedAll() { w.step(sentStep{all: true}) }

func (w *sentWrite) step(s sentStep) {
	w.forget(s)
	w.steps = append(w.steps, s)
}

// Committed is called after the commit of the write, before that of the next one and
// before any other write of the instance begins.
func (w *sentWrite) Committed() {
	for _, s := range w.steps {
		// An earlier write of the same transaction may have left the message as it was then.
		w.forget(s)
		if s.keep && (s.written == nil || s.written()) {
			w.messages.byName.Add(sentName{w.instanceID, w.epoch, s.platformID}, s.message)
		}
	}
}

func (w *sentWrite) forget(s sentStep) {
	if !s.all {
		w.messages.byName.Remove(sentName{w.instanceID, w.epoch, s.platformID})
		return
	}
	for _, name := range w.messages.byName.Keys() {
		if name.instanceID == w.instanceID {
			w.messages.byName.Remove(name)
		}
	}
}
