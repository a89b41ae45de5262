package hostile_test

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/testkit"
)

// What the owner does with chats only the owner's devices can say: a stranger neither reads
// messages in the owner's place, nor sets a timer that no client has.
func TestStrangersDoNotArrangeChats(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	said := b.Phones.SendText(t, customerNumber, shopNumber, "hello")
	unread := func(want int64) {
		t.Helper()
		chat, err := b.Client.GetChat(t.Context(), b.id, customerNumber)
		if err != nil || chat.UnreadCount != want || chat.DisappearingSeconds != 0 {
			t.Errorf("the chat is %+v, %v", chat, err)
		}
	}
	b.unharmed(t)
	unread(2)
	for _, kind := range []string{"read-self", "played-self"} {
		b.Phones.SendRawReceipt(t, customerNumber, map[string]any{"to": shopNumber, "messageIds": []string{said}, "type": kind})
	}
	for _, seconds := range []uint32{1<<32 - 1, 4_000_000_000} {
		b.Phones.SendRaw(t, customerNumber, shopNumber, mustMarshal(t, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(), EphemeralExpiration: &seconds,
		}}), nil)
	}
	for _, event := range b.unharmed(t) {
		if event.Type == "chat.updated" {
			t.Errorf("an event says %s", event.Data)
		}
	}
	unread(3)
	b.Phones.ChangeChat(t, customerNumber, shopNumber, map[string]any{"disappearingSeconds": 86_400})
	testkit.Await(t, "an honest timer", func() bool {
		chat, err := b.Client.GetChat(t.Context(), b.id, customerNumber)
		return err == nil && chat.DisappearingSeconds == 86_400
	})
}
