// What is encrypted within a message, with the secret of another one: reactions in the group in which a
// community announces, where phones show no others, edits of some clients, edits of calendar events and
// the responses to them.

package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/util/random"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

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

// openResponse decrypts a response to a calendar event. Its error says that it is forged, or for an
// event whose secret is not known here.
func openResponse(ctx context.Context, client *whatsmeow.Client, event *events.Message) (*waE2E.EventResponseMessage, error) {
	sealed := event.Message.GetEncEventResponseMessage()
	plain, err := client.DangerousInternals().DecryptMsgSecret(ctx, event, whatsmeow.EncSecretEventResponse, sealed, sealed.GetEventCreationMessageKey()) //nolint:staticcheck // whatsmeow opens votes alone
	if err != nil {
		return nil, fmt.Errorf("whatsapp: open a response: %w", err)
	}
	opened := &waE2E.EventResponseMessage{}
	if err := proto.Unmarshal(plain, opened); err != nil {
		return nil, fmt.Errorf("whatsapp: read a response: %w", err)
	}
	return opened, nil
}

// newEventEdit makes the message that gives a calendar event of this account the content of a payload.
// Its error is Invalid if the secret of the event is not known to this device.
func newEventEdit(
	ctx context.Context, client *whatsmeow.Client, chat types.JID, platformID string, payload []byte, now time.Time,
) (*waE2E.Message, error) {
	content, err := wire.Decode(payload)
	if err != nil {
		return nil, err
	}
	// Under which of its addresses the account has sent the event.
	_, self, err := client.Store.MsgSecrets.GetMessageSecret(ctx, chat, client.Store.GetLID(), platformID)
	if err != nil {
		return nil, fmt.Errorf("whatsapp: look for the secret of an event: %w", err)
	}
	if self.IsEmpty() {
		return nil, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotEditable, "the secret of the event is not known to this device any more")
	}
	key := client.BuildMessageKey(chat, types.EmptyJID, platformID)
	plain, err := proto.Marshal(wire.NewEventEdit(key, content, now))
	if err != nil {
		return nil, fmt.Errorf("whatsapp: write an edit: %w", err)
	}
	sealed, iv, err := client.DangerousInternals().EncryptMsgSecret(ctx, self, chat, self, platformID, whatsmeow.EncSecretEventEdit, plain) //nolint:staticcheck // whatsmeow encrypts votes alone
	if err != nil {
		return nil, fmt.Errorf("whatsapp: encrypt an edit: %w", err)
	}
	return &waE2E.Message{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{
		TargetMessageKey: key, EncPayload: sealed, EncIV: iv, SecretEncType: waE2E.SecretEncryptedMessage_EVENT_EDIT.Enum(),
	}}, nil
}
