package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// makeGroup creates a group through the control API.
func (w *world) makeGroup(owner string, members ...string) (group.Info, types.JID) {
	w.tb.Helper()
	people := []map[string]any{}
	for _, number := range members {
		people = append(people, map[string]any{"number": number})
	}
	var info group.Info
	w.do(http.MethodPost, "/groups", map[string]any{
		"subject": "Team", "description": "who work together", "owner": owner, "participants": people,
	}, &info)
	jid, err := types.ParseJID(info.ID)
	if err != nil {
		w.tb.Fatal(err)
	}
	return info, jid
}

func inChat(chat string) func(content.Shown) bool {
	return func(m content.Shown) bool { return m.Chat == chat }
}

func TestGroupOfTheControlAPIReachesItsMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway, other)
	joined := expect[*events.JoinedGroup](c, nil)
	if joined.JID != jid || joined.Name != "Team" || joined.Topic != "who work together" || len(joined.Participants) != 3 {
		t.Errorf("the client got %+v", joined)
	}
	if info.Subject != "Team" || *info.Description != "who work together" || *info.Owner != pn(friend).String() ||
		info.Creation == 0 || *info.Participants[0].Admin != "superadmin" || info.Participants[1].Admin != nil {
		t.Errorf("made %+v", info)
	}
	known, err := c.GetGroupInfo(context.Background(), jid)
	if err != nil || known.OwnerPN.User != friend || known.Topic != "who work together" || known.AddressingMode != types.AddressingModeLID {
		t.Errorf("the client knows %+v (%v)", known, err)
	}
	mine, err := c.GetJoinedGroups(context.Background())
	if err != nil || len(mine) != 1 || mine[0].JID != jid {
		t.Errorf("the client is in %+v (%v)", mine, err)
	}
	stranger := w.newClient().link(partner)
	if _, err := stranger.GetGroupInfo(context.Background(), jid); !errors.Is(err, whatsmeow.ErrNotInGroup) {
		t.Errorf("a stranger got %v", err)
	}
	if _, err := c.GetGroupInfo(context.Background(), types.NewJID("1203630", types.GroupServer)); !errors.Is(err, whatsmeow.ErrGroupNotFound) {
		t.Errorf("asked for a missing group, the client got %v", err)
	}
}

func TestMessagesInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, own, second := w.newClient().link(gateway), w.newClient().link(gateway), w.newClient().link(partner)
	info, jid := w.makeGroup(friend, gateway, partner)
	expect[*events.JoinedGroup](c, nil)
	for _, text := range []string{"one", "two", "three"} {
		id := c.say(jid, textMessage(text))
		for _, number := range []string{gateway, partner, friend} {
			m := w.message(number, id, inChat(info.ID))
			if m.Text != text || m.From != pn(gateway).String() || m.FromMe != (number == gateway) {
				t.Errorf("%s shows %+v", number, m)
			}
		}
		if m := second.got(text); m.Info.Chat != jid || m.Info.SenderAlt.User != gateway || !m.Info.IsGroup {
			t.Errorf("the member got %+v", m.Info)
		}
		if m := own.got(text); m.Info.Chat != jid || !m.Info.IsFromMe {
			t.Errorf("the own device got %+v", m.Info)
		}
		if r := c.receipt(id, types.ReceiptTypeRead); r.Chat != jid || r.Sender.Server != types.HiddenUserServer {
			t.Errorf("the receipt is %+v", r)
		}
	}
	for _, text := range []string{"four", "five", "six"} {
		id := w.send(friend, info.ID, text)
		for _, member := range []*client{c, own, second} {
			if m := member.got(text); m.Info.Chat != jid || m.Info.SenderAlt.User != friend || m.Info.ID != id {
				t.Errorf("got %+v", m.Info)
			}
		}
		w.message(partner, id, inChat(info.ID))
		w.message(friend, id, hasStatus("delivered"))
		if text == "six" {
			m := c.got(text)
			if err := c.MarkRead(context.Background(), []types.MessageID{id}, time.Now(), jid, m.Info.Sender); err != nil {
				t.Fatal(err)
			}
			w.message(friend, id, hasStatus("read"))
		}
	}
	fromPhone := w.send(gateway, info.ID, "of the own phone")
	if m := c.got("of the own phone"); !m.Info.IsFromMe || m.Info.ID != fromPhone {
		t.Errorf("got %+v", m.Info)
	}
	w.message(friend, fromPhone, inChat(info.ID)) // a phone may be slower than a device
	var answer struct{ Data []content.Shown }
	w.do(http.MethodGet, "/phones/"+friend+"/messages?chat="+info.ID, nil, &answer)
	if list := answer.Data; len(list) != 7 {
		t.Errorf("the chat has %d messages", len(list))
	}
	for _, member := range []*client{c, own, second} {
		if bad := seen[*events.UndecryptableMessage](member); len(bad) > 0 {
			t.Errorf("%d messages could not be read", len(bad))
		}
	}
}

func TestMediaQuotesAndChangesInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway, other)
	file := []byte("a group's picture")
	id := c.say(jid, imageMessage(c.upload(file, whatsmeow.MediaImage), "ours"))
	for _, number := range []string{friend, other} {
		if m := w.message(number, id, anyMessage); m.MediaSHA256 != hashOf(file) || m.Chat != info.ID {
			t.Errorf("%s shows %+v", number, m)
		}
	}
	reply := w.post(friend, map[string]any{
		"to": info.ID, "type": "image", "media": dataURI("image/png", file), "quoteMessageId": id,
	})
	// The first part of a message brings the key of the group's messages.
	m := expect(c, func(m *events.Message) bool { return m.Info.ID == reply && m.Message.GetImageMessage() != nil })
	got, err := c.Download(context.Background(), m.Message.GetImageMessage())
	if err != nil || !bytes.Equal(got, file) || m.Message.GetImageMessage().GetContextInfo().GetStanzaID() != id {
		t.Errorf("the answer is %+v (%v)", m.Message, err)
	}
	c.say(jid, c.BuildReaction(jid, m.Info.Sender, reply, "👍"))
	for _, number := range []string{friend, other, gateway} {
		w.message(number, reply, func(m content.Shown) bool {
			return len(m.Reactions) == 1 && m.Reactions[0].From == pn(gateway).String()
		})
	}
	w.do(http.MethodPost, chatPath(other, id, "reaction"), map[string]string{"reaction": "🎉"}, nil)
	reaction := expect(c, func(m *events.Message) bool { return m.Message.GetReactionMessage() != nil })
	if reaction.Info.Chat != jid || reaction.Message.GetReactionMessage().GetKey().GetID() != id {
		t.Errorf("the reaction came as %+v", reaction)
	}
	text := c.say(jid, textMessage("before"))
	c.say(jid, c.BuildEdit(jid, text, textMessage("after")))
	for _, number := range []string{friend, other, gateway} {
		w.message(number, text, func(m content.Shown) bool { return m.Text == "after" && m.Edited })
	}
	// The group's owner may delete other people's messages, but an ordinary member
	// may not.
	if status := w.call(http.MethodDelete, chatPath(other, text, ""), nil, nil); status != http.StatusBadRequest {
		t.Errorf("a member's deletion was answered with %d", status)
	}
	w.do(http.MethodDelete, chatPath(friend, text, ""), nil, nil)
	w.message(gateway, text, func(m content.Shown) bool { return m.Deleted })
	w.message(other, text, func(m content.Shown) bool { return m.Deleted })
}

func TestLostKeysInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, second := w.newClient().link(gateway).synchronised(), w.newClient().link(partner).synchronised()
	info, jid := w.makeGroup(friend, gateway, partner)
	w.send(friend, info.ID, "first")
	sender := c.got("first").Info.Sender
	// The client loses a phone's key.
	if err := c.Store.SenderKeys.PutSenderKey(context.Background(), jid.String(), sender.SignalAddress().String(), []byte{}); err != nil {
		t.Fatal(err)
	}
	id := w.send(friend, info.ID, "lost")
	if m := c.got("lost"); m.Info.ID != id || m.Info.Chat != jid || m.RetryCount == 0 {
		t.Errorf("got %+v", m.Info)
	}
	w.send(friend, info.ID, "next")
	c.got("next")
	second.got("next")
	// A phone loses all its sessions.
	c.say(jid, textMessage("to all"))
	second.got("to all")
	w.down()
	expect[*events.Disconnected](c, nil)
	expect[*events.Disconnected](second, nil)
	c.forget()
	second.forget()
	w.forgetSessions(friend)
	w.start()
	expect[*events.Connected](c, nil)
	expect[*events.Connected](second, nil)
	id = c.say(jid, textMessage("unreadable"))
	if m := w.message(friend, id, anyMessage); m.Text != "unreadable" || m.Chat != info.ID {
		t.Errorf("shown as %+v", m)
	}
	w.message(friend, c.say(jid, textMessage("readable")), inChat(info.ID))
	second.got("readable") // the key is in use until then
	// A client loses another client's key.
	err := second.Store.SenderKeys.PutSenderKey(context.Background(), jid.String(), c.Store.GetLID().SignalAddress().String(), []byte{})
	if err != nil {
		t.Fatal(err)
	}
	c.say(jid, textMessage("last"))
	second.got("last")
}

func TestChangesOfAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	c, second := w.newClient().link(gateway), w.newClient().link(partner)
	made, err := c.CreateGroup(ctx, whatsmeow.ReqCreateGroup{Name: "Made", Participants: []types.JID{pn(partner), pn(friend)}})
	if err != nil {
		t.Fatal(err)
	}
	jid := made.JID
	if joined := expect[*events.JoinedGroup](second, nil); joined.JID != jid || joined.SenderPN.User != gateway {
		t.Errorf("the member got %+v", joined)
	}
	notified := func(what string, want func(*events.GroupInfo) bool) {
		t.Helper()
		for _, member := range []*client{c, second} {
			if change := expect(member, want); change.JID != jid {
				t.Errorf("%s: the notification is about %s", what, change.JID)
			}
		}
	}
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("subject", c.SetGroupName(ctx, jid, "Renamed"))
	notified("subject", func(e *events.GroupInfo) bool { return e.Name != nil && e.Name.Name == "Renamed" })
	check("description", c.SetGroupTopic(ctx, jid, "", "", "what for"))
	notified("description", func(e *events.GroupInfo) bool { return e.Topic != nil && e.Topic.Topic == "what for" })
	check("announcement", c.SetGroupAnnounce(ctx, jid, true))
	notified("announcement", func(e *events.GroupInfo) bool { return e.Announce != nil && e.Announce.IsAnnounce })
	if _, err := second.SendMessage(ctx, jid, textMessage("hush"), whatsmeow.SendRequestExtra{Timeout: patience}); err == nil {
		t.Error("a member wrote to a group of announcements")
	}
	check("no announcement", c.SetGroupAnnounce(ctx, jid, false))
	check("locked", c.SetGroupLocked(ctx, jid, true))
	if err := second.SetGroupName(ctx, jid, "mine"); err == nil {
		t.Error("a member renamed a locked group")
	}
	check("unlocked", c.SetGroupLocked(ctx, jid, false))
	check("disappearing", c.SetDisappearingTimer(ctx, jid, 24*time.Hour, time.Time{}))
	check("approval", c.SetGroupJoinApprovalMode(ctx, jid, true))
	check("add mode", c.SetGroupMemberAddMode(ctx, jid, types.GroupMemberAddModeAdmin))

	added, err := c.UpdateGroupParticipants(ctx, jid, []types.JID{pn(other), pn(friend)}, whatsmeow.ParticipantChangeAdd)
	check("add", err)
	if len(added) != 2 || added[0].Error != 0 || added[1].Error != 409 {
		t.Errorf("adding was answered with %+v", added)
	}
	notified("add", func(e *events.GroupInfo) bool { return len(e.Join) == 1 })
	_, err = c.UpdateGroupParticipants(ctx, jid, []types.JID{pn(partner)}, whatsmeow.ParticipantChangePromote)
	check("promote", err)
	notified("promote", func(e *events.GroupInfo) bool { return len(e.Promote) == 1 })
	link, err := second.GetGroupInviteLink(ctx, jid, true)
	check("invite", err)
	id := c.say(jid, textMessage("to the new one"))
	w.message(other, id, inChat(jid.String()))

	_, err = c.UpdateGroupParticipants(ctx, jid, []types.JID{pn(other)}, whatsmeow.ParticipantChangeRemove)
	check("remove", err)
	notified("remove", func(e *events.GroupInfo) bool { return len(e.Leave) == 1 })
	id = c.say(jid, textMessage("without the old one"))
	second.message(id)
	w.message(friend, id, anyMessage)
	if status := w.call(http.MethodPost, "/phones/"+other+"/messages", map[string]string{"to": jid.String(), "type": "text", "text": "x"}, nil); status != 400 {
		t.Errorf("a removed member wrote: %d", status)
	}
	check("leave", c.LeaveGroup(ctx, jid))
	if _, err := c.GetGroupInfo(ctx, jid); !errors.Is(err, whatsmeow.ErrNotInGroup) {
		t.Errorf("the member who left got %v", err)
	}
	if joined, err := c.JoinGroupWithLink(ctx, link); err != nil || joined != jid {
		t.Errorf("joined %s (%v)", joined, err)
	}
	for _, m := range w.messages(other) {
		if m.Text == "without the old one" {
			t.Error("a removed member got a message")
		}
	}
	if unknown := w.server.Sessions.UnknownRequests(); len(unknown) != 0 {
		t.Errorf("counted as unknown: %v", unknown)
	}
}

func TestGroupIsChangedByTheControlAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway).synchronised()
	info, jid := w.makeGroup(friend, gateway)
	var changed group.Info
	w.do(http.MethodPut, "/groups/"+info.ID, map[string]any{
		"subject": "New", "description": "", "add": []string{other}, "promote": []string{gateway},
	}, &changed)
	if changed.Subject != "New" || changed.Description != nil || len(changed.Participants) != 3 || *changed.Participants[1].Admin != "admin" {
		t.Errorf("changed to %+v", changed)
	}
	expect(c, func(e *events.GroupInfo) bool { return e.JID == jid && len(e.Promote) == 1 })
	w.do(http.MethodPut, "/groups/"+info.ID, map[string]any{"remove": []string{other}, "demote": []string{gateway}}, nil)
	w.down()
	w.start()
	var kept group.Info
	w.do(http.MethodGet, "/groups/"+info.ID, nil, &kept)
	var all struct{ Data []group.Info }
	w.do(http.MethodGet, "/groups", nil, &all)
	if kept.Subject != "New" || len(kept.Participants) != 2 || kept.Participants[1].Admin != nil || len(all.Data) != 1 {
		t.Errorf("kept %+v, %+v", kept, all)
	}
	for path, body := range cases.Sorted(map[string]map[string]any{
		"/groups/1203630@g.us": {"subject": "x"},
		"/groups/" + info.ID:   {"subject": " "},
		"/groups":              {"subject": "x"},
	}) {
		method, want := http.MethodPut, http.StatusBadRequest
		switch path {
		case "/groups":
			method = http.MethodPost
		case "/groups/1203630@g.us":
			want = http.StatusNotFound
		}
		if status := w.call(method, path, body, nil); status != want {
			t.Errorf("%s %s: %d", method, path, status)
		}
	}
}

// Clients that remember which devices have their key list none of them after the
// first message.
func TestGroupMessageWithoutAListReachesEverybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, second := w.newClient().link(gateway), w.newClient().link(partner)
	info, jid := w.makeGroup(friend, gateway, partner)
	c.say(jid, textMessage("first"))
	second.got("first")
	ciphertext := c.groupCiphertext(jid, &waE2E.Message{Conversation: new("bare")})
	c.node(waBinary.Node{
		Tag: "message", Attrs: waBinary.Attrs{"id": "BARE", "type": "text", "to": jid, "addressing_mode": "lid"},
		Content: []waBinary.Node{{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "skmsg"}, Content: ciphertext}},
	})
	second.got("bare")
	w.message(friend, "BARE", inChat(info.ID))
	w.message(gateway, "BARE", inChat(info.ID))
}

// groupCiphertext encrypts a message with the client's key in a group.
func (c *client) groupCiphertext(jid types.JID, message *waE2E.Message) []byte {
	c.w.tb.Helper()
	plaintext, err := proto.Marshal(message)
	if err != nil {
		c.w.tb.Fatal(err)
	}
	builder := groups.NewGroupSessionBuilder(c.Store, store.SignalProtobufSerializer)
	name := protocol.NewSenderKeyName(jid.String(), c.Store.GetLID().SignalAddress())
	encrypted, err := groups.NewGroupCipher(builder, name, c.Store).Encrypt(context.Background(), signal.Pad(plaintext))
	if err != nil {
		c.w.tb.Fatal(err)
	}
	return encrypted.SignedSerialize()
}

func TestTypingInAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway, other)
	ctx := context.Background()
	if err := c.SendChatPresence(ctx, jid, types.ChatPresenceComposing, types.ChatPresenceMediaText); err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{friend, other} {
		w.activity(number, func(a account.Activity) bool {
			return a.Type == "chatstate" && a.Value == "composing" && a.To == info.ID && a.From == pn(gateway).String()
		})
	}
	w.do(http.MethodPost, "/phones/"+friend+"/presence", map[string]string{"to": info.ID, "presence": "recording"}, nil)
	if e := expect[*events.ChatPresence](c, nil); e.Chat != jid || e.SenderAlt.User != friend || e.Media != types.ChatPresenceMediaAudio {
		t.Errorf("the client saw %+v", e)
	}
}
