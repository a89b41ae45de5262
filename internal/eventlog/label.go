// Events about labels.

package eventlog

import "github.com/recado-project/recado/internal/gateway"

// The kinds of events about labels.
const (
	KindLabelUpdated  Kind = "label.updated"
	KindLabelAssigned Kind = "label.assigned"
)

// LabelUpdated reports that the account's owner has made, changed or deleted a label, on the
// phone or through the API.
type LabelUpdated struct {
	LabelID string `json:"labelId" doc:"The platform's identifier of the label, mostly a number."`
	Name    string `json:"name" doc:"The name; of a label that was deleted, the one that it had."`
	Color   int    `json:"color" doc:"The number of a colour of the messenger's clients, from 0."`
	Deleted bool   `json:"deleted" doc:"Whether the label was deleted. Then no chat and no message has it any more."`
}

// NewLabelUpdated makes the data of a label's change.
func NewLabelUpdated(label gateway.Label, act gateway.LabelAct) LabelUpdated {
	return LabelUpdated{LabelID: label.ID, Name: label.Name, Color: label.Color, Deleted: act == gateway.LabelDeleted}
}

// Kind is label.updated.
func (LabelUpdated) Kind() Kind { return KindLabelUpdated }

// LabelAssigned reports that a label was put on a chat or on a message, or taken from it.
type LabelAssigned struct {
	Chat
	LabelID   string  `json:"labelId" doc:"The platform's identifier of the label."`
	Name      string  `json:"name" doc:"The name of the label."`
	MessageID *string `json:"messageId" doc:"The message that the label was put on or taken from; null: the chat itself."`
	Assigned  bool    `json:"assigned" doc:"true: it was put there; false: it was taken away."`
}

// NewLabelAssigned makes the data of a label that was put somewhere, or taken away.
func NewLabelAssigned(label gateway.Label, change gateway.LabelChange) LabelAssigned {
	return LabelAssigned{
		Chat: NewChat(change.Chat), LabelID: label.ID, Name: label.Name, MessageID: orNull(change.MessageID),
		Assigned: change.Act == gateway.LabelPut,
	}
}

// Kind is label.assigned.
func (LabelAssigned) Kind() Kind { return KindLabelAssigned }
