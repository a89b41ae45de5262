// Events about chats.

package eventlog

import (
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// KindChatUpdated is the kind of the event about how a chat is arranged.
const KindChatUpdated Kind = "chat.updated"

// KindChatHistory is the kind of the event about older messages that the phone was asked for.
const KindChatHistory Kind = "chat.history"

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
	updated := ChatUpdated{
		Chat: NewChat(chat.Party), Changed: make([]string, len(changed)), Archived: chat.Archived, Pinned: chat.Pinned,
		MutedUntil: MutedUntil(chat.MutedUntil), UnreadCount: int64(chat.Unread), MarkedUnread: chat.MarkedUnread,
		DisappearingSeconds: int64(chat.Disappearing / time.Second),
	}
	for n, aspect := range changed {
		updated.Changed[n] = string(aspect)
		updated.Deleted = updated.Deleted || aspect == gateway.ChatDeleted
	}
	return updated
}

// MutedUntil spells the end of a mute: a time, Forever, or nil if there is no mute.
func MutedUntil(until time.Time) *string {
	switch {
	case until.IsZero():
		return nil
	case until.Equal(gateway.MutedForever()):
		return new(Forever)
	default:
		return new(until.UTC().Format(timeFormat))
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
