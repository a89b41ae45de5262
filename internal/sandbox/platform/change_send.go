package platform

import (
	"context"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
)

// React has the phone of the number react to a message that it shows. An empty
// reaction takes the last one back.
func (s *Server) React(ctx context.Context, number, messageID, reaction string) error {
	return s.sendChange(ctx, number, messageID, func(where chat, kept *keptMessage) (*waE2E.Message, error) {
		key, err := s.messageKey(ctx, where, kept)
		if err != nil {
			return nil, err
		}
		return &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{
			Key: key, Text: &reaction, SenderTimestampMS: new(s.now().UnixMilli()),
		}}, nil
	})
}

// EditMessage has the phone of the number give a message of its own another
// text.
func (s *Server) EditMessage(ctx context.Context, number, messageID, text string) error {
	return s.sendChange(ctx, number, messageID, func(where chat, kept *keptMessage) (*waE2E.Message, error) {
		if strings.TrimSpace(text) == "" {
			return nil, invalidf("text", "must not be empty")
		}
		if !kept.fromMe {
			return nil, invalidf("messageId", "the phone has not sent this message")
		}
		original, err := kept.message()
		if err != nil {
			return nil, err
		}
		if textOf(original) == "" {
			return nil, invalidf("messageId", "only texts can be edited")
		}
		if s.now().Sub(time.UnixMilli(kept.at)) > editWindow {
			return nil, conflictf("the message is too old to be edited")
		}
		key, err := s.messageKey(ctx, where, kept)
		if err != nil {
			return nil, err
		}
		return &waE2E.Message{EditedMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{
			ProtocolMessage: &waE2E.ProtocolMessage{
				Key: key, Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(),
				EditedMessage: &waE2E.Message{Conversation: &text}, TimestampMS: new(s.now().UnixMilli()),
			},
		}}}, nil
	})
}

// DeleteMessage has the phone of the number delete a message for everyone: one
// of its own, and as an admin of a group anybody's.
func (s *Server) DeleteMessage(ctx context.Context, number, messageID string) error {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	return s.sendChange(ctx, number, messageID, func(where chat, kept *keptMessage) (*waE2E.Message, error) {
		if !kept.fromMe && (where.group == nil || !where.group.isAdmin(of)) {
			return nil, invalidf("messageId", "the phone has not sent this message")
		}
		if s.now().Sub(time.UnixMilli(kept.at)) > deleteWindow {
			return nil, conflictf("the message is too old to be deleted")
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

// messageKey names a message to others.
func (s *Server) messageKey(ctx context.Context, where chat, kept *keptMessage) (*waCommon.MessageKey, error) {
	key := &waCommon.MessageKey{RemoteJID: new(where.jid().String()), FromMe: &kept.fromMe, ID: &kept.id}
	if kept.fromMe || where.group == nil {
		return key, nil
	}
	author, err := s.authorOfKept(ctx, kept)
	if err != nil {
		return nil, err
	}
	key.Participant = new(where.memberJID(author).String())
	return key, nil
}

// authorOfKept returns who sent a kept message.
func (s *Server) authorOfKept(ctx context.Context, kept *keptMessage) (*account, error) {
	number, _, _ := strings.Cut(kept.sender, "@")
	return s.directory.ensure(ctx, number)
}
