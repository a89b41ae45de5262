// Events about chats and labels.

package eventlog

import (
	"slices"
	"time"

	"github.com/recado-project/recado/internal/clock"
	"github.com/recado-project/recado/internal/gateway"
)

// The kinds of events about chats and labels.
const (
	KindChatUpdated   Kind = "chat.updated"
	KindChatHistory   Kind = "chat.history"
	KindLabelUpdated  Kind = "label.updated"
	KindLabelAssigned Kind = "label.assigned"
)

// Forever is how a mute without an end is spelled.
const Forever = "forever"

// ChatUpdated reports that the account's owner has arranged a chat in another way, on the
// phone or through the API.
type ChatUpdated struct {
	Chat
	Changed             []string `json:"changed" words:"archived,pinned,muted,read,disappearing,cleared,deleted" doc:"What is different: archived, pinned, muted, read (other messages to read, or another mark), disappearing, cleared (its messages were deleted, and it stays), or deleted."`
	Archived            bool     `json:"archived" doc:"Whether the chat is archived."`
	Pinned              bool     `json:"pinned" doc:"Whether the chat is pinned."`
	MutedUntil          *string  `json:"mutedUntil" doc:"Until when the chat is muted: a time, or forever; null: it is not."`
	UnreadCount         int64    `json:"unreadCount" doc:"Messages that arrived and were not read yet."`
	MarkedUnread        bool     `json:"markedUnread" doc:"Whether the chat is marked as unread."`
	DisappearingSeconds int64    `json:"disappearingSeconds" doc:"After how many seconds new messages disappear; 0: never."`
	Deleted             bool     `json:"deleted" doc:"Whether the chat was deleted, with its messages."`
}

// NewChatUpdated makes the data of a chat's change.
func NewChatUpdated(chat gateway.Chat, changed []gateway.ChatAspect) ChatUpdated {
	return ChatUpdated{
		Chat: NewChat(chat.Party), Changed: texts(changed), Archived: chat.Archived, Pinned: chat.Pinned,
		MutedUntil: MutedUntil(chat.MutedUntil), UnreadCount: int64(chat.Unread), MarkedUnread: chat.MarkedUnread,
		DisappearingSeconds: int64(chat.Disappearing / time.Second), Deleted: slices.Contains(changed, gateway.ChatDeleted),
	}
}

// MutedUntil spells the end of a mute: a time, Forever, or nil if there is no mute.
func MutedUntil(until time.Time) *string {
	switch {
	case until.IsZero():
		return nil
	case until.Equal(gateway.MutedForever()):
		return new(Forever)
	default:
		return new(clock.Spelled(until))
	}
}

// Kind is chat.updated.
func (ChatUpdated) Kind() Kind { return KindChatUpdated }

// ChatHistory reports how a request for older messages of a chat has ended.
type ChatHistory struct {
	Chat
	RequestID string `json:"requestId" doc:"The identifier from the answer to the request."`
	Answered  bool   `json:"answered" doc:"Whether the phone has answered. false: not within two minutes, or with something that could not be read."`
	Messages  int64  `json:"messages" doc:"How many messages have come; those that were known already are among them."`
	More      *bool  `json:"more" doc:"Whether the phone has still older messages of the chat; null if it does not say."`
}

// NewChatHistory makes the data of the end of a request.
func NewChatHistory(answer gateway.HistoryAnswer) ChatHistory {
	return ChatHistory{
		Chat: NewChat(answer.Chat), RequestID: answer.RequestID, Answered: answer.Answered, Messages: int64(answer.Messages), More: answer.More,
	}
}

// Kind is chat.history.
func (ChatHistory) Kind() Kind { return KindChatHistory }

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
