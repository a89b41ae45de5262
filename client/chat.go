package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ListedChat is a chat of an instance.
type ListedChat struct {
	Chat
	IsGroup        bool           `json:"isGroup"`
	Name           *string        `json:"name"`        // the name that was last seen; nil where none is known
	UnreadCount    int            `json:"unreadCount"` // messages that arrived since the link and were not read
	MarkedUnread   bool           `json:"markedUnread"`
	Archived       bool           `json:"archived"`
	Pinned         bool           `json:"pinned"`
	MutedUntil     *string        `json:"mutedUntil"`          // a time (ISO 8601) or Forever; nil: it is not muted
	Disappearing   int            `json:"disappearingSeconds"` // after which new messages disappear; 0: never
	Labels         []string       `json:"labels"`              // their IDs
	LastActivityAt *time.Time     `json:"lastActivityAt"`
	LastMessage    *StoredMessage `json:"lastMessage"` // nil if it was removed
}

// StoredMessage is a message that the gateway has kept, and how far it has come.
type StoredMessage struct {
	Message
	Source    string     `json:"source"` // api, device or peer
	Status    string     `json:"status"` // pending, failed, sent, delivered, read or played
	EditedAt  *time.Time `json:"editedAt"`
	DeletedAt *time.Time `json:"deletedAt"` // not nil: it was deleted, for everyone or for this account, and has no content

	PinnedUntil *time.Time `json:"pinnedUntil"` // nil: it is not pinned
	Starred     bool       `json:"starred"`
	Labels      []string   `json:"labels"` // their IDs
}

// ChatFilter chooses chats. Its zero value chooses all.
type ChatFilter struct {
	Search   string // in the name or the number
	Unread   *bool  // with messages that were not read, or marked as unread; false: without; nil: both
	Archived *bool  // that are archived, or not; nil: both
	Label    string // that have the label with this ID; empty: all
}

// MessageFilter chooses messages of a chat. Its zero value chooses all, newest first.
type MessageFilter struct {
	Before, After string   // messages by any of their identifiers, or times in ISO 8601
	Types         []string // such as image; none: all
	Search        string   // words, or beginnings of words; all of them must be in the text
	Starred       *bool    // that are starred, or not; nil: both
	Label         string   // the ID of a label that they have; empty: all
	OldestFirst   bool
}

// ListChats returns a page of the chats of an instance, the one with the newest message first.
// Pages count from 1; a limit of 0 means the gateway's.
func (c *Client) ListChats(ctx context.Context, instanceID string, filter ChatFilter, page, limit int) (Page[ListedChat], error) {
	query := url.Values{}
	if filter.Search != "" {
		query.Set("search", filter.Search)
	}
	if filter.Unread != nil {
		query.Set("unread", strconv.FormatBool(*filter.Unread))
	}
	if filter.Archived != nil {
		query.Set("archived", strconv.FormatBool(*filter.Archived))
	}
	if filter.Label != "" {
		query.Set("label", filter.Label)
	}
	var out Page[ListedChat]
	err := c.call(ctx, http.MethodGet, instancePath(instanceID, "/chats")+withQuery(pageQuery(page, limit), query), nil, &out)
	return out, err
}

// Chats yields all chats of an instance, fetched page by page. An error ends the sequence.
func (c *Client) Chats(ctx context.Context, instanceID string, filter ChatFilter) iter.Seq2[ListedChat, error] {
	return items(func(page int) (Page[ListedChat], error) { return c.ListChats(ctx, instanceID, filter, page, 0) })
}

// GetChat returns the chat of an instance with somebody, or in a group: chat is a number or a
// chat ID. Its error has CodeChatNotFound if there is no message of such a chat.
func (c *Client) GetChat(ctx context.Context, instanceID, chat string) (ListedChat, error) {
	var out ListedChat
	err := c.call(ctx, http.MethodGet, chatPath(instanceID, chat), nil, &out)
	return out, err
}

// Forever is how a mute without an end is spelled.
const Forever = "forever"

// ChatChange is what ChangeChat changes; what is nil stays as it is.
type ChatChange struct {
	Archived     *bool   `json:"archived,omitempty"`
	Pinned       *bool   `json:"pinned,omitempty"`
	MutedUntil   *string `json:"mutedUntil,omitempty"`          // a time to come (ISO 8601), Forever, or "" for no longer
	Read         *bool   `json:"read,omitempty"`                // false: the chat is marked as unread
	Disappearing *int    `json:"disappearingSeconds,omitempty"` // 0 (never), 86400, 604800 or 7776000
}

// ChangeChat arranges a chat on all devices of the account, and returns it as it is then. Its
// error has CodeChatNotFound if there is no message of such a chat, and CodeNotSynced
// if the phone has not been online since the link.
func (c *Client) ChangeChat(ctx context.Context, instanceID, chat string, change ChatChange) (ListedChat, error) {
	var out ListedChat
	err := c.call(ctx, http.MethodPatch, chatPath(instanceID, chat), change, &out)
	return out, err
}

// DeleteChat deletes a chat on all devices of the account, and its messages in the gateway.
// Its errors are those of ChangeChat.
func (c *Client) DeleteChat(ctx context.Context, instanceID, chat string) error {
	return c.call(ctx, http.MethodDelete, chatPath(instanceID, chat), nil, nil)
}

// HistoryRequest is a request for older messages, which the phone has to answer: the event
// TypeChatHistory says how it has ended.
type HistoryRequest struct {
	RequestID string  `json:"requestId"`
	Chat      string  `json:"chat"`
	ChatLID   *string `json:"chatLid"`
	Before    string  `json:"before"` // the oldest message that is kept
	Count     int     `json:"count"`
}

// RequestHistory asks the phone for messages of a chat that are older than the oldest which is
// kept: count of them, 50 at most; 0 means 50.
func (c *Client) RequestHistory(ctx context.Context, instanceID, chat string, count int) (HistoryRequest, error) {
	body := map[string]int{}
	if count != 0 {
		body["count"] = count
	}
	var out HistoryRequest
	err := c.call(ctx, http.MethodPost, chatPath(instanceID, chat)+"/history", body, &out)
	return out, err
}

// ListMessages returns a page of the messages of a chat. Pages move while messages come in; to
// read on without gaps, give the last message as Before.
func (c *Client) ListMessages(ctx context.Context, instanceID, chat string, filter MessageFilter, page, limit int) (Page[StoredMessage], error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"before": filter.Before, "after": filter.After, "types": strings.Join(filter.Types, ","), "search": filter.Search,
		"order": map[bool]string{true: "asc"}[filter.OldestFirst], "starred": trueFalse(filter.Starred),
		"label": filter.Label,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var out Page[StoredMessage]
	err := c.call(ctx, http.MethodGet, chatPath(instanceID, chat)+"/messages"+withQuery(pageQuery(page, limit), query), nil, &out)
	return out, err
}

// Message returns a message that an instance sent or received, by any of its identifiers. Its
// error has CodeMessageNotFound if there is none.
func (c *Client) Message(ctx context.Context, instanceID, messageID string) (StoredMessage, error) {
	var out StoredMessage
	err := c.call(ctx, http.MethodGet, messagePath(instanceID, "/"+url.PathEscape(messageID)), nil, &out)
	return out, err
}

func chatPath(instanceID, chat string) string {
	return instancePath(instanceID, "/chats/"+url.PathEscape(chat))
}

// withQuery adds values to a query, which may be empty.
func withQuery(query string, more url.Values) string {
	switch {
	case len(more) == 0:
		return query
	case query == "":
		return "?" + more.Encode()
	}
	return query + "&" + more.Encode()
}

// trueFalse is a choice in a query; empty for none.
func trueFalse(choice *bool) string {
	if choice == nil {
		return ""
	}
	return strconv.FormatBool(*choice)
}
