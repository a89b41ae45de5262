// The group in which a community announces: its messages carry a secret, and reactions are encrypted
// with that of their message. Phones show no other reactions there.

package whatsapp

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/util/random"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// announces reports whether a chat is the group in which a community announces. It is asked for once,
// as all groups are. Without an answer it is an ordinary one.
func (s *session) announces(ctx context.Context, chat types.JID) bool {
	if chat.Server != types.GroupServer {
		return false
	}
	group, err := s.groups.Group(ctx, wire.JIDOf(chat))
	return err == nil && group.Announces
}

// secretBytes is the length of a message's secret.
const secretBytes = 32

// giveSecret gives a message the secret with which others react to it. One that is sent again has its
// earlier one.
func (s *session) giveSecret(ctx context.Context, chat types.JID, id types.MessageID, message *waE2E.Message) error {
	if message.GetMessageContextInfo().GetMessageSecret() != nil || message.GetProtocolMessage() != nil || message.GetEncReactionMessage() != nil {
		return nil
	}
	secret, err := s.secretOf(ctx, chat, id)
	if err != nil {
		return err
	}
	if secret == nil {
		secret = random.Bytes(secretBytes)
	}
	if message.MessageContextInfo == nil {
		message.MessageContextInfo = &waE2E.MessageContextInfo{}
	}
	message.MessageContextInfo.MessageSecret = secret
	return nil
}

// secretOf returns the secret of a message that this account has sent; nil if there is none.
func (s *session) secretOf(ctx context.Context, chat types.JID, id types.MessageID) ([]byte, error) {
	device := s.line.Client().Store
	secret, _, err := device.MsgSecrets.GetMessageSecret(ctx, chat, device.GetLID(), id)
	if err != nil {
		return nil, fmt.Errorf("whatsapp: look for the secret of a message: %w", err)
	}
	return secret, nil
}

// sealedReaction makes a reaction that only those who have its message can read. Its error is
// Invalid for a message without a secret, such as one from before the link.
func (s *session) sealedReaction(
	ctx context.Context, client *whatsmeow.Client, chat, sender types.JID, id types.MessageID, reaction *waE2E.Message,
) (*waE2E.Message, error) {
	if sender.IsEmpty() {
		sender = client.Store.GetLID()
	}
	sealed, err := client.EncryptReaction(ctx, &types.MessageInfo{MessageSource: types.MessageSource{Chat: chat, Sender: sender}, ID: id}, reaction.GetReactionMessage())
	if errors.Is(err, whatsmeow.ErrOriginalMessageSecretNotFound) {
		return nil, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotReactable, "the message came without the secret with which reactions are encrypted in this group")
	}
	if err != nil {
		return nil, fmt.Errorf("whatsapp: encrypt a reaction: %w", err)
	}
	return &waE2E.Message{EncReactionMessage: sealed}, nil
}
