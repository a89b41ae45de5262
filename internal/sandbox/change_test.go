package sandbox_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/content"
)

func TestChangesOfAClientShowOnThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	theirs := w.send(friend, gateway, "theirs")
	chat := c.got("theirs").Info.Chat
	mine := c.text(friend, "mine")
	both := func(id string, want func(content.Shown) bool) {
		w.message(friend, id, want)
		w.message(gateway, id, want)
	}
	c.say(chat, c.BuildEdit(chat, mine, textMessage("better")))
	both(mine, func(m content.Shown) bool { return m.Text == "better" && m.Edited })
	react := func(with string) { c.say(chat, c.BuildReaction(chat, chat, theirs, with)) }
	react("👍")
	react("🎉")
	both(theirs, func(m content.Shown) bool {
		return len(m.Reactions) == 1 && m.Reactions[0] == content.Reaction{From: pn(gateway).String(), Reaction: "🎉"}
	})
	react("")
	both(theirs, func(m content.Shown) bool { return len(m.Reactions) == 0 })
	c.say(chat, c.BuildRevoke(chat, types.EmptyJID, mine))
	both(mine, func(m content.Shown) bool { return m.Deleted && m.Text == "" && m.Type == "text" })
	// Other people's messages must not change.
	c.say(chat, c.BuildEdit(chat, theirs, textMessage("twisted")))
	c.say(chat, c.BuildRevoke(chat, types.EmptyJID, theirs))
	w.message(friend, c.text(friend, "last"), anyMessage)
	if m := w.message(friend, theirs, anyMessage); m.Text != "theirs" || m.Edited || m.Deleted {
		t.Errorf("the phone shows %+v", m)
	}
}

func TestEditThatComesTooLateIsIgnored(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // how far the sandbox's clock is ahead
	w := newWorld(t, func(cfg *sandbox.Config) {
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	c := w.newClient().link(gateway)
	id := c.text(friend, "as it was")
	w.message(friend, id, anyMessage)
	ahead.Add(int64(30 * time.Minute))
	chat := pn(friend)
	c.say(chat, c.BuildEdit(chat, id, textMessage("too late")))
	w.message(friend, c.text(friend, "last"), anyMessage)
	if m := w.message(friend, id, anyMessage); m.Text != "as it was" {
		t.Errorf("the phone shows %+v", m)
	}
	mine := w.send(friend, gateway, "of the phone")
	ahead.Add(int64(30 * time.Minute))
	if status := w.call(http.MethodPost, chatPath(friend, mine, "edit"), map[string]string{"text": "late"}, nil); status != http.StatusConflict {
		t.Errorf("a late edit of a phone was answered with %d", status)
	}
	w.do(http.MethodDelete, chatPath(friend, mine, ""), nil, nil)
}

func TestChangesOfAPhoneReachTheClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, own := w.newClient().link(gateway), w.newClient().link(partner)
	c.text(partner, "hello")
	id := w.send(partner, gateway, "first")
	c.got("first")
	own.got("first")
	w.message(gateway, id, anyMessage)
	w.do(http.MethodPost, chatPath(partner, id, "edit"), map[string]string{"text": "second"}, nil)
	isEdit := func(m *events.Message) bool {
		change := m.Message.GetProtocolMessage()
		return change.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT && change.GetKey().GetID() == id &&
			change.GetEditedMessage().GetConversation() == "second" && m.IsEdit
	}
	expect(c, isEdit)
	if m := expect(own, isEdit); !m.Info.IsFromMe {
		t.Errorf("the own device got %+v", m.Info)
	}
	w.do(http.MethodPost, chatPath(gateway, id, "reaction"), map[string]string{"reaction": "👍"}, nil)
	reaction := expect(own, func(m *events.Message) bool { return m.Message.GetReactionMessage() != nil })
	if reaction.Info.Type != "reaction" || reaction.Message.GetReactionMessage().GetKey().GetID() != id || reaction.Message.GetReactionMessage().GetText() != "👍" {
		t.Errorf("the reaction came as %+v", reaction)
	}
	w.do(http.MethodDelete, chatPath(partner, id, ""), nil, nil)
	expect(c, func(m *events.Message) bool {
		change := m.Message.GetProtocolMessage()
		return change.GetType() == waE2E.ProtocolMessage_REVOKE && change.GetKey().GetID() == id && m.Info.Edit == types.EditAttributeSenderRevoke
	})
	for _, number := range []string{gateway, partner} {
		w.message(number, id, func(m content.Shown) bool { return m.Deleted && m.Text == "" })
	}
}

func TestAPhoneChangesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.send(friend, other, "of a friend")
	w.message(other, id, anyMessage)
	place := w.post(friend, map[string]any{"to": other, "type": "location", "latitude": 1, "longitude": 1})
	for _, call := range []struct {
		method, path string
		body         any
		status       int
	}{
		{http.MethodPost, chatPath(other, id, "edit"), map[string]string{"text": "x"}, 400},
		{http.MethodDelete, chatPath(other, id, ""), nil, 400},
		{http.MethodPost, chatPath(friend, id, "edit"), map[string]string{"text": ""}, 400},
		{http.MethodPost, chatPath(friend, place, "edit"), map[string]string{"text": "x"}, 400},
		{http.MethodPost, chatPath(friend, id, "reaction"), map[string]string{}, 400},
		{http.MethodPost, chatPath(friend, "none", "edit"), map[string]string{"text": "x"}, 404},
		{http.MethodDelete, chatPath(friend, "none", ""), nil, 404},
		{http.MethodDelete, chatPath(friend, "none", "media"), nil, 404},
		{http.MethodDelete, chatPath(friend, id, "media"), nil, 400},
	} {
		if status := w.call(call.method, call.path, call.body, nil); status != call.status {
			t.Errorf("%s %s: %d, want %d", call.method, call.path, status, call.status)
		}
	}
}

func TestClientAsksForAChangeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	c.text(friend, "hi")
	id := w.send(friend, gateway, "session")
	m := c.got("session")
	c.text(friend, "both ways")
	if err := c.Store.Sessions.DeleteSession(context.Background(), m.Info.Sender.SignalAddress().String()); err != nil {
		t.Fatal(err)
	}
	w.do(http.MethodPost, chatPath(friend, id, "reaction"), map[string]string{"reaction": "👍"}, nil)
	if m := expect(c, func(m *events.Message) bool { return m.Message.GetReactionMessage() != nil }); m.RetryCount != 1 {
		t.Errorf("got %+v after %d retries", m.Info, m.RetryCount)
	}
}
