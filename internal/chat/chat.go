// Package chat holds the use cases of chats: which there are, the messages of a chat, one
// message; and how the account's owner arranges them. Reading asks the platform nothing: what
// this program has kept is read.
package chat

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// Store finds chats and messages.
type Store interface {
	Finder
	MessageFinder
	LabelFinder
}

// Finder finds chats, and their messages.
type Finder interface {
	ListChats(ctx context.Context, instanceID string, filter gateway.ChatFilter, page gateway.PageRequest) (gateway.Page[gateway.Chat], error)
	FindChat(ctx context.Context, instanceID string, party gateway.Party) (gateway.Chat, bool, error)
	ListMessages(ctx context.Context, instanceID string, filter gateway.MessageFilter, page gateway.PageRequest) (gateway.Page[gateway.Message], error)
	ChatsOfMessages(ctx context.Context, instanceID string, messageIDs []string) (map[string]gateway.Chat, error)
}

// MessageFinder finds messages by their identifiers, and the reactions to them in the order in which they were given.
type MessageFinder interface {
	FindMessages(ctx context.Context, instanceID, id string) ([]gateway.Message, error)
	MessagesByID(ctx context.Context, instanceID string, ids []string) ([]gateway.Message, error)
	ListReactions(ctx context.Context, messageIDs []string) ([]gateway.StoredReaction, error)
}

// LabelFinder finds the labels of chats and messages.
type LabelFinder interface {
	LabelsOfChats(ctx context.Context, instanceID string, chatIDs []string) (map[string][]string, error)
	LabelsOfMessages(ctx context.Context, instanceID string, messageIDs []string) (map[string][]string, error)
}

// MaxReactions bounds how many reactions to a message are read: as many as a large group has members.
const MaxReactions = 1000

// Directory knows the addresses of people.
type Directory interface {
	// Candidates returns the addresses that a recipient may have, without asking the
	// platform.
	Candidates(ctx context.Context, to gateway.Recipient) ([]gateway.Party, error)
}

// Describer reads what the payload of a message holds besides its text.
type Describer interface {
	Describe(ctx context.Context, payload []byte) (gateway.Details, error)
}

// Config is what the service stands on. All of it is required.
type Config struct {
	Store     Store
	Directory Directory
	Describer Describer
	Sessions  gateway.Sessions
	Recorder  *Recorder
	Now       func() time.Time
}

// Service carries out the use cases. It is safe for concurrent use.
type Service struct{ config Config }

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("chat", config); err != nil {
		return nil, err
	}
	return &Service{config}, nil
}

// Listed is a chat with its newest message, which is nil if it was removed.
type Listed struct {
	gateway.Chat

	Last *gateway.Message
}

// List returns a page of the chats of an instance, the one with the newest message first.
func (s *Service) List(
	ctx context.Context, instanceID string, filter gateway.ChatFilter, request gateway.PageRequest,
) (page gateway.Page[Listed], err error) {
	found, err := s.config.Store.ListChats(ctx, instanceID, filter, request)
	if err != nil {
		return page, fmt.Errorf("chat: list chats: %w", err)
	}
	page.Total = found.Total
	page.Items, err = s.withLast(ctx, instanceID, found.Items)
	return page, err
}

// Get returns the chat of an instance with somebody, or in a group. Its error is NotFound.
func (s *Service) Get(ctx context.Context, instanceID string, with gateway.Recipient) (Listed, error) {
	found, err := s.Find(ctx, instanceID, with)
	if err != nil {
		return Listed{}, err
	}
	listed, err := s.withLast(ctx, instanceID, []gateway.Chat{found})
	if err != nil {
		return Listed{}, err
	}
	return listed[0], nil
}

// Find is Get without the newest message and the labels.
func (s *Service) Find(ctx context.Context, instanceID string, with gateway.Recipient) (gateway.Chat, error) {
	candidates, err := s.config.Directory.Candidates(ctx, with)
	if err != nil {
		return gateway.Chat{}, fmt.Errorf("chat: find a chat: %w", err)
	}
	for _, party := range candidates {
		found, ok, err := s.config.Store.FindChat(ctx, instanceID, party)
		if err != nil {
			return gateway.Chat{}, fmt.Errorf("chat: find a chat: %w", err)
		}
		if ok {
			return found, nil
		}
	}
	return gateway.Chat{}, gateway.Errorf(gateway.NotFound, gateway.CodeChatNotFound,
		"the instance has no chat with this number or chat ID")
}

// withLast adds their newest messages and their labels to chats.
func (s *Service) withLast(ctx context.Context, instanceID string, chats []gateway.Chat) ([]Listed, error) {
	if err := s.labelChats(ctx, instanceID, chats); err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(chats))
	for _, chat := range chats {
		if chat.LastID != "" {
			ids = append(ids, chat.LastID)
		}
	}
	messages, err := s.config.Store.MessagesByID(ctx, instanceID, ids)
	if err != nil {
		return nil, fmt.Errorf("chat: read the newest messages: %w", err)
	}
	if err := s.complete(ctx, instanceID, messages); err != nil {
		return nil, err
	}
	byID := make(map[string]*gateway.Message, len(messages))
	for n := range messages {
		byID[messages[n].ID] = &messages[n]
	}
	listed := make([]Listed, len(chats))
	for n, chat := range chats {
		listed[n] = Listed{Chat: chat, Last: byID[chat.LastID]}
	}
	return listed, nil
}

// Query chooses messages.
type Query struct {
	gateway.MessageFilter

	// Before and After name messages; nil: the positions of the filter count.
	Before, After *gateway.MessageRef
}

// MinSearch is how many characters a search of messages over all chats must have: it reads them all.
const MinSearch = 2

// Messages returns a page of the messages of an instance: of the chat with somebody, or in a group; of
// all chats, without status posts, if with is the zero value. Its error is NotFound if there is no such
// chat, or if a message that the query names is not there. It is Invalid for a search over all chats that
// is too short.
func (s *Service) Messages(
	ctx context.Context, instanceID string, with gateway.Recipient, query Query, request gateway.PageRequest,
) (page gateway.Page[gateway.Message], err error) {
	filter := query.MessageFilter
	var found gateway.Chat
	if with != (gateway.Recipient{}) {
		if found, err = s.Find(ctx, instanceID, with); err != nil {
			return page, err
		}
		filter.ChatID = found.ID
	} else if n := utf8.RuneCountInString(filter.Search); n > 0 && n < MinSearch {
		return page, gateway.InvalidField("search", fmt.Sprintf("must have at least %d characters", MinSearch))
	}
	if filter.Before, err = s.position(ctx, instanceID, found.Party, query.Before, filter.Before); err != nil {
		return page, err
	}
	if filter.After, err = s.position(ctx, instanceID, found.Party, query.After, filter.After); err != nil {
		return page, err
	}
	if page, err = s.config.Store.ListMessages(ctx, instanceID, filter, request); err != nil {
		return page, wrapped("list messages", err)
	}
	return page, s.complete(ctx, instanceID, page.Items)
}

// ChatsOf returns the chats that messages of an instance are in, by the internal identifiers of the
// messages.
func (s *Service) ChatsOf(ctx context.Context, instanceID string, messages []gateway.Message) (map[string]gateway.Chat, error) {
	ids := make([]string, len(messages))
	for n, message := range messages {
		ids[n] = message.ID
	}
	chats, err := s.config.Store.ChatsOfMessages(ctx, instanceID, ids)
	return chats, wrapped("find the chats of messages", err)
}

// Posts returns a page of the status posts that the instance has written and received, newest
// first.
func (s *Service) Posts(ctx context.Context, instanceID string, request gateway.PageRequest) (page gateway.Page[gateway.Message], err error) {
	found, ok, err := s.config.Store.FindChat(ctx, instanceID, gateway.Party{JID: gateway.StatusChat})
	if err != nil || !ok {
		return page, wrapped("find the status posts", err)
	}
	if page, err = s.config.Store.ListMessages(ctx, instanceID, gateway.MessageFilter{ChatID: found.ID}, request); err != nil {
		return page, wrapped("list status posts", err)
	}
	return page, s.complete(ctx, instanceID, page.Items)
}

// wrapped says in an error what was being done; it leaves nil as it is.
func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("chat: %s: %w", doing, err)
}

// position is where a message is, of one chat unless in is the zero value; or else the position that is
// given.
func (s *Service) position(
	ctx context.Context, instanceID string, in gateway.Party, ref *gateway.MessageRef, given gateway.Position,
) (gateway.Position, error) {
	if ref == nil {
		return given, nil
	}
	if in == (gateway.Party{}) {
		message, err := s.named(ctx, instanceID, *ref)
		return message.Position(), err
	}
	messages, err := s.config.Store.FindMessages(ctx, instanceID, ref.ID)
	if err != nil {
		return given, fmt.Errorf("chat: find a message: %w", err)
	}
	for _, message := range messages {
		if message.Chat.Is(in.JID) || message.Chat.Is(in.LID) {
			return message.Position(), nil
		}
	}
	return given, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the chat has no message with the identifier %q", ref.ID)
}

// Message returns the message of an instance that ref names. If two chats hold the same
// identifier, it is the message in the chat of ref, or else the older one. Its error is
// NotFound.
func (s *Service) Message(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Message, error) {
	message, err := s.named(ctx, instanceID, ref)
	if err != nil {
		return message, err
	}
	one := []gateway.Message{message}
	err = s.complete(ctx, instanceID, one)
	return one[0], err
}

// named is Message without the description.
func (s *Service) named(ctx context.Context, instanceID string, ref gateway.MessageRef) (gateway.Message, error) {
	found, err := s.config.Store.FindMessages(ctx, instanceID, ref.ID)
	if err != nil {
		return gateway.Message{}, fmt.Errorf("chat: find a message: %w", err)
	}
	if len(found) == 0 {
		return gateway.Message{}, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound,
			"the instance has no message with this identifier")
	}
	message := found[0]
	for _, other := range found {
		if other.Chat.Is(ref.Chat) {
			message = other
			break
		}
	}
	return message, nil
}

// complete adds to messages what they hold besides their text, their labels and the reactions to them.
func (s *Service) complete(ctx context.Context, instanceID string, messages []gateway.Message) error {
	ids := make([]string, len(messages))
	for n := range messages {
		if err := s.describe(ctx, &messages[n]); err != nil {
			return err
		}
		ids[n] = messages[n].ID
	}
	labels, err := s.config.Store.LabelsOfMessages(ctx, instanceID, ids)
	if err != nil {
		return fmt.Errorf("chat: read the labels of messages: %w", err)
	}
	reactions, err := s.config.Store.ListReactions(ctx, ids)
	if err != nil {
		return fmt.Errorf("chat: read the reactions to messages: %w", err)
	}
	given := make(map[string][]gateway.StoredReaction)
	for _, reaction := range reactions {
		if of := given[reaction.MessageID]; len(of) < MaxReactions {
			given[reaction.MessageID] = append(of, reaction)
		}
	}
	for n := range messages {
		messages[n].Labels = labels[messages[n].ID]
		if messages[n].DeletedAt.IsZero() {
			messages[n].Reactions = given[messages[n].ID]
		}
	}
	return nil
}

func (s *Service) labelChats(ctx context.Context, instanceID string, chats []gateway.Chat) error {
	ids := make([]string, len(chats))
	for n, chat := range chats {
		ids[n] = chat.ID
	}
	labels, err := s.config.Store.LabelsOfChats(ctx, instanceID, ids)
	if err != nil {
		return fmt.Errorf("chat: read the labels of chats: %w", err)
	}
	for n := range chats {
		chats[n].Labels = labels[chats[n].ID]
	}
	return nil
}

// describe reads what a message holds besides its text. One that was deleted holds nothing, and
// a pin whose time has come is none.
func (s *Service) describe(ctx context.Context, message *gateway.Message) error {
	if !message.PinnedUntil.After(s.config.Now()) {
		message.PinnedUntil = time.Time{}
	}
	if !message.DeletedAt.IsZero() {
		return nil
	}
	var err error
	if message.Details, err = s.config.Describer.Describe(ctx, message.Payload); err != nil {
		return fmt.Errorf("chat: describe a message: %w", err)
	}
	return nil
}
