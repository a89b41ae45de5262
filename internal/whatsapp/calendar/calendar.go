// Package calendar encrypts edits of calendar events, and opens the responses to them: with the
// secret of the event, as votes in a poll.
package calendar

import (
	"context"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// OpenResponse decrypts a response to a calendar event. Its error says that it is forged, or for an
// event whose secret is not known here.
func OpenResponse(ctx context.Context, client *whatsmeow.Client, event *events.Message) (*waE2E.EventResponseMessage, error) {
	sealed := event.Message.GetEncEventResponseMessage()
	plain, err := client.DangerousInternals().DecryptMsgSecret(ctx, event, whatsmeow.EncSecretEventResponse, sealed, sealed.GetEventCreationMessageKey()) //nolint:staticcheck // whatsmeow opens votes alone
	if err != nil {
		return nil, fmt.Errorf("calendar: open a response: %w", err)
	}
	opened := &waE2E.EventResponseMessage{}
	if err := proto.Unmarshal(plain, opened); err != nil {
		return nil, fmt.Errorf("calendar: read a response: %w", err)
	}
	return opened, nil
}

// NewEdit makes the message that gives a calendar event of this account the content of a payload.
// Its error is Invalid if the secret of the event is not known to this device.
func NewEdit(
	ctx context.Context, client *whatsmeow.Client, chat types.JID, platformID string, payload []byte, now time.Time,
) (*waE2E.Message, error) {
	content, err := wire.Decode(payload)
	if err != nil {
		return nil, err
	}
	// Under which of its addresses the account has sent the event.
	_, self, err := client.Store.MsgSecrets.GetMessageSecret(ctx, chat, client.Store.GetLID(), platformID)
	if err != nil {
		return nil, fmt.Errorf("calendar: look for the secret of an event: %w", err)
	}
	if self.IsEmpty() {
		return nil, gateway.Errorf(gateway.Invalid, gateway.CodeMessageNotEditable, "the secret of the event is not known to this device any more")
	}
	key := client.BuildMessageKey(chat, types.EmptyJID, platformID)
	plain, err := proto.Marshal(wire.NewEventEdit(key, content, now))
	if err != nil {
		return nil, fmt.Errorf("calendar: write an edit: %w", err)
	}
	sealed, iv, err := client.DangerousInternals().EncryptMsgSecret(ctx, self, chat, self, platformID, whatsmeow.EncSecretEventEdit, plain) //nolint:staticcheck // whatsmeow encrypts votes alone
	if err != nil {
		return nil, fmt.Errorf("calendar: encrypt an edit: %w", err)
	}
	return &waE2E.Message{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{
		TargetMessageKey: key, EncPayload: sealed, EncIV: iv, SecretEncType: waE2E.SecretEncryptedMessage_EVENT_EDIT.Enum(),
	}}, nil
}
