package phone

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// React lets the phone of a number react to a message that it shows. An empty
// reaction removes the last one.
func (s *Service) React(ctx context.Context, number, messageID, reaction string) error {
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		key, err := s.messageKey(ctx, where, kept)
		if err != nil {
			return nil, err
		}
		if where.Announces() {
			return s.sealedReaction(ctx, number, kept, key, reaction)
		}
		return &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{
			Key: key, Text: &reaction, SenderTimestampMS: new(s.now().UnixMilli()),
		}}, nil
	})
}

// sealedReaction is a reaction in the group in which a community announces.
func (s *Service) sealedReaction(
	ctx context.Context, number string, kept *storedMessage, key *waCommon.MessageKey, reaction string,
) (*waE2E.Message, error) {
	message, err := kept.message()
	if err != nil {
		return nil, err
	}
	secret := content.SecretOf(message)
	if secret == nil {
		return nil, refusal.Conflictf("the message carries no secret, so nobody can react to it here")
	}
	author, err := s.authorOfStored(ctx, kept)
	if err != nil {
		return nil, err
	}
	by, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	ballot := content.Ballot{Secret: secret, PollID: kept.id, Author: author.LIDJID(), Voter: by.LIDJID()}
	return ballot.SealReaction(reaction, key, s.now())
}

// EditMessage lets the phone of a number edit one of its own messages.
func (s *Service) EditMessage(ctx context.Context, number, messageID, text string) error {
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		if strings.TrimSpace(text) == "" {
			return nil, refusal.Invalidf("text", "must not be empty")
		}
		if !kept.fromMe {
			return nil, refusal.Invalidf("messageId", "the phone has not sent this message")
		}
		original, err := kept.message()
		if err != nil {
			return nil, err
		}
		edited, ok := content.NewEdit(original, text)
		if !ok {
			return nil, refusal.Invalidf("messageId", "only texts and captions can be edited")
		}
		if s.now().Sub(time.UnixMilli(kept.at)) > editWindow {
			return nil, refusal.Conflictf("the message is too old to be edited")
		}
		key, err := s.messageKey(ctx, where, kept)
		if err != nil {
			return nil, err
		}
		return &waE2E.Message{EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{
			ProtocolMessage: &waE2E.ProtocolMessage{
				Key: key, Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(),
				EditedMessage: edited, TimestampMS: new(s.now().UnixMilli()),
			},
		}}}, nil
	})
}

// DeleteMessage lets the phone of a number delete a message for everyone: one of
// its own, or in a group of which it is an admin anybody's.
func (s *Service) DeleteMessage(ctx context.Context, number, messageID string) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		if !kept.fromMe && (where.Group == nil || !where.Group.IsAdmin(of)) {
			return nil, refusal.Invalidf("messageId", "the phone has not sent this message")
		}
		if s.now().Sub(time.UnixMilli(kept.at)) > deleteWindow {
			return nil, refusal.Conflictf("the message is too old to be deleted")
		}
		key, err := s.messageKey(ctx, where, kept)
		if err != nil {
			return nil, err
		}
		return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Key: key, Type: waE2E.ProtocolMessage_REVOKE.Enum(),
		}}, nil
	})
}

// SetDisappearing lets the phone of a number set after how many seconds new messages of a chat
// with a person disappear; 0 means never.
func (s *Service) SetDisappearing(ctx context.Context, number, with string, seconds uint32) error {
	from, to, err := s.senderAndChat(ctx, number, with)
	if err != nil {
		return err
	}
	if to.IsShared() {
		return refusal.Invalidf("disappearingSeconds", "is a setting of a group: PUT /groups/{group}")
	}
	if !slices.Contains([]uint32{0, 86_400, 604_800, 7_776_000}, seconds) {
		return refusal.Invalidf("disappearingSeconds", "must be one of: 0, 86400, 604800, 7776000")
	}
	from.LockPhone()
	defer from.UnlockPhone()
	u := s.config.Accounts.NewUnit()
	u.Ring(from.Number)
	chatstate.SetTimer(u, from.Number, to.JID(), seconds)
	message := &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type:                waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(),
		EphemeralExpiration: &seconds, EphemeralSettingTimestamp: new(s.now().Unix()),
	}}
	if err := s.openPhone(u, from).send(ctx, to, message, wire.NewMessageID()); err != nil {
		return err
	}
	return u.Commit(ctx)
}

// messageKey builds the key that names a message in other messages.
func (s *Service) messageKey(ctx context.Context, where chat.Chat, kept *storedMessage) (*waCommon.MessageKey, error) {
	key := &waCommon.MessageKey{RemoteJID: new(where.JID().String()), FromMe: &kept.fromMe, ID: &kept.id}
	if kept.fromMe || !where.IsShared() {
		return key, nil
	}
	author, err := s.authorOfStored(ctx, kept)
	if err != nil {
		return nil, err
	}
	key.Participant = new(where.MemberJID(author).String())
	return key, nil
}

// authorOfStored returns the sender of a kept message.
func (s *Service) authorOfStored(ctx context.Context, kept *storedMessage) (*account.Account, error) {
	number, _, _ := strings.Cut(kept.sender, "@")
	return s.config.Accounts.Ensure(ctx, number)
}
