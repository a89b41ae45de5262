package sandbox_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// state returns how the phone of a number shows a chat with a person.
func (w *world) state(number, with string) chatstate.State {
	w.tb.Helper()
	var states struct{ Data []chatstate.State }
	w.do(http.MethodGet, "/phones/"+number+"/chats", nil, &states)
	for _, state := range states.Data {
		if state.Chat == with+"@s.whatsapp.net" {
			return state
		}
	}
	return chatstate.State{}
}

// What a linked device does with a chat the phone shows, and the other way round; both under
// the number and the LID.
func TestChatsAreArranged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(friend, gateway, "hello")
	c := w.newClient()
	c.EmitAppStateEventsOnFullSync = true
	c.link(gateway)
	c.named()
	by := types.NewJID(friend, types.DefaultUserServer)
	var phone account.Phone
	w.do(http.MethodGet, "/phones/"+friend, nil, &phone)
	lid, err := types.ParseJID(phone.LID)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, patch := range []appstate.PatchInfo{
		appstate.BuildPin(by, true), appstate.BuildMuteAbs(lid, true, new(end.UnixMilli())), appstate.BuildMarkChatAsRead(by, false, time.Time{}, nil),
	} {
		if err := c.SendAppState(context.Background(), patch); err != nil {
			t.Fatal(err)
		}
	}
	want := chatstate.State{Chat: by.String(), Pinned: true, MutedUntil: "2030-01-02T03:04:05.000Z", MarkedUnread: true}
	if got := w.state(gateway, friend); got != want {
		t.Errorf("the phone shows %+v, want %+v", got, want)
	}
	// The phone's list of chats is by number, so both addresses are one chat.
	w.do(http.MethodPatch, "/phones/"+gateway+"/chats/"+friend, map[string]any{"archived": true, "read": true, "mutedUntil": nil}, nil)
	expect(c, func(e *events.Archive) bool { return e.JID == lid && e.Action.GetArchived() })
	expect(c, func(e *events.Mute) bool { return e.JID == lid && !e.Action.GetMuted() })
	if got := w.state(gateway, friend); got != (chatstate.State{Chat: by.String(), Archived: true}) {
		t.Errorf("the phone shows %+v", got)
	}
	if lines := w.lines(gateway); len(lines) != 1 || lines[0].Unread != 0 {
		t.Errorf("the phone lists %+v", lines)
	}
	w.do(http.MethodPatch, "/phones/"+friend+"/chats/"+gateway, map[string]any{"disappearingSeconds": 604_800}, nil)
	expect(c, func(e *events.Message) bool {
		return e.Message.GetProtocolMessage().GetEphemeralExpiration() == 604_800
	})
	w.until("the timer", func() bool { return w.state(gateway, friend).Disappearing == 604_800 }, func() any { return w.state(gateway, friend) })

	// What a client deletes is gone on the phone, up to the time that it names.
	if err := c.SendAppState(context.Background(), appstate.BuildDeleteChat(lid, time.Now().Add(-time.Hour), nil, true)); err != nil {
		t.Fatal(err)
	}
	if shown := w.messages(gateway); len(shown) != 1 {
		t.Errorf("the phone shows %+v", shown)
	}
	if err := c.SendAppState(context.Background(), appstate.BuildDeleteChat(lid, time.Now().Add(time.Hour), nil, true)); err != nil {
		t.Fatal(err)
	}
	if shown := w.messages(gateway); len(shown) != 0 {
		t.Errorf("the phone shows %+v", shown)
	}
	w.do(http.MethodDelete, "/phones/"+gateway+"/chats/"+friend, nil, nil)
	expect[*events.DeleteChat](c, nil)
	for field, change := range cases.Sorted(map[string]any{"mutedUntil": "soon", "disappearingSeconds": 5}) {
		if status := w.call(http.MethodPatch, "/phones/"+gateway+"/chats/"+friend, map[string]any{field: change}, nil); status != http.StatusBadRequest {
			t.Errorf("%s is answered %d", field, status)
		}
	}
}

// Linked devices learn what another device of the account has read.
func TestReadingReachesTheOtherDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(gateway)
	one.named()
	two.named()
	w.send(friend, gateway, "hello")
	came := expect(one, func(e *events.Message) bool { return e.Message.GetConversation() == "hello" })
	if err := one.MarkRead(context.Background(), []string{came.Info.ID}, time.Now(), came.Info.Chat, came.Info.Sender); err != nil {
		t.Fatal(err)
	}
	expect(two, func(e *events.Receipt) bool {
		return e.IsFromMe && e.Type == types.ReceiptTypeRead && e.Chat == came.Info.Chat && e.MessageIDs[0] == came.Info.ID
	})
}
