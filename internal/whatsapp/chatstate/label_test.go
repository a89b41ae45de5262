package chatstate

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp/line"
)

// What this device has done with labels may be reported late, in any order and more than once: it
// is known already. The same from another device is news.
func TestLabelsOfThisDevice(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_800_000_000_123)
	var received []gateway.Incoming
	chats := New(newLine(t, func() time.Time { return now }, func(incoming gateway.Incoming) error {
		received = append(received, incoming)
		return nil
	}))
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

// receiver receives by calling a function.
type receiver struct {
	gateway.Receiver

	receive func(gateway.Incoming) error
}

func (r receiver) Receive(_ context.Context, incoming gateway.Incoming) error {
	return r.receive(incoming)
}

// newLine makes a line whose client knows nobody and has no connection.
func newLine(t *testing.T, now func() time.Time, receive func(gateway.Incoming) error) *line.Line {
	t.Helper()
	return line.New(line.Config{
		Context: t.Context(), Client: whatsmeow.NewClient(&store.Device{}, nil), Receiver: receiver{receive: receive}, GivenUp: func() {},
		Logger: slog.New(slog.DiscardHandler), Now: now, Wait: time.Second,
	})
}
