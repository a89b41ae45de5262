// Labels, which the owner of an account puts on chats and messages.

package gateway

import (
	"time"
)

// Label is a mark that the account's owner puts on chats and on messages, to sort them.
type Label struct {
	ID    string // the platform's
	Name  string
	Color int // the number of a colour of the messenger's clients, from 0
}

// MaxLabels is how many labels an account may have here: far more than any phone lets make.
const MaxLabels = 1_000

// MaxLabelName bounds the name of a label, in characters.
const MaxLabelName = 100

// LabelAct is what was done with a label.
type LabelAct string

// What can be done with a label.
const (
	LabelSet     LabelAct = "set"     // it was made or changed
	LabelDeleted LabelAct = "deleted" // it is nowhere then
	LabelPut     LabelAct = "put"     // on a chat or a message
	LabelTaken   LabelAct = "taken"   // from a chat or a message
)

// LabelChange says what the account's owner did with a label, here or on another device.
type LabelChange struct {
	Act   LabelAct
	Label Label // what was only put or taken has the ID alone
	// Chat and MessageID are what it was put on or taken from: the chat itself, if MessageID,
	// which is the platform's, is empty.
	Chat      Party
	MessageID string
	At        time.Time
}

func (LabelChange) incoming() {}

// Cleaned cleans the identifiers and the name, and bounds the time. It is nil for a label
// without an identifier, and for a chat without an address.
func (c LabelChange) Cleaned(now time.Time) Incoming {
	if c.Label.ID == "" || (c.Act == LabelPut || c.Act == LabelTaken) && c.Chat.Address() == "" {
		return nil
	}
	c.Label.ID, c.Label.Name = CleanID(c.Label.ID), CleanText(CleanName(c.Label.Name), MaxLabelName)
	c.Label.Color = max(0, min(c.Label.Color, maxColor))
	if c.MessageID != "" {
		c.MessageID = CleanID(c.MessageID)
	}
	c.Chat, c.At = c.Chat.cleaned(), CleanTime(c.At, now)
	return c
}

// maxColor bounds the number of a colour: clients know some twenty.
const maxColor = 1_000

// LabelChanges are what labels there were before the link, or while this device was not told.
// They are kept, and cause no events.
type LabelChanges []LabelChange

func (LabelChanges) incoming() {}

// Cleaned cleans every one.
func (c LabelChanges) Cleaned(now time.Time) Incoming {
	cleaned := make(LabelChanges, 0, len(c))
	for _, change := range c {
		if change, ok := change.Cleaned(now).(LabelChange); ok {
			cleaned = append(cleaned, change)
		}
	}
	return cleaned
}
