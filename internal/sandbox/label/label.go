// Package label is the labels of a phone, and where its owner puts them: on chats and on
// messages. All devices of an account have them, by the app state.
package label

import (
	"cmp"
	"context"
	"slices"
	"strings"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/setting"
)

// Service reads and changes labels. It is safe for concurrent use.
type Service struct {
	chats    chat.Finder
	settings *setting.Service
}

// New returns the service.
func New(chats chat.Finder, settings *setting.Service) *Service { return &Service{chats, settings} }

// Label is a label as a phone shows it.
type Label struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Color    int32    `json:"color"`
	Chats    []string `json:"chats"`    // chat IDs, people by number
	Messages []string `json:"messages"` // the identifiers of messages
}

// Of returns the labels on the phone of a number, in the order of their identifiers.
func (s *Service) Of(ctx context.Context, number string) ([]Label, error) {
	of, err := s.chats.Accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	edits, err := s.settings.Values(ctx, of, wmstate.IndexLabelEdit)
	if err != nil {
		return nil, err
	}
	labels := map[string]*Label{}
	for _, edit := range edits {
		if action := edit.Value.GetLabelEditAction(); len(edit.Index) == 2 && !action.GetDeleted() {
			labels[edit.Index[1]] = &Label{edit.Index[1], action.GetName(), action.GetColor(), []string{}, []string{}}
		}
	}
	for _, kind := range []string{wmstate.IndexLabelAssociationChat, wmstate.IndexLabelAssociationMessage} {
		values, err := s.settings.Values(ctx, of, kind)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			if err := s.put(ctx, labels, value); err != nil {
				return nil, err
			}
		}
	}
	all := []Label{}
	for _, label := range labels {
		all = append(all, *label)
	}
	slices.SortFunc(all, func(a, b Label) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// put shows a label where it is. It leaves out what makes no sense: clients set what they like.
func (s *Service) put(ctx context.Context, labels map[string]*Label, value appstate.Mutation) error {
	if len(value.Index) < 3 || labels[value.Index[1]] == nil || !value.Value.GetLabelAssociationAction().GetLabeled() {
		return nil
	}
	jid, err := types.ParseJID(value.Index[2])
	if err != nil {
		return nil //nolint:nilerr // it is no chat
	}
	where, known, err := s.chats.At(ctx, jid)
	if err != nil || !known {
		return err
	}
	label := labels[value.Index[1]]
	if value.Index[0] == wmstate.IndexLabelAssociationChat {
		label.Chats = append(label.Chats, where.JID().String())
	} else if len(value.Index) > 3 {
		label.Messages = append(label.Messages, value.Index[3])
	}
	return nil
}

// Set lets the owner of a phone make a label, or change one.
func (s *Service) Set(ctx context.Context, number, id, name string, color int32) error {
	of, err := s.named(ctx, number, id)
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return refusal.Invalidf("name", "must not be empty")
	}
	return s.settings.Set(ctx, of, wmstate.BuildLabelEdit(id, name, color, false))
}

// Delete lets the owner of a phone delete a label. It is taken from wherever it is.
func (s *Service) Delete(ctx context.Context, number, id string) error {
	of, err := s.named(ctx, number, id)
	if err != nil {
		return err
	}
	return s.settings.Set(ctx, of, wmstate.BuildLabelEdit(id, "", 0, true))
}

// PutOnChat lets the owner of a phone put a label on a chat, or take it away.
func (s *Service) PutOnChat(ctx context.Context, number, name, id string, on bool) error {
	of, err := s.named(ctx, number, id)
	if err != nil {
		return err
	}
	where, err := s.chats.Named(ctx, "chat", name)
	if err != nil {
		return err
	}
	return s.settings.Set(ctx, of, wmstate.BuildLabelChat(address(where), id, on))
}

// PutOnMessage lets the owner of a phone put a label on a message, or take it away.
func (s *Service) PutOnMessage(ctx context.Context, number, messageID, id string, on bool) error {
	of, err := s.named(ctx, number, id)
	if err != nil {
		return err
	}
	chats, err := database.Strings(ctx, s.chats.Accounts.DB.Reader(), "SELECT chat FROM messages WHERE number = $1 AND id = $2", of.Number, messageID)
	if err != nil {
		return err
	}
	if len(chats) == 0 {
		return refusal.NotFoundf("the phone has no such message")
	}
	where, err := s.chats.Named(ctx, "chat", chats[0])
	if err != nil {
		return err
	}
	return s.settings.Set(ctx, of, wmstate.BuildLabelMessage(address(where), id, messageID, on))
}

// address is a chat in the app state, people by LID.
func address(where chat.Chat) types.JID {
	if where.Person != nil {
		return where.Person.LIDJID()
	}
	return where.JID()
}

func (s *Service) named(ctx context.Context, number, id string) (*account.Account, error) {
	if strings.TrimSpace(id) == "" {
		return nil, refusal.Invalidf("label", "must not be empty")
	}
	return s.chats.Accounts.Named(ctx, number)
}
