package hostile_test

import (
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
)

// revoke is what deletes a message for everyone; author is empty where the sender
// says that it is his own.
func revoke(t *testing.T, chat, author, messageID string) []byte {
	t.Helper()
	key := &waCommon.MessageKey{RemoteJID: &chat, ID: &messageID, FromMe: new(author == "")}
	if author != "" {
		key.Participant = &author
	}
	return mustMarshal(t, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: key}})
}

func edited(t *testing.T, chat, messageID string) []byte {
	t.Helper()
	return mustMarshal(t, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{RemoteJID: &chat, ID: &messageID, FromMe: new(true)},
		EditedMessage: &waE2E.Message{Conversation: new("the price is 1")},
	}})
}

// toldOf counts the events of a kind that name a message.
func toldOf(told []client.Event, kind, messageID string) int {
	count := 0
	for _, event := range told {
		if event.Type == kind && strings.Contains(string(event.Data), messageID) {
			count++
		}
	}
	return count
}

// A member of a group changes nothing that others sent, whatever his stanza says;
// an administrator deletes. What is refused is not told.
func TestAuthorityInGroups(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	group := b.Phones.CreateGroup(t, "group", adminNumber, shopNumber, stranger, customerNumber)
	sent, err := b.Client.SendText(t.Context(), b.id, client.Text{To: group.ID, Message: "the price is 100"})
	if err != nil {
		t.Fatal(err)
	}
	received := b.Phones.SendText(t, customerNumber, group.ID, "I take it")
	b.unharmed(t)
	shop := shopNumber + "@s.whatsapp.net"
	for name, attack := range map[string]struct {
		message []byte
		edit    string
	}{
		"sender's revoke of ours":                 {revoke(t, group.ID, "", sent.MessageID), "7"},
		"sender's revoke of another's":            {revoke(t, group.ID, "", received), "7"},
		"sender's revoke that names the author":   {revoke(t, group.ID, shop, sent.MessageID), "7"},
		"revoke without a mark":                   {revoke(t, group.ID, shop, sent.MessageID), ""},
		"administrator's revoke by a mere member": {revoke(t, group.ID, shop, sent.MessageID), "8"},
		"edit of ours":                            {edited(t, group.ID, sent.MessageID), "1"},
	} {
		b.Phones.SendRaw(t, stranger, group.ID, attack.message, map[string]any{"edit": attack.edit})
		told := b.unharmed(t)
		for _, kind := range []string{"message.deleted", "message.edited"} {
			if toldOf(told, kind, sent.MessageID)+toldOf(told, kind, received) > 0 {
				t.Errorf("%s: %s is told", name, kind)
			}
		}
	}
	// What was refused has changed nothing: it can be forwarded still.
	for _, messageID := range []string{sent.MessageID, received} {
		if _, err := b.Client.Forward(t.Context(), b.id, client.Forward{To: customerNumber, MessageID: messageID}); err != nil {
			t.Errorf("the message is not there any more: %v", err)
		}
	}
	b.Phones.SendRaw(t, adminNumber, group.ID, revoke(t, group.ID, shop, sent.MessageID), map[string]any{"edit": "8"})
	if told := b.unharmed(t); toldOf(told, "message.deleted", sent.MessageID) != 1 {
		t.Error("the administrator's deletion is not told")
	}
}

// Nobody marks as played, edits or deletes what stands in a chat that is not his.
func TestAuthorityBetweenChats(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	sent, err := b.Client.SendText(t.Context(), b.id, client.Text{To: customerNumber, Message: "the price is 100"})
	if err != nil {
		t.Fatal(err)
	}
	shop := shopNumber + "@s.whatsapp.net"
	b.Phones.SendRawReceipt(t, stranger, map[string]any{"to": shopNumber, "messageIds": []string{sent.MessageID}, "type": "played"})
	b.Phones.SendRaw(t, stranger, shopNumber, edited(t, shop, sent.MessageID), map[string]any{"edit": "1"})
	b.Phones.SendRaw(t, stranger, shopNumber, revoke(t, shop, "", sent.MessageID), map[string]any{"edit": "7"})
	told := b.unharmed(t)
	for _, kind := range []string{"message.edited", "message.deleted"} {
		if toldOf(told, kind, sent.MessageID) > 0 {
			t.Errorf("%s is told", kind)
		}
	}
	wantNotPlayed(t, told)
}

// wantNotPlayed fails the test where somebody has listened to a text.
func wantNotPlayed(t *testing.T, told []client.Event) {
	t.Helper()
	for _, event := range told {
		if event.Type == "message.status" && strings.Contains(string(event.Data), `"status":"played"`) {
			t.Errorf("a false receipt is told: %s", event.Data)
		}
	}
}

// A receipt from somebody who is not in the group moves nothing.
func TestReceiptOfNoMember(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	group := b.Phones.CreateGroup(t, "group", adminNumber, shopNumber, customerNumber)
	sent, err := b.Client.SendText(t.Context(), b.id, client.Text{To: group.ID, Message: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	b.Phones.SendRawReceipt(t, stranger, map[string]any{"to": shopNumber, "chat": group.ID, "messageIds": []string{sent.MessageID}, "type": "played"})
	wantNotPlayed(t, b.unharmed(t))
}
