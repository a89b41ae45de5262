package messaging_test

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// What PostgreSQL can't hold, should it get past the connector, leaves a placeholder
// and an event, and never an error: the platform would bring it again for ever.
func TestUnstorableLeavesAPlaceholder(t *testing.T) {
	t.Parallel()
	const dirty = "a\x00b"
	chat := gateway.Party{JID: customer}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	message := gateway.Message{
		PlatformID: "3EB0A", WireKey: "wire", Chat: chat, Sender: chat, Source: gateway.SourcePeer,
		Type: gateway.TypeText, Text: "hello", Payload: []byte("payload"), SentAt: at, CreatedAt: at,
	}
	dirtyText, dirtyID, dirtyChat := message, message, message
	dirtyText.Text = dirty
	dirtyID.PlatformID, dirtyID.WireKey = dirty, dirty
	dirtyChat.Chat.JID = dirty
	for name, incoming := range cases.Sorted(map[string]gateway.Incoming{
		"text":       dirtyText,
		"identifier": dirtyID,
		"chat":       dirtyChat,
		"edit":       gateway.Change{PlatformID: "3EB0B", Chat: chat, By: chat, SourceKey: dirty, At: at},
		"reaction to something": gateway.Change{
			Kind: gateway.ChangeReaction, PlatformID: "3EB0C", Chat: chat, By: chat, SourceKey: dirty, At: at,
		},
		"receipt": gateway.Receipt{Chat: chat, By: chat, MessageIDs: []string{dirty}, Status: gateway.MessageRead, At: at},
		"group":   gateway.GroupChange{Group: group, SourceKey: dirty, At: at},
		"contact": gateway.ContactChange{Contact: chat, SourceKey: dirty, At: at},
		"call":    gateway.Call{ID: dirty, From: chat, Chat: chat, At: at},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeskOn(t, store.Config{URL: postgres.Start(t)})
			for range 2 { // as the platform would bring it again
				if err := d.Receive(t.Context(), incoming); err != nil {
					t.Fatalf("it is not kept: %v", err)
				}
			}
			if events := d.events(); len(events) != 1 || events[0] != "message.received" {
				t.Errorf("the events are %q, want one message.received", events)
			}
		})
	}
}

// One message of a history that can't be kept does not take the others with it.
func TestUnstorableHistory(t *testing.T) {
	t.Parallel()
	d := newDeskOn(t, store.Config{URL: postgres.Start(t)})
	chat := gateway.Party{JID: customer}
	err := d.Receive(t.Context(), gateway.History{
		{PlatformID: "ONE", Chat: chat, Type: gateway.TypeText, Text: "one"},
		{PlatformID: "TWO", Chat: chat, Type: gateway.TypeText, Text: "t\x00wo"},
		{PlatformID: "THREE", Chat: chat, Type: gateway.TypeText, Text: "three"},
	})
	d.check(err)
	for id, want := range cases.Sorted(map[string]int{"ONE": 1, "TWO": 0, "THREE": 1}) {
		found, err := d.store.FindMessages(t.Context(), d.instance.ID, id)
		d.check(err)
		if len(found) != want {
			t.Errorf("%d messages %s are kept, want %d", len(found), id, want)
		}
	}
}
