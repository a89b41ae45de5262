// Package chatstate is what people do with the chats on their phones: archive, pin, mute, mark
// as read or unread, delete; and with messages: star, delete for themselves. All devices of an account see it, by the app state.
package chatstate

import (
	"context"
	"fmt"
	"time"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service reads and changes how chats are arranged. It is safe for concurrent use.
type Service struct {
	chats    chat.Finder
	settings *setting.Service
	db       *sqlite.DB
}

// New returns the service.
func New(chats chat.Finder, settings *setting.Service) *Service {
	return &Service{chats: chats, settings: settings, db: chats.Accounts.DB}
}

// Forever is a mute without an end.
const Forever = "forever"

// State is how a phone shows a chat. Only chats of which something was set have one.
type State struct {
	Chat         string `json:"chat"` // a chat ID, people by number
	Archived     bool   `json:"archived"`
	Pinned       bool   `json:"pinned"`
	MutedUntil   string `json:"mutedUntil"` // ISO 8601, Forever, or "" for not
	MarkedUnread bool   `json:"markedUnread"`
	Disappearing int    `json:"disappearingSeconds"` // of a chat with a person
}

// Change is what a person does with a chat; what is nil stays as it is.
type Change struct {
	Archived, Pinned, Read *bool
	MutedUntil             *string // a time (ISO 8601), Forever, or "" for no longer
}

// Of returns how the chats on the phone of a number are arranged.
func (s *Service) Of(ctx context.Context, number string) ([]State, error) {
	of, err := s.chats.Accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	found := states{service: s, byChat: map[string]*State{}}
	for _, kind := range []string{wmstate.IndexArchive, wmstate.IndexPin, wmstate.IndexMute, wmstate.IndexMarkChatAsRead} {
		values, err := s.settings.Values(ctx, of, kind)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			if len(value.Index) < 2 {
				continue
			}
			if err := found.change(ctx, value.Index[1], func(state *State) { state.apply(value) }); err != nil {
				return nil, err
			}
		}
	}
	timers, err := database.Strings(ctx, s.db.Reader(), "SELECT chat || ' ' || seconds FROM timers WHERE number = $1 ORDER BY chat", of.Number)
	if err != nil {
		return nil, fmt.Errorf("chatstate: read timers: %w", err)
	}
	for _, timer := range timers {
		var name string
		var seconds int
		if _, err := fmt.Sscan(timer, &name, &seconds); err != nil {
			return nil, fmt.Errorf("chatstate: read timers: %w", err)
		}
		if err := found.change(ctx, name, func(state *State) { state.Disappearing = seconds }); err != nil {
			return nil, err
		}
	}
	all := make([]State, len(found.order))
	for n, state := range found.order {
		all[n] = *state
	}
	return all, nil
}

// states are the states of chats, in the order in which something was found of them.
type states struct {
	service *Service
	byChat  map[string]*State
	order   []*State
}

// change changes the state of a chat. It leaves out what is no chat: clients set what they like.
func (s *states) change(ctx context.Context, name string, by func(state *State)) error {
	jid, err := types.ParseJID(name)
	if err != nil {
		return nil //nolint:nilerr // it is no chat
	}
	where, known, err := s.service.chats.At(ctx, jid)
	if err != nil || !known {
		return err
	}
	id := where.JID().String()
	if s.byChat[id] == nil {
		s.byChat[id] = &State{Chat: id}
		s.order = append(s.order, s.byChat[id])
	}
	by(s.byChat[id])
	return nil
}

// apply sets what a setting says.
func (s *State) apply(value appstate.Mutation) {
	switch value.Index[0] {
	case wmstate.IndexArchive:
		s.Archived = value.Value.GetArchiveChatAction().GetArchived()
	case wmstate.IndexPin:
		s.Pinned = value.Value.GetPinAction().GetPinned()
	case wmstate.IndexMarkChatAsRead:
		s.MarkedUnread = !value.Value.GetMarkChatAsReadAction().GetRead()
	case wmstate.IndexMute:
		action := value.Value.GetMuteAction()
		switch {
		case !action.GetMuted():
			s.MutedUntil = ""
		case action.GetMuteEndTimestamp() <= 0:
			s.MutedUntil = Forever
		default:
			s.MutedUntil = account.Timestamp(time.UnixMilli(action.GetMuteEndTimestamp()))
		}
	}
}

// Change lets the owner of a phone arrange a chat.
func (s *Service) Change(ctx context.Context, number, name string, change Change) error {
	of, where, err := s.find(ctx, number, name)
	if err != nil {
		return err
	}
	to, last, err := s.addressed(ctx, of, where)
	if err != nil {
		return err
	}
	if change.MutedUntil != nil {
		info, err := mute(to, *change.MutedUntil)
		if err != nil {
			return err
		}
		if err := s.settings.Set(ctx, of, info); err != nil {
			return err
		}
	}
	low := wmstate.PatchInfo{Type: wmstate.WAPatchRegularLow}
	if change.Archived != nil {
		low.Mutations = append(low.Mutations, wmstate.BuildArchive(to, *change.Archived, last, nil).Mutations...)
	}
	if change.Pinned != nil {
		low.Mutations = append(low.Mutations, wmstate.BuildPin(to, *change.Pinned).Mutations...)
	}
	if change.Read != nil {
		low.Mutations = append(low.Mutations, wmstate.BuildMarkChatAsRead(to, *change.Read, last, nil).Mutations...)
	}
	if len(low.Mutations) == 0 {
		return nil
	}
	return s.settings.Set(ctx, of, low)
}

func mute(to types.JID, until string) (wmstate.PatchInfo, error) {
	switch until {
	case "":
		return wmstate.BuildMuteAbs(to, false, nil), nil
	case Forever:
		return wmstate.BuildMuteAbs(to, true, nil), nil
	}
	end, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return wmstate.PatchInfo{}, refusal.Invalidf("mutedUntil", "must be a time (ISO 8601), %q, or empty", Forever)
	}
	return wmstate.BuildMuteAbs(to, true, new(end.UnixMilli())), nil
}

// Delete lets the owner of a phone delete a chat, with its messages.
func (s *Service) Delete(ctx context.Context, number, name string) error {
	of, where, err := s.find(ctx, number, name)
	if err != nil {
		return err
	}
	to, last, err := s.addressed(ctx, of, where)
	if err != nil {
		return err
	}
	return s.settings.Set(ctx, of, wmstate.BuildDeleteChat(to, last, nil, true))
}

// keepStarred is the part of an index that says that messages which are starred stay.
const keepStarred = "0"

// Clear lets the owner of a phone delete the messages of a chat, which stays; with those that are
// starred or without.
func (s *Service) Clear(ctx context.Context, number, name string, starred bool) error {
	of, where, err := s.find(ctx, number, name)
	if err != nil {
		return err
	}
	to, last, err := s.addressed(ctx, of, where)
	if err != nil {
		return err
	}
	index := []string{wmstate.IndexClearChat, to.String(), "1", "1"}
	if !starred {
		index[2] = keepStarred
	}
	return s.settings.Set(ctx, of, wmstate.PatchInfo{
		Type: wmstate.WAPatchRegularHigh,
		Mutations: []wmstate.MutationInfo{{
			Index: index, Version: 6,
			Value: &waSyncAction.SyncActionValue{ClearChatAction: &waSyncAction.ClearChatAction{
				MessageRange: &waSyncAction.SyncActionMessageRange{LastMessageTimestamp: new(last.Unix())},
			}},
		}},
	})
}

func (s *Service) find(ctx context.Context, number, name string) (*account.Account, chat.Chat, error) {
	of, err := s.chats.Accounts.Named(ctx, number)
	if err != nil {
		return nil, chat.Chat{}, err
	}
	where, err := s.chats.Named(ctx, "chat", name)
	return of, where, err
}

// addressed returns the address of a chat in the app state, people by LID, and when its last
// message was sent; the zero time if there is none.
func (s *Service) addressed(ctx context.Context, of *account.Account, where chat.Chat) (to types.JID, last time.Time, err error) {
	to = where.JID()
	if where.Person != nil {
		to = where.Person.LIDJID()
	}
	at, err := database.Ints(ctx, s.db.Reader(), "SELECT at FROM messages WHERE number = $1 AND chat = $2 ORDER BY seq DESC LIMIT 1",
		of.Number, where.JID().String())
	if err != nil {
		return to, last, fmt.Errorf("chatstate: find the last message: %w", err)
	}
	if len(at) > 0 {
		last = time.UnixMilli(at[0])
	}
	return to, last, nil
}
