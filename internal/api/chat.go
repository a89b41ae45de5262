// Chats and the messages in them: reading, arranging, marking.

package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body/format"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// chats is the resource of chats and of the messages in them.
type chats struct {
	use *chat.Service
	now func() time.Time
}

// chatCodes are the refusals of every operation that changes the settings of the account, and more.
func chatCodes(more ...string) []string {
	return sessionCodes(append(more, gateway.CodeValidation, gateway.CodeNotSynced, gateway.CodeChatRefused)...)
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
	LastMessage    *StoredMessage      `json:"lastMessage" doc:"The newest message; null if it was removed."`
}

// StoredMessage is a message in answers: as the events have it, and how far it has come.
type StoredMessage struct {
	eventlog.Message

	Source    string              `json:"source" enum:"api,device,peer" doc:"api: sent through this gateway; device: sent from the phone or another device; peer: received."`
	Status    string              `json:"status" enum:"pending,failed,sent,delivered,read,played" doc:"How far a message of this account has come. What was received is delivered."`
	EditedAt  *contract.Timestamp `json:"editedAt" doc:"When it was edited last; null: never."`
	DeletedAt *contract.Timestamp `json:"deletedAt" doc:"When it was deleted, for everyone or for this account alone; then it has no content. Null: it was not."`

	PinnedUntil *contract.Timestamp `json:"pinnedUntil" doc:"Until when it is pinned in the chat; null: it is not."`
	Starred     bool                `json:"starred" doc:"Whether the account's owner has starred it."`
	Labels      []string            `json:"labels" doc:"The IDs of its labels."`
	ClientData  string              `json:"clientData,omitempty" doc:"What your program has called it in the request that sent it; left out if nothing."`
	Reactions   []StoredReaction    `json:"reactions" doc:"The last reaction of everybody who has reacted, in the order in which they were given. Those from before the link are not known."`
}

// StoredReaction is a reaction to a message in answers.
type StoredReaction struct {
	From     *eventlog.Person   `json:"from" doc:"Who reacts."`
	Reaction string             `json:"reaction" doc:"The emoji."`
	At       contract.Timestamp `json:"at" doc:"When."`
}

// Schema is that of an event's message, with more fields.
func (StoredMessage) Schema(registry huma.Registry) *huma.Schema {
	return contract.EventSchema(registry, "StoredMessage", reflect.TypeFor[StoredMessage]())
}

// Schema says that the newest message may be null.
func (Chat) Schema(registry huma.Registry) *huma.Schema {
	return contract.EventSchema(registry, "ListedChat", reflect.TypeFor[Chat]())
}

// Sample is the example of a message.
func (StoredMessage) Sample() any { return newStoredMessage(sampleMessage()) }

// Sample is the example of a chat.
func (Chat) Sample() any {
	last := sampleMessage()
	return newChat(chat.Listed{Chat: gateway.Chat{Party: last.Chat, LastAt: last.SentAt, Unread: 2}, Last: &last})
}

func sampleMessage() gateway.Message {
	person := gateway.Party{JID: "5511988887766@s.whatsapp.net", LID: "123456789012345@lid", Name: "Ana"}
	return gateway.Message{
		ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", PlatformID: "3EB0C431C26A1916E07A", Chat: person, Sender: person,
		Source: gateway.SourcePeer, Type: gateway.TypeText, Text: "Where is my order?", Status: gateway.MessageDelivered,
		SentAt: time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC),
	}
}

func newStoredMessage(message gateway.Message) StoredMessage {
	reactions := make([]StoredReaction, 0, len(message.Reactions))
	for _, given := range message.Reactions {
		reactions = append(reactions, StoredReaction{From: eventlog.NewPerson(given.By), Reaction: given.Reaction, At: contract.Timestamp(given.At)})
	}
	return StoredMessage{
		Message: eventlog.NewMessage(message, message.Details), Source: string(message.Source), Status: message.Status.String(),
		EditedAt: contract.TimestampOrNil(message.EditedAt), DeletedAt: contract.TimestampOrNil(message.DeletedAt),
		PinnedUntil: contract.TimestampOrNil(message.PinnedUntil), Starred: message.Starred, ClientData: message.ClientData,
		Labels: append([]string{}, message.Labels...), Reactions: reactions,
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
		c.LastMessage = new(newStoredMessage(*listed.Last))
	}
	return c
}

type listChatsInput struct {
	contract.InstancePath
	contract.Paging

	Search   string `query:"search" maxLength:"255" doc:"Only chats with this in their name or number. Case and accents don't count." example:"ana"`
	Unread   string `query:"unread" enum:"true,false" doc:"true: only chats with messages that were not read, or that are marked as unread; false: only the others." example:"true"`
	Archived string `query:"archived" enum:"true,false" doc:"true: only chats that are archived; false: only the others." example:"false"`
	Label    string `query:"label" maxLength:"255" doc:"Only chats with the label that has this ID." example:"7"`
}

// filter is what the query asks for.
func (in *listChatsInput) filter() gateway.ChatFilter {
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

func (r chats) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChats", Tag: tagChats,
		Summary: "List chats",
		Description: "Lists the chats of an instance, the one with the newest message first. It is read from what the gateway has kept; the platform is asked nothing. " +
			"A person has one chat, whichever address their messages came under.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listChatsInput) (contract.Envelope[Chat], error) {
		return contract.Listed(in.Paging, newChat)(r.use.List(ctx, contract.Instance(ctx).ID, in.filter(), in.Request()))
	})
}

// ChatPath is the path of every operation on a chat.
type ChatPath struct {
	contract.InstancePath

	ChatID string `path:"chatId" doc:"The chat: a phone number with country code, a Brazilian mobile number of 11 digits, or a chat ID (a LID too)." example:"5511988887766"`

	with gateway.Recipient
}

// Resolve reads the chat.
func (p *ChatPath) Resolve(huma.Context) []error {
	with, err := gateway.ParseRecipient(p.ChatID)
	if err != nil {
		return contract.Wrong("chatId", err.Error())
	}
	p.with = with
	return nil
}

func (r chats) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getChat", Tag: tagChats,
		Summary: "Get a chat", Description: "Returns a chat, as in the list. Without a message there is no chat.",
		Codes: []string{gateway.CodeValidation, gateway.CodeChatNotFound},
	}, func(ctx context.Context, in *ChatPath) (Chat, error) {
		return contract.Answered(newChat)(r.use.Get(ctx, contract.Instance(ctx).ID, in.with))
	})
}

// messageTypes are the types of messages that a list may be asked for.
const messageTypes = "text, image, video, voice, audio, document, location, contact, sticker, poll, event, album, unsupported"

// MessagesQuery are the parameters of every list of messages.
type MessagesQuery struct {
	Before    string `query:"before" maxLength:"255" doc:"Only messages before this one, which is named in any form, or before this time (ISO 8601)." example:"2026-11-20T14:22:10Z"`
	After     string `query:"after" maxLength:"255" doc:"Only messages after this one, or after this time." example:"3EB0C431C26A1916E07A"`
	Types     string `query:"types" maxLength:"255" doc:"Only messages of these types, with commas between them: text, image, video, voice, audio, document, location, contact, sticker, poll, event, album, unsupported." example:"image,video"`
	Search    string `query:"search" maxLength:"255" doc:"Only messages whose text or caption has all of these words, or words that begin with them. Case and accents don't count." example:"pedido 1042"`
	FromMe    string `query:"fromMe" enum:"true,false" doc:"true: only messages that this account wrote, here or on a device; false: only those of others." example:"false"`
	SentFrom  string `query:"sentFrom" maxLength:"64" doc:"Only messages whose timestamp is this time or later (ISO 8601)." example:"2026-11-20T00:00:00Z"`
	SentUntil string `query:"sentUntil" maxLength:"64" doc:"Only messages whose timestamp is this time or earlier (ISO 8601)." example:"2026-11-20T23:59:59Z"`
	Star      string `query:"starred" enum:"true,false" doc:"true: only messages that are starred; false: only the others." example:"true"`
	Label     string `query:"label" maxLength:"255" doc:"Only messages with the label that has this ID." example:"7"`
	Order     string `query:"order" enum:"desc,asc" default:"desc" doc:"desc: newest first; asc: oldest first." example:"desc"`

	query chat.Query
}

// Resolve reads the query, and names every parameter that is wrong.
func (in *MessagesQuery) Resolve(huma.Context) (errs []error) {
	var wrong []error
	in.query = chat.Query{MessageFilter: gateway.MessageFilter{Search: strings.TrimSpace(in.Search), Label: in.Label, OldestFirst: in.Order == "asc"}}
	in.query.Before, in.query.MessageFilter.Before, wrong = readPosition("before", in.Before, false)
	errs = append(errs, wrong...)
	in.query.After, in.query.MessageFilter.After, wrong = readPosition("after", in.After, true)
	errs = append(errs, wrong...)
	in.query.SentFrom, wrong = readTime("sentFrom", in.SentFrom)
	errs = append(errs, wrong...)
	in.query.SentUntil, wrong = readTime("sentUntil", in.SentUntil)
	errs = append(errs, wrong...)
	if in.FromMe != "" {
		in.query.FromMe = new(in.FromMe == "true")
	}
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

type chatMessagesInput struct {
	ChatPath
	contract.Paging
	MessagesQuery
}

// Resolve names every parameter that is wrong.
func (in *chatMessagesInput) Resolve(ctx huma.Context) []error {
	return slices.Concat(in.ChatPath.Resolve(ctx), in.Paging.Resolve(ctx), in.MessagesQuery.Resolve(ctx))
}

type allMessagesInput struct {
	contract.InstancePath
	contract.Paging
	MessagesQuery
}

// Resolve names every parameter that is wrong.
func (in *allMessagesInput) Resolve(ctx huma.Context) []error {
	return slices.Concat(in.Paging.Resolve(ctx), in.MessagesQuery.Resolve(ctx))
}

// readTime reads a time that may be left out.
func readTime(field, text string) (time.Time, []error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, contract.Wrong(field, "must be a time (ISO 8601), such as 2026-11-20T14:22:10Z")
	}
	return at.UTC(), nil
}

// afterAll comes after every identifier.
const afterAll = "g"

// readPosition reads what names a position among messages: a message or a time.
func readPosition(field, text string, after bool) (*gateway.MessageRef, gateway.Position, []error) {
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

func (r chats) messages() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChatMessages", Tag: tagChats,
		Summary: "List the messages of a chat",
		Description: "Lists the messages of a chat, newest first, in the order in which the gateway got them; those from before the link stand by their time. " +
			"Pages move while messages come in: to read on without gaps, give the last message as `before`, or as `after` with the order `asc`. " +
			"`totalCount` counts 5,000 messages beyond the page at most.",
		Codes: []string{gateway.CodeValidation, gateway.CodeChatNotFound, gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *chatMessagesInput) (contract.Envelope[StoredMessage], error) {
		return contract.Listed(in.Paging, newStoredMessage)(r.use.Messages(ctx, contract.Instance(ctx).ID, in.with, in.query, in.Request()))
	})
}

func (r chats) allMessages() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listMessages", Tag: tagChats,
		Summary: "List or search messages",
		Description: "Lists the messages of all chats of an instance, as the list of a chat's messages does, without status posts. " +
			"A `search` of at least two characters goes through all of them, so it takes longer than one in a chat. `totalCount` counts all.",
		Codes: []string{gateway.CodeValidation, gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *allMessagesInput) (contract.Envelope[StoredMessage], error) {
		in.query.CountAll = true
		return contract.Listed(in.Paging, newStoredMessage)(r.use.Messages(ctx, contract.Instance(ctx).ID, gateway.Recipient{}, in.query, in.Request()))
	})
}

func (r chats) statusPosts() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listStatusPosts", Tag: tagChats,
		Summary: "List status posts",
		Description: "Lists the status posts that this account has written and received since it was linked, newest first, as messages whose `chat` is `status@broadcast` " +
			"and whose `from` is who has posted them. They are in no list of chats. The platform is asked nothing.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[StoredMessage], error) {
		return contract.Listed(in.Paging, newStoredMessage)(r.use.Posts(ctx, contract.Instance(ctx).ID, in.Request()))
	})
}

func (r chats) message() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getMessage", Tag: tagChats,
		Summary:     "Get a message",
		Description: "Returns a message that was sent or received, as the events have it, and how far it has come.",
		Codes:       []string{gateway.CodeValidation, gateway.CodeMessageNotFound},
	}, func(ctx context.Context, in *checkedMessagePath) (StoredMessage, error) {
		return contract.Answered(newStoredMessage)(r.use.Message(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID)))
	})
}

type chatChangeBody struct {
	Archived     *bool   `json:"archived,omitempty" doc:"Whether the chat is archived. Archiving unpins it." example:"true"`
	Pinned       *bool   `json:"pinned,omitempty" doc:"Whether the chat is pinned." example:"false"`
	MutedUntil   *string `json:"mutedUntil,omitempty" nullable:"true" maxLength:"64" doc:"Until when the chat is muted: a time to come (ISO 8601), or forever. Null or empty: no longer." example:"forever"`
	Read         *bool   `json:"read,omitempty" doc:"true: all messages are read, on the devices of the account; their senders get no receipts. false: the chat is marked as unread." example:"true"`
	Disappearing *int64  `json:"disappearingSeconds,omitempty" minimum:"0" maximum:"7776000" doc:"After how many seconds new messages disappear: 86400 (a day), 604800 (a week) or 7776000 (90 days); 0: never. Everybody in the chat is told." example:"604800"`
}

type changeChatInput struct {
	ChatPath
	contract.JSON[chatChangeBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changeChatInput) change(now time.Time) (gateway.ChatChange, error) {
	if err := in.RefuseUnknown(); err != nil {
		return gateway.ChatChange{}, err
	}
	given := in.Given()
	var wrong fieldErrors
	wrong.refuseNull(in, "archived", "pinned", "read", "disappearingSeconds")
	change := gateway.ChatChange{Archived: given.Archived, Pinned: given.Pinned, Read: given.Read}
	if given.Archived != nil && *given.Archived && given.Pinned != nil && *given.Pinned {
		wrong.add("pinned", "must not be true with archived: an archived chat is not pinned")
	}
	if until, problem := mutedUntil(given.MutedUntil, in.IsNull("mutedUntil"), now); problem != "" {
		wrong.add("mutedUntil", problem)
	} else {
		change.MutedUntil = until
	}
	change.Disappearing = wrong.disappearing("disappearingSeconds", given.Disappearing)
	if len(wrong) == 0 && change == (gateway.ChatChange{}) {
		return change, nothingToChange()
	}
	return change, wrong.err()
}

// mutedUntil reads the end of a mute; nil if the field is absent.
func mutedUntil(given *string, null bool, now time.Time) (until *time.Time, problem string) {
	switch {
	case null || given != nil && *given == "":
		return &time.Time{}, ""
	case given == nil:
		return nil, ""
	case *given == eventlog.Forever:
		return new(gateway.MutedForever()), ""
	}
	end, err := time.Parse(time.RFC3339, *given)
	switch {
	case err != nil:
		return nil, "must be a time (ISO 8601), forever, or empty"
	case !end.After(now):
		return nil, "must be a time to come"
	case !end.Before(gateway.MutedForever()):
		return nil, "is too far away: say forever"
	}
	return new(end.UTC()), ""
}

func (r chats) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeChat", Tag: tagChats,
		Summary: "Change how a chat is arranged",
		Description: "Changes what the body names and leaves the rest, on all devices of the account: the phone shows it too. " +
			"If a field is wrong, nothing is changed. The platform has a request for each kind of setting, so if it refuses one, others may have been changed. " +
			"How long messages of a group stay is one of the group's settings, which its administrators may have kept for themselves.",
		Codes: chatCodes(gateway.CodeChatNotFound, gateway.CodeGroupNotFound, gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused),
	}, func(ctx context.Context, in *changeChatInput) (Chat, error) {
		change, err := in.change(r.now())
		if err != nil {
			return Chat{}, err
		}
		return contract.Answered(newChat)(r.use.Change(ctx, contract.Instance(ctx).ID, in.with, change))
	})
}

func (r chats) delete() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "deleteChat", Tag: tagChats,
		Summary: "Delete a chat",
		Description: "Deletes a chat on all devices of the account, and its messages and their files here. Those who are in the chat keep theirs. " +
			"A message that comes later begins the chat anew.",
		Codes: chatCodes(gateway.CodeChatNotFound),
	}, func(ctx context.Context, in *ChatPath) error {
		return r.use.Delete(ctx, contract.Instance(ctx).ID, in.with)
	})
}

func (r chats) star() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagChats, Codes: chatCodes(gateway.CodeMessageNotFound)},
		contract.Named{
			ID: "starMessage", Summary: "Star a message",
			Description: "Stars a message, on all devices of the account; nobody else sees it. `starred=true` in the list of a chat's messages finds it again.",
		},
		contract.Named{ID: "unstarMessage", Summary: "Take the star of a message away", Description: "Takes the star of a message away, on all devices of the account."},
		func(ctx context.Context, in *checkedMessagePath, on bool) error {
			return r.use.Star(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID), on)
		})
}

func (r chats) deleteForMe() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "deleteMessageForMe", Tag: tagChats,
		Summary: "Delete a message for this account alone",
		Description: "Deletes a message from all devices of the account, and its content and file here. It may be anybody's, of any age. " +
			"The others in the chat keep it, and learn nothing of this.",
		Codes: chatCodes(gateway.CodeMessageNotFound, gateway.CodeMessageBeingSent),
	}, func(ctx context.Context, in *checkedMessagePath) error {
		return r.use.DeleteForMe(ctx, contract.Instance(ctx).ID, messageRef(in.MessageID))
	})
}

type requestHistoryBody struct {
	Count *int64 `json:"count,omitempty" minimum:"1" maximum:"50" doc:"How many messages: 50 at most. Left out: 50." example:"50"`
}

type olderInput struct {
	ChatPath
	contract.JSON[requestHistoryBody]
}

// HistoryRequest is a request that the phone has to answer.
type HistoryRequest struct {
	RequestID string  `json:"requestId" doc:"The event chat.history names it." example:"3EB0A1B2C3D4E5F60718"`
	Chat      string  `json:"chat" doc:"The chat: by number where the number is known, else by LID; the group's ID for a group."`
	ChatLID   *string `json:"chatLid" nullable:"true" doc:"The chat's LID; null for a group, and where it is not known."`
	Before    string  `json:"before" doc:"The oldest message that is kept: those before it are asked for." example:"3EB0F1E2D3C4B5A69788"`
	Count     int64   `json:"count" doc:"How many are asked for." example:"50"`
}

func (r chats) older() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "requestHistory", Tag: tagChats, Status: http.StatusAccepted,
		Summary: "Request older messages",
		Description: "Asks the phone for messages of the chat that are older than the oldest which is kept. It has to be online, and may take a while: " +
			"the event `chat.history` says how many have come, and whether there are more, or that the phone has not answered within two minutes. " +
			"The messages are read with the others of the chat; they cause no events of their own, are not unread, and are kept as long as others of their age. " +
			"One request for a chat at a time.",
		Codes: []string{
			gateway.CodeValidation, gateway.CodeChatNotFound, gateway.CodeMessageNotFound, gateway.CodeNotConnected, gateway.CodeHistoryPending,
			gateway.CodePaymentRequired, gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout,
		},
	}, func(ctx context.Context, in *olderInput) (HistoryRequest, error) {
		if err := in.RefuseUnknown(); err != nil {
			return HistoryRequest{}, err
		}
		if in.IsNull("count") {
			return HistoryRequest{}, gateway.InvalidField("count", "must not be null: leave it out for 50")
		}
		count := int64(chat.MaxOlder)
		if given := in.Given().Count; given != nil {
			count = *given
		}
		asked, err := r.use.RequestOlder(ctx, contract.Instance(ctx).ID, in.with, int(count))
		if err != nil {
			return HistoryRequest{}, err
		}
		return HistoryRequest{
			RequestID: asked.RequestID, Chat: string(asked.Chat.Address()), ChatLID: contract.TextOrNil(string(asked.Chat.LID)), Before: asked.Before, Count: int64(asked.Count),
		}, nil
	})
}
