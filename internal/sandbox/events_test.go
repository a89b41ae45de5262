package sandbox_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCallsRing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway)
	for _, video := range []bool{false, true} {
		var call struct{ CallID string }
		w.do(http.MethodPost, "/phones/"+friend+"/call", map[string]any{"to": gateway, "video": video}, &call)
		expect(c, func(e *events.CallOffer) bool {
			_, pictures := e.Data.GetOptionalChildByTag("video")
			return e.CallID == call.CallID && pictures == video && e.CallCreatorAlt.User == friend && e.CallCreator.Server == types.HiddenUserServer
		})
		w.do(http.MethodPost, "/phones/"+friend+"/call", map[string]any{"to": info.ID, "video": video}, &call)
		expect(c, func(e *events.CallOfferNotice) bool {
			return e.CallID == call.CallID && e.GroupJID == jid && (e.Media == "video") == video
		})
	}
	if status := w.call(http.MethodPost, "/phones/"+other+"/call", map[string]any{"to": info.ID}, nil); status != http.StatusBadRequest {
		t.Errorf("a stranger's call to a group: %d", status)
	}
}

func TestRestrictedAccountCannotWriteToNewContacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway).synchronised()
	known := c.text(friend, "we know each other")
	w.message(gateway, known, hasStatus("read"))
	w.do(http.MethodPost, "/phones/"+gateway+"/restrict", map[string]any{"seconds": 3600}, nil)
	expect(c, func(e *events.NotifyAccountReachoutTimelock) bool {
		return e.IsActive && time.Until(e.TimeEnforcementEnds.Time) > 50*time.Minute
	})
	c.text(friend, "still")
	if _, err := c.tryText(other, "who are you"); err == nil {
		t.Error("a restricted account wrote to somebody new")
	}
	w.do(http.MethodPost, "/phones/"+gateway+"/restrict", nil, nil)
	expect(c, func(e *events.NotifyAccountReachoutTimelock) bool { return !e.IsActive })
	c.text(other, "at last")
}

func TestGroupIsChangedBySomebody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway, partner)
	patch := func(change map[string]any) {
		t.Helper()
		w.do(http.MethodPatch, "/groups/"+info.ID, change, nil)
	}
	by := func(number string, want func(*events.GroupInfo) bool) {
		t.Helper()
		expect(c, func(e *events.GroupInfo) bool { return e.SenderPN != nil && e.SenderPN.User == number && want(e) })
	}
	patch(map[string]any{"by": partner, "subject": "Another"})
	by(partner, func(e *events.GroupInfo) bool { return e.Name != nil && e.Name.Name == "Another" })
	for _, on := range []bool{true, false} {
		patch(map[string]any{"announce": on})
		by(friend, func(e *events.GroupInfo) bool { return e.Announce != nil && e.Announce.IsAnnounce == on })
	}
	patch(map[string]any{"by": partner, "remove": []string{partner}})
	by(partner, func(e *events.GroupInfo) bool { return len(e.Leave) == 1 && e.Leave[0] == *e.Sender })
	if status := w.call(http.MethodPatch, "/groups/"+info.ID, map[string]any{"by": partner, "subject": "x"}, nil); status != http.StatusBadRequest {
		t.Errorf("a change by somebody who left: %d", status)
	}

	drawn := picture(t, 8, 8)
	patch(map[string]any{"picture": dataURI("image/png", drawn)})
	expect(c, func(e *events.Picture) bool { return e.JID == jid && !e.Remove && e.PictureID != "" })
	shown, err := c.GetProfilePictureInfo(context.Background(), jid, nil)
	if err != nil || shown.URL == "" {
		t.Fatalf("the picture is %+v (%v)", shown, err)
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, shown.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.web.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the picture's URL answers %s", response.Status)
	}
	patch(map[string]any{"picture": nil})
	expect(c, func(e *events.Picture) bool { return e.JID == jid && e.Remove })
}

func TestPictureOfAContactIsAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, stranger := w.newClient().link(gateway), w.newClient().link(partner)
	w.send(friend, gateway, "hello")
	c.got("hello")
	phone := account.Phone{}
	w.do(http.MethodPut, "/phones/"+friend, map[string]any{"profilePicture": dataURI("image/png", picture(t, 8, 8))}, &phone)
	expect(c, func(e *events.Picture) bool { return e.JID.String() == phone.LID && !e.Remove })
	w.send(friend, partner, "hello") // comes after the others
	stranger.got("hello")
	if got := seen[*events.Picture](stranger); len(got) > 0 {
		t.Errorf("a stranger got %+v", got)
	}
}

func TestHiddenNumberIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	for _, hidden := range []bool{true, false} {
		w.do(http.MethodPut, "/phones/"+friend, map[string]any{"hideNumber": hidden}, nil)
		w.send(friend, gateway, "hello")
		if m := c.got("hello"); m.Info.SenderAlt.IsEmpty() != hidden {
			t.Errorf("hidden %v: from %s, %s", hidden, m.Info.Sender, m.Info.SenderAlt)
		}
		c.forget()
	}
}

func TestMessagesThatClientsMayNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	say := func(message map[string]any) string {
		t.Helper()
		var answer struct{ MessageID string }
		message["to"] = gateway
		w.do(http.MethodPost, "/phones/"+friend+"/messages", message, &answer)
		return answer.MessageID
	}
	id := say(map[string]any{"type": "poll", "text": "Who comes?", "options": []string{"I", "not me"}})
	expect(c, func(e *events.Message) bool {
		return e.Info.ID == id && e.Info.Type == "poll" && len(e.Message.GetPollCreationMessageV3().GetOptions()) == 2
	})
	if m := w.message(gateway, id, func(content.Shown) bool { return true }); m.Type != "poll" || m.Text != "Who comes?" {
		t.Errorf("the phone shows %+v", m)
	}
	for kind, is := range cases.Sorted(map[string]func(*events.Message) bool{
		"pin":    func(e *events.Message) bool { return e.Message.GetPinInChatMessage() != nil },
		"":       func(e *events.Message) bool { return len(e.Message.ProtoReflect().GetUnknown()) > 0 },
		"future": func(e *events.Message) bool { return len(e.Message.ProtoReflect().GetUnknown()) > 0 },
	}) {
		id := say(map[string]any{"type": "unsupported", "kind": kind})
		expect(c, func(e *events.Message) bool { return e.Info.ID == id && is(e) })
		if m := w.message(gateway, id, func(content.Shown) bool { return true }); m.Type != "unsupported" {
			t.Errorf("%s: the phone shows %+v", kind, m)
		}
	}
	id = say(map[string]any{
		"type": "image", "media": dataURI("image/png", picture(t, 8, 8)), "viewOnce": true, "unavailable": true,
	})
	expect(c, func(e *events.UndecryptableMessage) bool {
		return e.Info.ID == id && e.IsUnavailable && e.UnavailableType == events.UnavailableTypeViewOnce
	})
	for name, message := range cases.Sorted(map[string]map[string]any{
		"no options":              {"type": "poll", "text": "?"},
		"one option":              {"type": "poll", "text": "?", "options": []string{"a"}},
		"an unknown kind":         {"type": "unsupported", "kind": "hologram"},
		"unavailable, not hidden": {"type": "text", "text": "x", "unavailable": true},
	}) {
		message["to"] = gateway
		if status := w.call(http.MethodPost, "/phones/"+friend+"/messages", message, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// A short history is part of its notification, and a long one is on the media host.
func TestHistoryIsHandedOver(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		textBytes int
		left      bool // on the media host
	}{
		"short": {7, false},
		"long":  {appstate.MaxInline, true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.send(friend, gateway, "before")
			w.message(gateway, id, hasStatus("read"))
			w.do(http.MethodPut, "/phones/"+gateway+"/history", map[string]any{"chats": 2, "messages": 3, "bytes": c.textBytes}, nil)
			w.down()
			w.start() // what a call confirmed is kept
			sync := expect(w.newClient().link(gateway), func(e *events.HistorySync) bool { return len(e.Data.GetConversations()) > 0 })
			chats := sync.Data.GetConversations()
			if len(chats) != 3 || len(sync.Data.GetPhoneNumberToLidMappings()) != 4 || (sync.Notification.GetDirectPath() != "") != c.left {
				t.Fatalf("%d chats, %d pairs, at %q", len(chats), len(sync.Data.GetPhoneNumberToLidMappings()), sync.Notification.GetDirectPath())
			}
			if m := chats[0].GetMessages()[0].GetMessage(); m.GetKey().GetID() != id || m.GetMessage().GetConversation() != "before" || m.GetKey().GetFromMe() {
				t.Errorf("the first message is %v", m)
			}
			if made := chats[1].GetMessages(); len(made) != 3 || len(made[0].GetMessage().GetMessage().GetConversation()) != c.textBytes {
				t.Errorf("the made-up messages are %v", made)
			}
		})
	}
}

func TestHistoryToMakeUpIsChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, body := range cases.Sorted(map[string]map[string]any{
		"too much": {"chats": 1000, "messages": 1000, "bytes": 1000}, "negative": {"chats": -1},
	}) {
		if status := w.call(http.MethodPut, "/phones/"+gateway+"/history", body, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
}

func TestPhoneThatLostItsKeysAsksAgain(t *testing.T) {
	t.Parallel()
	const away = "5511988880002"
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text(away, "hello")
	w.do(http.MethodPost, "/phones/"+away+"/lose-keys", nil, nil)
	w.do(http.MethodPut, "/phones/"+away, map[string]any{"online": true}, nil)
	w.message(away, id, func(m content.Shown) bool { return m.Text == "hello" })
	c.receipt(id, types.ReceiptTypeRetry)
}
