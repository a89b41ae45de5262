// What people do with messages on their phones, for themselves alone: star, delete.

package chatstate

import (
	"context"
	"fmt"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// deletionVersion is the version of the format of a deletion in the app state.
const deletionVersion = 3

// Star lets the owner of a phone star a message, or take the star away.
func (s *Service) Star(ctx context.Context, number, messageID string, starred bool) error {
	of, m, err := s.shown(ctx, number, messageID)
	if err != nil {
		return err
	}
	return s.settings.Set(ctx, of, wmstate.BuildStar(m.chat, m.participant(), messageID, m.fromMe, starred))
}

// DeleteForMe lets the owner of a phone delete a message from the account's own devices.
func (s *Service) DeleteForMe(ctx context.Context, number, messageID string) error {
	of, m, err := s.shown(ctx, number, messageID)
	if err != nil {
		return err
	}
	fromMe, sender := "0", "0"
	if m.fromMe {
		fromMe = "1"
	}
	if m.chat.Server == types.GroupServer && !m.fromMe {
		sender = m.sender.String()
	}
	return s.settings.Set(ctx, of, wmstate.PatchInfo{Type: wmstate.WAPatchRegularHigh, Mutations: []wmstate.MutationInfo{{
		Index: []string{wmstate.IndexDeleteMessageForMe, m.chat.String(), messageID, fromMe, sender}, Version: deletionVersion,
		Value: &waSyncAction.SyncActionValue{DeleteMessageForMeAction: &waSyncAction.DeleteMessageForMeAction{
			DeleteMedia: new(true), MessageTimestamp: new(m.at / 1000),
		}},
	}}})
}

// shownMessage is a message that a phone shows, as the app state names it.
type shownMessage struct {
	chat, sender types.JID // people by LID
	fromMe       bool
	at           int64 // Unix milliseconds
}

// participant is the sender of a message of somebody else in a group; else it is not named.
func (m shownMessage) participant() types.JID {
	if m.chat.Server != types.GroupServer || m.fromMe {
		return m.chat
	}
	return m.sender
}

func (s *Service) shown(ctx context.Context, number, messageID string) (*account.Account, shownMessage, error) {
	var m shownMessage
	of, err := s.chats.Accounts.Named(ctx, number)
	if err != nil {
		return nil, m, err
	}
	var chat, sender string
	found, err := database.One(s.db.Reader().QueryRowContext(ctx,
		"SELECT chat, sender, from_me, at FROM messages WHERE number = $1 AND id = $2 ORDER BY seq LIMIT 1", of.Number, messageID), &chat, &sender, &m.fromMe, &m.at)
	if err != nil {
		return nil, m, fmt.Errorf("chatstate: find message: %w", err)
	}
	if !found {
		return nil, m, refusal.NotFoundf("the phone shows no message with this id")
	}
	if m.chat, err = s.byLID(ctx, chat); err == nil {
		m.sender, err = s.byLID(ctx, sender)
	}
	return of, m, err
}

// byLID is an address as the app state has it: of people, the LID.
func (s *Service) byLID(ctx context.Context, address string) (types.JID, error) {
	jid, err := types.ParseJID(address)
	if err != nil {
		return jid, fmt.Errorf("chatstate: read an address: %w", err)
	}
	where, known, err := s.chats.At(ctx, jid)
	if err != nil || !known || where.Person == nil {
		return jid, err
	}
	return where.Person.LIDJID(), nil
}
