package chatstate

import (
	"log/slog"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// What this device has done with labels may be reported late, in any order and more than once: it
// is known already. The same from another device is news.
func TestLabelsOfThisDevice(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_123)
	var received []gateway.Incoming
	chats := New(Config{
		Now:    func() time.Time { return now },
		Person: func(one, _ types.JID, _ string) gateway.Party { return gateway.Party{LID: gateway.JID(one.String())} },
		Receive: func(incoming gateway.Incoming, _ string, _ ...slog.Attr) bool {
			received = append(received, incoming)
			return true
		},
	})
	chat := types.NewJID("5", types.HiddenUserServer)
	put := &waSyncAction.LabelAssociationAction{Labeled: new(true)}
	for name, step := range cases.Sorted(map[string]struct {
		patch appstate.PatchInfo
		event func(at time.Time) any
	}{
		"made": {
			appstate.BuildLabelEdit("6", "paid", 1, false),
			func(at time.Time) any {
				return &events.LabelEdit{LabelID: "6", Timestamp: at, Action: &waSyncAction.LabelEditAction{Name: new("paid")}}
			},
		},
		"on a chat": {
			appstate.BuildLabelChat(chat, "6", true),
			func(at time.Time) any {
				return &events.LabelAssociationChat{LabelID: "6", JID: chat, Timestamp: at, Action: put}
			},
		},
		"on a message": {
			appstate.BuildLabelMessage(chat, "6", "3EB0", true),
			func(at time.Time) any {
				return &events.LabelAssociationMessage{LabelID: "6", JID: chat, MessageID: "3EB0", Timestamp: at, Action: put}
			},
		},
	}) {
		step.patch.Timestamp = now
		chats.expect(step.patch)
		received = nil
		for range 2 { // it comes again when the collection is read anew
			if !chats.LabelArrived(step.event(now)) || len(received) != 0 {
				t.Errorf("%s: received %+v, which this device has done", name, received)
			}
		}
		if !chats.LabelArrived(step.event(now.Add(time.Second))) || len(received) != 1 {
			t.Errorf("%s: received %+v, which another device has done", name, received)
		}
	}
	received = nil
	for _, event := range []any{&events.LabelEdit{LabelID: "6"}, &events.Archive{}} {
		if !chats.LabelArrived(event) || len(received) != 0 {
			t.Errorf("%T without an action: received %+v", event, received)
		}
	}
}
