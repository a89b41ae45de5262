package hostile_test

import (
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// revoke makes a deletion for everyone. An empty author claims that the message is the
// sender's own.
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

// countEvents counts the events of a kind that contain the identifier of a message.
func countEvents(events []client.Event, kind, messageID string) int {
	count := 0
	for _, event := range events {
		if event.Type == kind && strings.Contains(string(event.Data), messageID) {
			count++
		}
	}
	return count
}

// A member of a group can't change messages of others, whatever his stanza says. An
// administrator can delete them. A refused change is not reported.
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
	for name, attack := range cases.Sorted(map[string]struct {
		message []byte
		edit    string
	}{
		"sender's revoke of ours":                 {revoke(t, group.ID, "", sent.MessageID), "7"},
		"sender's revoke of another's":            {revoke(t, group.ID, "", received), "7"},
		"sender's revoke that names the author":   {revoke(t, group.ID, shop, sent.MessageID), "7"},
		"revoke without a mark":                   {revoke(t, group.ID, shop, sent.MessageID), ""},
		"administrator's revoke by a mere member": {revoke(t, group.ID, shop, sent.MessageID), "8"},
		"edit of ours":                            {edited(t, group.ID, sent.MessageID), "1"},
	}) {
		b.Phones.SendRaw(t, stranger, group.ID, attack.message, map[string]any{"edit": attack.edit})
		events := b.unharmed(t)
		for _, kind := range []string{"message.deleted", "message.edited"} {
			if countEvents(events, kind, sent.MessageID)+countEvents(events, kind, received) > 0 {
				t.Errorf("%s: %s is reported", name, kind)
			}
		}
	}
	// The refused changes had no effect: the messages can still be forwarded.
	for _, messageID := range []string{sent.MessageID, received} {
		if _, err := b.Client.ForwardMessage(t.Context(), b.id, client.Forward{To: customerNumber, MessageID: messageID}); err != nil {
			t.Errorf("the message is not there any more: %v", err)
		}
	}
	b.Phones.SendRaw(t, adminNumber, group.ID, revoke(t, group.ID, shop, sent.MessageID), map[string]any{"edit": "8"})
	if events := b.unharmed(t); countEvents(events, "message.deleted", sent.MessageID) != 1 {
		t.Error("the administrator's deletion is not reported")
	}
}

// Nobody can edit, delete or mark as played a message of a chat that is not his own.
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
	events := b.unharmed(t)
	for _, kind := range []string{"message.edited", "message.deleted"} {
		if countEvents(events, kind, sent.MessageID) > 0 {
			t.Errorf("%s is reported", kind)
		}
	}
	wantNotPlayed(t, events)
}

// wantNotPlayed fails the test if a message is reported as played.
func wantNotPlayed(t *testing.T, events []client.Event) {
	t.Helper()
	for _, event := range events {
		if event.Type == "message.status" && strings.Contains(string(event.Data), `"status":"played"`) {
			t.Errorf("a false receipt is reported: %s", event.Data)
		}
	}
}

// A receipt from somebody who is not in the group changes nothing.
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
