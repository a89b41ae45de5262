package hostile_test

import (
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/client"
)

// pin makes a pin that lasts some seconds.
func pin(t *testing.T, chat, messageID string, seconds uint32) []byte {
	t.Helper()
	return mustMarshal(t, &waE2E.Message{
		PinInChatMessage: &waE2E.PinInChatMessage{
			Key:  &waCommon.MessageKey{RemoteJID: &chat, ID: &messageID, FromMe: new(true)},
			Type: waE2E.PinInChatMessage_PIN_FOR_ALL.Enum(), SenderTimestampMS: new(int64(-1)),
		},
		MessageContextInfo: &waE2E.MessageContextInfo{MessageAddOnDurationInSecs: &seconds},
	})
}

// Nobody pins a message of another chat, or in a group where only administrators may, whatever
// the stanza says. A pin lasts 30 days at most.
func TestForgedPins(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	group := b.Phones.CreateGroup(t, "group", adminNumber, shopNumber, stranger)
	b.Phones.UpdateGroup(t, group.ID, map[string]any{"locked": true})
	notice, err := b.Client.SendText(t.Context(), b.id, client.Text{To: group.ID, Message: "closed on Monday"})
	if err != nil {
		t.Fatal(err)
	}
	private, err := b.Client.SendText(t.Context(), b.id, client.Text{To: customerNumber, Message: "the price is 100"})
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []string{"", "2", "7"} {
		b.Phones.SendRaw(t, stranger, group.ID, pin(t, group.ID, notice.MessageID, 86_400), map[string]any{"edit": edit})
		b.Phones.SendRaw(t, stranger, shopNumber, pin(t, shopNumber+"@s.whatsapp.net", private.MessageID, 86_400), map[string]any{"edit": edit})
	}
	events := b.unharmed(t)
	for _, messageID := range []string{notice.MessageID, private.MessageID} {
		if countEvents(events, "message.pinned", messageID) > 0 {
			t.Errorf("a forged pin of %s is reported", messageID)
		}
		if message, err := b.Client.GetMessage(t.Context(), b.id, messageID); err != nil || message.PinnedUntil != nil {
			t.Errorf("a forged pin is kept: %+v (%v)", message, err)
		}
	}
	b.Phones.SendRaw(t, customerNumber, shopNumber, pin(t, shopNumber+"@s.whatsapp.net", private.MessageID, 1<<32-1), map[string]any{"edit": "2"})
	if events := b.unharmed(t); countEvents(events, "message.pinned", private.MessageID) != 1 {
		t.Error("the customer's pin is not reported")
	}
	message, err := b.Client.GetMessage(t.Context(), b.id, private.MessageID)
	if err != nil || message.PinnedUntil == nil || time.Until(*message.PinnedUntil) > 30*24*time.Hour+time.Minute {
		t.Errorf("it is pinned: %+v (%v)", message, err)
	}
}

// An album can be named as a stranger likes: it is cleaned, and the picture arrives.
func TestForgedAlbums(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	for _, name := range []string{"", "a\x00b\u202e", strings.Repeat("x", 100_000)} {
		sent := b.Phones.SendRaw(t, stranger, shopNumber, mustMarshal(t, &waE2E.Message{
			Conversation: new("in an album"),
			MessageContextInfo: &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
				AssociationType: waE2E.MessageAssociation_MEDIA_ALBUM.Enum(), ParentMessageKey: &waCommon.MessageKey{ID: &name},
			}},
		}), nil)
		if events := b.unharmed(t); countEvents(events, "message.received", sent) != 1 {
			t.Errorf("with %.20q it is not reported", name)
		}
		message, err := b.Client.GetMessage(t.Context(), b.id, sent)
		if err != nil || message.AlbumID != nil && (strings.ContainsRune(*message.AlbumID, 0) || len(*message.AlbumID) > 1_000) {
			t.Errorf("kept %.300v (%v)", message.AlbumID, err)
		}
	}
}
