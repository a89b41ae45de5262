package sandbox_test

import (
	"context"
	"net/http"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
)

func saw(kind, value string) func(account.Activity) bool {
	return func(a account.Activity) bool {
		return a.Type == kind && a.Value == value && a.From == gateway+"@s.whatsapp.net" && a.To == friend+"@s.whatsapp.net"
	}
}

func TestTypingIsSeenOnBothSides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	ctx := context.Background()
	jid := types.NewJID(friend, types.DefaultUserServer)
	for _, step := range []struct {
		state types.ChatPresence
		media types.ChatPresenceMedia
		value string
	}{
		{types.ChatPresenceComposing, types.ChatPresenceMediaText, "composing"},
		{types.ChatPresenceComposing, types.ChatPresenceMediaAudio, "recording"},
		{types.ChatPresencePaused, "", "paused"},
	} {
		if err := c.SendChatPresence(ctx, jid, step.state, step.media); err != nil {
			t.Fatal(err)
		}
		w.activity(friend, saw("chatstate", step.value))
		w.do(http.MethodPost, "/phones/"+friend+"/presence", map[string]string{"to": gateway, "presence": step.value}, nil)
		expect(c, func(e *events.ChatPresence) bool {
			return e.State == step.state && (e.Media == types.ChatPresenceMediaAudio) == (step.value == "recording") &&
				e.SenderAlt.User == friend
		})
	}
}

func TestPresenceIsSeenOnBothSides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	c.named()
	ctx := context.Background()
	if err := c.SubscribePresence(ctx, types.NewJID(friend, types.DefaultUserServer)); err != nil {
		t.Fatal(err)
	}
	expect(c, func(e *events.Presence) bool { return e.Unavailable && e.From.User == friend })
	for _, presence := range []types.Presence{types.PresenceAvailable, types.PresenceUnavailable} {
		if err := c.SendPresence(ctx, presence); err != nil {
			t.Fatal(err)
		}
		w.activity(friend, saw("presence", string(presence)))
		c.forget()
		w.do(http.MethodPost, "/phones/"+friend+"/presence", map[string]string{"to": gateway, "presence": string(presence)}, nil)
		expect(c, func(e *events.Presence) bool { return e.Unavailable == (presence == types.PresenceUnavailable) })
	}
	if status := w.call(http.MethodPost, "/phones/"+friend+"/presence", map[string]string{"to": gateway, "presence": "asleep"}, nil); status != http.StatusBadRequest {
		t.Errorf("an unknown presence: %d", status)
	}
}

func TestDeviceThatIsGoneIsOffline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, two := w.newClient().link(gateway), w.newClient().link(friend)
	c.named()
	if err := two.SubscribePresence(context.Background(), types.NewJID(gateway, types.DefaultUserServer)); err != nil {
		t.Fatal(err)
	}
	expect(two, func(e *events.Presence) bool { return e.Unavailable })
	if err := c.SendPresence(context.Background(), types.PresenceAvailable); err != nil {
		t.Fatal(err)
	}
	expect(two, func(e *events.Presence) bool { return !e.Unavailable })
	two.forget()
	c.Disconnect()
	expect(two, func(e *events.Presence) bool { return e.Unavailable && !e.LastSeen.IsZero() })
}

func TestNameComesFromThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodPut, "/phones/"+gateway, map[string]string{"name": "Shop"}, nil)
	c := w.newClient().link(gateway)
	if name := c.named(); name != "Shop" {
		t.Errorf("the client calls itself %q", name)
	}
	w.do(http.MethodPut, "/phones/"+gateway, map[string]string{"name": "New shop"}, nil)
	expect(c, func(e *events.PushNameSetting) bool { return e.Action.GetName() == "New shop" })
	expect(c, func(e *events.HistorySync) bool { return e.Data.GetSyncType().String() == "RECENT" })
	// A presence that has only a name changes the name, not whether anybody is
	// online.
	c.node(waBinary.Node{Tag: "presence", Attrs: waBinary.Attrs{"name": "Third shop"}})
	expect(c, func(e *events.PushNameSetting) bool { return e.Action.GetName() == "Third shop" })
	var phone account.Phone
	w.do(http.MethodGet, "/phones/"+gateway, nil, &phone)
	if phone.Name != "Third shop" {
		t.Errorf("the phone is %+v", phone)
	}
}

func TestChatSettingsReachTheOtherDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient()
	two.EmitAppStateEventsOnFullSync = true
	two.link(gateway)
	one.named()
	two.named()
	if err := one.SendAppState(context.Background(), pin(friend)); err != nil {
		t.Fatal(err)
	}
	expect[*events.Pin](two, nil)
}
