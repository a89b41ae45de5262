package hostile_test

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
)

// Nobody deletes, edits or passes for the author of somebody else's status post, and nothing that
// comes as one is more than a message.
func TestForgedStatusPosts(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	for _, number := range []string{customerNumber, stranger} {
		b.Phones.NameContact(t, number, shopNumber, "The shop")
	}
	own, err := b.Client.PostStatusText(t.Context(), b.id, client.StatusText{Message: "open today"})
	if err != nil {
		t.Fatal(err)
	}
	theirs := b.Phones.SendText(t, customerNumber, client.StatusChat, "at the beach")
	for _, id := range []string{own.MessageID, theirs} {
		for _, fromMe := range []bool{true, false} {
			key := &waCommon.MessageKey{RemoteJID: new(client.StatusChat), ID: &id, FromMe: &fromMe, Participant: new(customerNumber + "@s.whatsapp.net")}
			for _, edit := range []string{"", "7", "8"} {
				b.Phones.SendRaw(t, stranger, client.StatusChat, mustMarshal(t, &waE2E.Message{
					ProtocolMessage: &waE2E.ProtocolMessage{Key: key, Type: waE2E.ProtocolMessage_REVOKE.Enum()},
				}), map[string]any{"edit": edit})
			}
			b.Phones.SendRaw(t, stranger, client.StatusChat, mustMarshal(t, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
				Key: key, Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), EditedMessage: &waE2E.Message{Conversation: new("closed")},
			}}), map[string]any{"edit": "1"})
		}
	}
	for _, message := range []*waE2E.Message{
		{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(), EphemeralExpiration: new(uint32(60))}},
		{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(), HistorySyncNotification: &waE2E.HistorySyncNotification{DirectPath: new("/x")}}},
		{DeviceSentMessage: &waE2E.DeviceSentMessage{DestinationJID: new(customerNumber + "@s.whatsapp.net"), Message: &waE2E.Message{Conversation: new("as if it were mine")}}},
	} {
		b.Phones.SendRaw(t, stranger, client.StatusChat, mustMarshal(t, message), nil)
	}
	b.Phones.SendRawReceipt(t, stranger, map[string]any{"to": shopNumber, "chat": client.StatusChat, "messageIds": []string{theirs, "3EB0NOTHING"}, "type": "read"})
	events := b.unharmed(t)
	for _, id := range []string{own.MessageID, theirs} {
		for _, kind := range []string{"message.deleted", "message.edited"} {
			if countEvents(events, kind, id) > 0 {
				t.Errorf("a forged %s of %s is told", kind, id)
			}
		}
		if message, err := b.Client.GetMessage(t.Context(), b.id, id); err != nil || message.DeletedAt != nil || message.EditedAt != nil {
			t.Errorf("a forged change is kept: %+v (%v)", message, err)
		}
	}
	if countEvents(events, "chat.updated", "status@broadcast") > 0 {
		t.Error("a status post has arranged a chat")
	}
	b.Phones.Delete(t, customerNumber, theirs)
	if events := b.unharmed(t); countEvents(events, "message.deleted", theirs) != 1 {
		t.Error("the author's deletion is not told")
	}
}
