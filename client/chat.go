package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ListedChat is a chat of an instance.
type ListedChat struct {
	Chat
	IsGroup        bool           `json:"isGroup"`
	Name           *string        `json:"name"`        // the name that was last seen; nil where none is known
	UnreadCount    int            `json:"unreadCount"` // messages that arrived since the link and were not read
	LastActivityAt *time.Time     `json:"lastActivityAt"`
	LastMessage    *StoredMessage `json:"lastMessage"` // nil if it was removed
}

// StoredMessage is a message that the gateway has kept, and how far it has come.
type StoredMessage struct {
	Message
	Source    string     `json:"source"` // api, device or peer
	Status    string     `json:"status"` // pending, failed, sent, delivered, read or played
	EditedAt  *time.Time `json:"editedAt"`
	DeletedAt *time.Time `json:"deletedAt"` // not nil: it was deleted for everyone, and has no content
}

// ChatFilter chooses chats. Its zero value chooses all.
type ChatFilter struct {
	Search string // in the name or the number
	Unread *bool  // with messages that were not read, or without; nil: both
}

// MessageFilter chooses messages of a chat. Its zero value chooses all, newest first.
type MessageFilter struct {
	Before, After string   // messages by any of their identifiers, or times in ISO 8601
	Types         []string // such as image; none: all
	Search        string   // words, or beginnings of words; all of them must be in the text
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
		query.Set("unread", map[bool]string{true: "true", false: "false"}[*filter.Unread])
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

// ListMessages returns a page of the messages of a chat. Pages move while messages come in; to
// read on without gaps, give the last message as Before.
func (c *Client) ListMessages(ctx context.Context, instanceID, chat string, filter MessageFilter, page, limit int) (Page[StoredMessage], error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"before": filter.Before, "after": filter.After, "types": strings.Join(filter.Types, ","), "search": filter.Search,
		"order": map[bool]string{true: "asc"}[filter.OldestFirst],
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
