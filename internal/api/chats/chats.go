// Package chats is the resource of chats and of the messages in them, over HTTP.
package chats

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/format"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Tag groups the operations in the document.
const Tag = "Chats"

// Reading are the use cases of chats.
type Reading interface {
	List(ctx context.Context, instanceID string, filter gateway.ChatFilter, page gateway.PageRequest) (gateway.Page[chat.Listed], error)
	Get(ctx context.Context, instanceID string, with gateway.Recipient) (chat.Listed, error)
	Messages(ctx context.Context, instanceID string, with gateway.Recipient, query chat.Query, page gateway.PageRequest) (gateway.Page[gateway.Message], error)
	Posts(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.Message], error)
	Message(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Message, error)
	Arranging
	Marking
}

// Marking are the use cases of messages that are starred or deleted, for the account alone.
type Marking interface {
	Star(ctx context.Context, instanceID string, ref gateway.MessageRef, starred bool) error
	DeleteForMe(ctx context.Context, instanceID string, ref gateway.MessageRef) error
}

// Arranging are the use cases of how chats are arranged.
type Arranging interface {
	Change(ctx context.Context, instanceID string, with gateway.Recipient, change gateway.ChatChange) (chat.Listed, error)
	Delete(ctx context.Context, instanceID string, with gateway.Recipient) error
	RequestOlder(ctx context.Context, instanceID string, with gateway.Recipient, count int) (chat.Asked, error)
}

// Resource has the operations.
type Resource struct {
	Use Reading
	Now func() time.Time
}

// Chat is a chat in answers.
type Chat struct {
	Chat           string              `json:"chat" doc:"The chat: by number where the number is known, else by LID; the group's ID for a group."`
	ChatLID        *string             `json:"chatLid" doc:"The chat's LID; null for a group, and where it is not known."`
	IsGroup        bool                `json:"isGroup" doc:"Whether the chat is a group."`
	Name           *string             `json:"name" doc:"The name that was last seen: of the group, or the one that the person goes by. Null where none is known."`
	UnreadCount    int64               `json:"unreadCount" doc:"Messages that arrived since the link and were not read yet: neither marked as read nor answered from the phone."`
	MarkedUnread   bool                `json:"markedUnread" doc:"Whether the chat is marked as unread, as a reminder."`
	Archived       bool                `json:"archived" doc:"Whether the chat is archived."`
	Pinned         bool                `json:"pinned" doc:"Whether the chat is pinned."`
	MutedUntil     *string             `json:"mutedUntil" doc:"Until when the chat is muted: a time (ISO 8601), or forever; null: it is not."`
	Disappearing   int64               `json:"disappearingSeconds" doc:"After how many seconds new messages disappear, as far as it is known; 0: never."`
	Labels         []string            `json:"labels" doc:"The IDs of its labels."`
	LastActivityAt *contract.Timestamp `json:"lastActivityAt" doc:"When the newest message was kept; null where there was none."`
	LastMessage    *Message            `json:"lastMessage" doc:"The newest message; null if it was removed."`
}

// Message is a message in answers: as the events have it, and how far it has come.
type Message struct {
	eventlog.Message

	Source    string              `json:"source" enum:"api,device,peer" doc:"api: sent through this gateway; device: sent from the phone or another device; peer: received."`
	Status    string              `json:"status" enum:"pending,failed,sent,delivered,read,played" doc:"How far a message of this account has come. What was received is delivered."`
	EditedAt  *contract.Timestamp `json:"editedAt" doc:"When it was edited last; null: never."`
	DeletedAt *contract.Timestamp `json:"deletedAt" doc:"When it was deleted, for everyone or for this account alone; then it has no content. Null: it was not."`

	PinnedUntil *contract.Timestamp `json:"pinnedUntil" doc:"Until when it is pinned in the chat; null: it is not."`
	Starred     bool                `json:"starred" doc:"Whether the account's owner has starred it."`
	Labels      []string            `json:"labels" doc:"The IDs of its labels."`
}

// Schema is that of an event's message, with more fields.
func (Message) Schema(registry huma.Registry) *huma.Schema {
	return contract.EventSchema(registry, "StoredMessage", reflect.TypeFor[Message]())
}

// Schema says that the newest message may be null.
func (Chat) Schema(registry huma.Registry) *huma.Schema {
	return contract.EventSchema(registry, "Chat", reflect.TypeFor[Chat]())
}

// Sample is the example of a message.
func (Message) Sample() any { return newMessage(sample()) }

// Sample is the example of a chat.
func (Chat) Sample() any {
	last := sample()
	return newChat(chat.Listed{Chat: gateway.Chat{Party: last.Chat, LastAt: last.SentAt, Unread: 2}, Last: &last})
}

func sample() gateway.Message {
	person := gateway.Party{JID: "5511988887766@s.whatsapp.net", LID: "123456789012345@lid", Name: "Ana"}
	return gateway.Message{
		ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", PlatformID: "3EB0C431C26A1916E07A", Chat: person, Sender: person,
		Source: gateway.SourcePeer, Type: gateway.TypeText, Text: "Where is my order?", Status: gateway.MessageDelivered,
		SentAt: time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC),
	}
}

func newMessage(message gateway.Message) Message {
	return Message{
		Message: eventlog.NewMessage(message, message.Details), Source: string(message.Source), Status: message.Status.String(),
		EditedAt: contract.TimestampOrNil(message.EditedAt), DeletedAt: contract.TimestampOrNil(message.DeletedAt),
		PinnedUntil: contract.TimestampOrNil(message.PinnedUntil), Starred: message.Starred,
		Labels: append([]string{}, message.Labels...),
	}
}

func newChat(listed chat.Listed) Chat {
	c := Chat{
		Chat: string(listed.Party.Address()), ChatLID: contract.TextOrNil(string(listed.Party.LID)), IsGroup: listed.Party.JID.IsGroup(),
		Name: contract.TextOrNil(listed.Party.Name), UnreadCount: int64(listed.Unread), LastActivityAt: contract.TimestampOrNil(listed.LastAt),
		MarkedUnread: listed.MarkedUnread, Archived: listed.Archived, Pinned: listed.Pinned, MutedUntil: eventlog.MutedUntil(listed.MutedUntil),
		Disappearing: int64(listed.Disappearing / time.Second), Labels: append([]string{}, listed.Labels...),
	}
	if listed.Last != nil {
		c.LastMessage = new(newMessage(*listed.Last))
	}
	return c
}

type listInput struct {
	contract.InstancePath
	contract.Paging

	Search   string `query:"search" maxLength:"255" doc:"Only chats with this in their name or number. Case and accents don't count." example:"ana"`
	Unread   string `query:"unread" enum:"true,false" doc:"true: only chats with messages that were not read, or that are marked as unread; false: only the others." example:"true"`
	Archived string `query:"archived" enum:"true,false" doc:"true: only chats that are archived; false: only the others." example:"false"`
	Label    string `query:"label" maxLength:"255" doc:"Only chats with the label that has this ID." example:"7"`
}

// filter is what the query asks for.
func (in *listInput) filter() gateway.ChatFilter {
	filter := gateway.ChatFilter{Search: strings.TrimSpace(in.Search)}
	if in.Unread != "" {
		filter.Unread = new(in.Unread == "true")
	}
	if in.Archived != "" {
		filter.Archived = new(in.Archived == "true")
	}
	filter.Label = in.Label
	return filter
}

// List lists the chats of an instance.
func (r Resource) List() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChats", Tag: Tag,
		Summary: "List chats",
		Description: "Lists the chats of an instance, the one with the newest message first. It is read from what the gateway has kept; the platform is asked nothing. " +
			"A person has one chat, whichever address their messages came under.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listInput) (*contract.Answer[contract.Envelope[Chat]], error) {
		page, err := r.Use.List(ctx, contract.Instance(ctx).ID, in.filter(), in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Chat]]{Body: contract.NewEnvelope(in.Paging, page, newChat)}, nil
	})
}

// Path is the path of every operation on a chat.
type Path struct {
	contract.InstancePath

	ChatID string `path:"chatId" doc:"The chat: a phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID (a LID too)." example:"5511988887766"`

	with gateway.Recipient
}

// Resolve reads the chat.
func (p *Path) Resolve(huma.Context) []error {
	with, err := gateway.ParseRecipient(p.ChatID)
	if err != nil {
		return contract.Wrong("chatId", err.Error())
	}
	p.with = with
	return nil
}

// Get returns a chat.
func (r Resource) Get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getChat", Tag: Tag,
		Summary: "Get a chat", Description: "Returns a chat, as in the list. Without a message there is no chat.",
		Codes: []string{gateway.CodeValidation, gateway.CodeChatNotFound},
	}, func(ctx context.Context, in *Path) (*contract.Answer[Chat], error) {
		found, err := r.Use.Get(ctx, contract.Instance(ctx).ID, in.with)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Chat]{Body: newChat(found)}, nil
	})
}

// messageTypes are the types of messages that a list may be asked for.
const messageTypes = "text, image, video, voice, audio, document, location, contact, sticker, poll, event, album, unsupported"

type messagesInput struct {
	Path
	contract.Paging

	Before string `query:"before" maxLength:"255" doc:"Only messages before this one, which is named in any form, or before this time (ISO 8601)." example:"2026-11-20T14:22:10Z"`
	After  string `query:"after" maxLength:"255" doc:"Only messages after this one, or after this time." example:"3EB0C431C26A1916E07A"`
	Types  string `query:"types" maxLength:"255" doc:"Only messages of these types, with commas between them: text, image, video, voice, audio, document, location, contact, sticker, poll, event, album, unsupported." example:"image,video"`
	Search string `query:"search" maxLength:"255" doc:"Only messages whose text or caption has all of these words, or words that begin with them. Case and accents don't count." example:"pedido 1042"`
	Star   string `query:"starred" enum:"true,false" doc:"true: only messages that are starred; false: only the others." example:"true"`
	Label  string `query:"label" maxLength:"255" doc:"Only messages with the label that has this ID." example:"7"`
	Order  string `query:"order" enum:"desc,asc" default:"desc" doc:"desc: newest first; asc: oldest first." example:"desc"`

	query chat.Query
}

// Resolve reads the query, and names every parameter that is wrong.
func (in *messagesInput) Resolve(ctx huma.Context) []error {
	errs := slices.Concat(in.Path.Resolve(ctx), in.Paging.Resolve(ctx))
	var wrong []error
	in.query = chat.Query{MessageFilter: gateway.MessageFilter{Search: strings.TrimSpace(in.Search), Label: in.Label, OldestFirst: in.Order == "asc"}}
	in.query.Before, in.query.MessageFilter.Before, wrong = place("before", in.Before, false)
	errs = append(errs, wrong...)
	in.query.After, in.query.MessageFilter.After, wrong = place("after", in.After, true)
	errs = append(errs, wrong...)
	if in.Star != "" {
		in.query.Starred = new(in.Star == "true")
	}
	if in.Types == "" {
		return errs
	}
	known := strings.Split(messageTypes, ", ")
	for name := range strings.SplitSeq(in.Types, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return append(errs, contract.Wrong("types", "must be one or several of: "+messageTypes)...)
		}
		in.query.Types = append(in.query.Types, gateway.MessageType(name))
	}
	return errs
}

// afterAll comes after every identifier.
const afterAll = "g"

// place reads what names a place among messages: a message or a time.
func place(field, text string, after bool) (*gateway.MessageRef, gateway.Position, []error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, gateway.Position{}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		position := gateway.Position{At: at.UTC()}
		if after {
			position.ID = afterAll
		}
		return nil, position, nil
	}
	if wrong := format.CheckSegment(text); wrong != "" {
		return nil, gateway.Position{}, contract.Wrong(field, wrong)
	}
	return new(messageRef(text)), gateway.Position{}, nil
}

// messageRef reads an identifier of a message.
func messageRef(text string) gateway.MessageRef {
	ref := gateway.ParseMessageRef(text)
	if ref.ID == "" && ref.Chat != "" {
		return gateway.MessageRef{ID: text}
	}
	return ref
}

// Messages lists the messages of a chat.
func (r Resource) Messages() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChatMessages", Tag: Tag,
		Summary: "List the messages of a chat",
		Description: "Lists the messages of a chat, newest first, in the order in which the gateway got them; those from before the link stand by their time. " +
			"Pages move while messages come in: to read on without gaps, give the last message as `before`, or as `after` with the order `asc`. " +
			"`totalCount` counts 5,000 messages beyond the page at most, and with `search` all.",
		Codes: []string{gateway.CodeValidation, gateway.CodeChatNotFound, gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *messagesInput) (*contract.Answer[contract.Envelope[Message]], error) {
		page, err := r.Use.Messages(ctx, contract.Instance(ctx).ID, in.with, in.query, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Message]]{Body: contract.NewEnvelope(in.Paging, page, newMessage)}, nil
	})
}

type postsInput struct {
	contract.InstancePath
	contract.Paging
}

// Posts lists status posts.
func (r Resource) Posts() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listStatusPosts", Tag: Tag,
		Summary: "List status posts",
		Description: "Lists the status posts that this account has written and received since it was linked, newest first, as messages whose `chat` is `status@broadcast` " +
			"and whose `from` is who has posted them. They are in no list of chats. The platform is asked nothing.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *postsInput) (*contract.Answer[contract.Envelope[Message]], error) {
		page, err := r.Use.Posts(ctx, contract.Instance(ctx).ID, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Message]]{Body: contract.NewEnvelope(in.Paging, page, newMessage)}, nil
	})
}

type messageInput struct {
	contract.InstancePath

	MessageID string `path:"messageId" doc:"The message: its platform identifier, the composite form, or the id of a send result." example:"3EB0C431C26A1916E07A"`
}

// Resolve refuses a text that can't be an identifier.
func (in *messageInput) Resolve(huma.Context) []error {
	if wrong := format.CheckSegment(in.MessageID); wrong != "" {
		return contract.Wrong("messageId", wrong)
	}
	return nil
}

// Message returns a message.
func (r Resource) Message() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getMessage", Tag: Tag,
		Summary:     "Get a message",
		Description: "Returns a message that was sent or received, as the events have it, and how far it has come.",
		Codes:       []string{gateway.CodeValidation, gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *messageInput) (*contract.Answer[Message], error) {
		message, err := r.Use.Message(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID))
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Message]{Body: newMessage(message)}, nil
	})
}
