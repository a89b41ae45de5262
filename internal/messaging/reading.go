// The messages as people look at them: the chats of an instance, and one chat.

package messaging

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/unanswered"
)

const (
	// chatsWindow is how many messages of an instance are looked at for its list of chats,
	// the newest. There is no index of chats: every message would pay for it.
	chatsWindow = 1_000
	// chatWindow is how many messages of an instance are searched for those of a chat.
	chatWindow = 3_000
	// chatPage is how many messages of a chat are shown at once.
	chatPage = 30
)

// Chat is a chat as it stands in a list.
type Chat struct {
	Party gateway.Party   // with a name where one is known
	Last  gateway.Message // the newest one; Details are not set
	Count int             // how many of the messages that were looked at are in it
}

// ChatPage is a part of a chat.
type ChatPage struct {
	Party    gateway.Party     // with a name where one is known
	Messages []gateway.Message // oldest first, with their Details; those that were deleted have none
	// Older is where the next page begins, with older messages. It is the zero position if
	// there are none. A page before it may be empty: the search for messages is bounded.
	Older gateway.Position
}

// Chats returns a page of the chats of an instance, the one with the newest message first.
// It knows the chats of the newest thousand messages.
func (s *Service) Chats(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[Chat], error) {
	heads, err := s.config.Store.NewestMessages(ctx, instanceID, gateway.Position{}, chatsWindow)
	if err != nil {
		return gateway.Page[Chat]{}, fmt.Errorf("messaging: list chats: %w", err)
	}
	all := groupByChat(heads)
	first := min(page.Offset(), len(all))
	shown := all[first:min(first+page.Limit, len(all))]
	ids := make([]string, 0, len(shown))
	for _, chat := range shown {
		ids = append(ids, chat.Last.ID)
	}
	messages, err := s.config.Store.MessagesByID(ctx, instanceID, ids)
	if err != nil {
		return gateway.Page[Chat]{}, fmt.Errorf("messaging: list chats: %w", err)
	}
	for n := range shown {
		// One that is gone meanwhile keeps its place, without content.
		for _, message := range messages {
			if message.ID == shown[n].Last.ID {
				shown[n].Last = message
			}
		}
	}
	return gateway.Page[Chat]{Items: shown, Total: len(all)}, nil
}

// groupByChat makes the chats of messages that are given newest first.
func groupByChat(messages []gateway.Message) []Chat {
	lids := map[gateway.JID]gateway.JID{} // by the number: older messages may not have it
	for _, message := range messages {
		if chat := message.Chat; chat.JID != "" && chat.LID != "" {
			lids[chat.JID] = chat.LID
		}
	}
	var chats []Chat
	places := map[gateway.JID]int{}
	for _, message := range messages {
		key := message.Chat.Key()
		if lid, ok := lids[key]; ok {
			key = lid
		}
		place, ok := places[key]
		if !ok {
			place = len(chats)
			places[key] = place
			chats = append(chats, Chat{Last: message})
		}
		chats[place].Count++
		learn(&chats[place].Party, message)
	}
	return chats
}

// learn adds to what is known of a chat what one of its older messages says. A person has
// the name that stands in their messages.
func learn(chat *gateway.Party, message gateway.Message) {
	chat.JID = cmp.Or(chat.JID, message.Chat.JID)
	chat.LID = cmp.Or(chat.LID, message.Chat.LID)
	chat.Name = cmp.Or(chat.Name, message.Chat.Name)
	if !chat.JID.IsGroup() && !message.FromMe {
		chat.Name = cmp.Or(chat.Name, message.Sender.Name)
	}
}

// Chat returns the newest messages of a chat that were stored before a position. It finds
// the chat by the addresses that are given, as Chats returns them: one is enough, but finds
// no messages that have only the other.
func (s *Service) Chat(ctx context.Context, instanceID string, chat gateway.Party, before gateway.Position) (ChatPage, error) {
	messages, end, err := s.config.Store.NewestOfChat(ctx, instanceID, chat, before, chatWindow, chatPage+1)
	if err != nil {
		return ChatPage{}, fmt.Errorf("messaging: read chat: %w", err)
	}
	if len(messages) > chatPage {
		messages = messages[:chatPage]
		end = messages[chatPage-1].Position()
	}
	for n := range messages {
		learn(&chat, messages[n])
		if messages[n].Details, err = s.describe(ctx, messages[n]); err != nil {
			return ChatPage{}, err
		}
	}
	slices.Reverse(messages)
	return ChatPage{Party: chat, Messages: messages, Older: end}, nil
}

// describe reads what a message holds besides its text. One that was deleted holds nothing.
func (s *Service) describe(ctx context.Context, message gateway.Message) (gateway.Details, error) {
	if !message.DeletedAt.IsZero() {
		return gateway.Details{}, nil
	}
	details, err := s.config.Encoder.Describe(ctx, message.Payload)
	if err != nil {
		return gateway.Details{}, fmt.Errorf("messaging: describe message: %w", err)
	}
	return details, nil
}

// Unanswered counts the people to whom the instance has written in the last days, and those
// who have not written since the first of these messages. It reads every message of these
// days; nothing is counted as messages flow.
func (s *Service) Unanswered(ctx context.Context, instanceID string) (gateway.Unanswered, error) {
	since := s.config.Now().Add(-unanswered.Days * 24 * time.Hour)
	correspondence, err := s.config.Store.ListCorrespondence(ctx, instanceID, since)
	if err != nil {
		return gateway.Unanswered{}, fmt.Errorf("messaging: count messages without an answer: %w", err)
	}
	return unanswered.Count(correspondence), nil
}
