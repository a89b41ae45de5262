package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// These tests are for rules of the protocol that a second implementation of a
// client depends on, and whatsmeow does not.

// request sends an iq and returns the answer.
func (c *client) request(xmlns, kind string, content ...waBinary.Node) (*waBinary.Node, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	query := whatsmeow.DangerousInfoQuery{
		Namespace: xmlns, Type: whatsmeow.DangerousInfoQueryType(kind), To: types.ServerJID, NoRetry: true,
	}
	if len(content) > 0 {
		query.Content = content
	}
	return c.internals().SendIQ(ctx, query)
}

// A client that is not linked may only link: the name of the request in which it
// does so opens no other namespace.
func TestUnlinkedClientMayOnlyLink(t *testing.T) {
	t.Parallel()
	c := newWorld(t).newClient()
	c.connect()
	expect[*events.QR](c, nil)
	step := waBinary.Node{Tag: "link_code_companion_reg"}
	for _, xmlns := range []string{"blocklist", "disappearing_mode", "w:g2", "privacy"} {
		if _, err := c.request(xmlns, "get", step); !errors.Is(err, whatsmeow.ErrIQNotAuthorized) {
			t.Errorf("a request of %s is answered %v", xmlns, err)
		}
	}
	if !c.IsConnected() {
		t.Error("the connection ended")
	}
}

func TestRequestsAfterTheLoginAreAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	skey := waBinary.Node{Tag: "skey", Content: []waBinary.Node{
		{Tag: "id", Content: []byte{0, 0, 9}}, {Tag: "value", Content: make([]byte, 32)}, {Tag: "signature", Content: make([]byte, 64)},
	}}
	for _, r := range []struct {
		xmlns, kind string
		content     []waBinary.Node
		want        []string // the path of names in the answer
	}{
		{"encrypt", "get", []waBinary.Node{{Tag: "digest"}}, []string{"digest", "registration"}},
		{"encrypt", "get", []waBinary.Node{{Tag: "digest"}}, []string{"digest", "skey", "signature"}},
		{"encrypt", "get", []waBinary.Node{{Tag: "digest"}}, []string{"digest", "list", "id"}},
		{"encrypt", "get", []waBinary.Node{{Tag: "digest"}}, []string{"digest", "hash"}},
		{"encrypt", "set", []waBinary.Node{{Tag: "rotate", Content: []waBinary.Node{skey}}}, nil},
		{"abt", "get", []waBinary.Node{{Tag: "props", Attrs: waBinary.Attrs{"protocol": "1"}}}, []string{"props"}},
		{"w:p", "get", []waBinary.Node{{Tag: "ping"}}, nil},
		{"w:p", "get", nil, nil},
		{"passive", "set", []waBinary.Node{{Tag: "passive"}}, nil},
		{"blocklist", "get", nil, []string{"list"}},
		{"privacy", "get", []waBinary.Node{{Tag: "privacy"}}, []string{"privacy", "category"}},
		{"status", "get", []waBinary.Node{{Tag: "privacy"}}, []string{"privacy", "list"}},
		{"status", "set", []waBinary.Node{{Tag: "status", Content: []byte("busy")}}, nil},
		{"w:biz", "get", []waBinary.Node{{Tag: "business_profile"}}, []string{"business_profile"}},
		{"urn:xmpp:whatsapp:dirty", "set", []waBinary.Node{{Tag: "clean"}}, nil},
		{"w:g2", "get", []waBinary.Node{{Tag: "participating"}}, []string{"groups"}},
	} {
		answer, err := c.request(r.xmlns, r.kind, r.content...)
		if err != nil {
			t.Errorf("%s %s: %v", r.kind, r.xmlns, err)
			continue
		}
		if _, ok := answer.GetOptionalChildByTag(r.want...); !ok {
			t.Errorf("%s %s: answered %v, want %v", r.kind, r.xmlns, answer, r.want)
		}
	}
	info, err := c.GetUserInfo(context.Background(), []types.JID{types.NewJID(gateway, types.DefaultUserServer)})
	if err != nil || info[types.NewJID(gateway, types.DefaultUserServer)].Status != "busy" {
		t.Errorf("the account says %+v, %v", info, err)
	}
	text := "away"
	if err := c.SetStatusMessage(context.Background(), types.SetStatusInput{Text: &text}); err != nil {
		t.Error(err)
	}
	if unknown := w.server.Sessions.UnknownRequests(); len(unknown) != 0 {
		t.Errorf("counted as unknown: %v", unknown)
	}
}

func TestUnknownRequestIsRefusedAndCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	_, err := c.request("w:nobody", "get", waBinary.Node{Tag: "knows"})
	if err == nil {
		t.Error("it was answered")
	}
	if counts := w.server.Sessions.UnknownRequests(); counts["get w:nobody knows"] != 1 || len(counts) != 1 {
		t.Errorf("counted %v", counts)
	}
}

func TestKeepaliveIsAnsweredBeforeTheLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient()
	c.connect()
	expect[*events.QR](c, nil)
	if _, err := c.request("w:p", "get", waBinary.Node{Tag: "ping"}); err != nil {
		t.Error(err)
	}
	if _, err := c.request("encrypt", "get", waBinary.Node{Tag: "count"}); err == nil {
		t.Error("somebody who is not linked was answered")
	}
}

func TestLookupAnswersInTheFormItIsAskedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	var phone account.Phone
	w.do("GET", "/phones/"+friend, nil, &phone)
	lid, _ := types.ParseJID(phone.LID)
	pn := types.NewJID(friend, types.DefaultUserServer)
	ask := func(query []waBinary.Node, user waBinary.Node) waBinary.Node {
		answer, err := c.request("usync", "get", waBinary.Node{
			Tag: "usync", Attrs: waBinary.Attrs{"sid": "1", "mode": "query", "last": "true", "index": "0", "context": "interactive"},
			Content: []waBinary.Node{{Tag: "query", Content: query}, {Tag: "list", Content: []waBinary.Node{user}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return answer.GetChildByTag("usync", "list", "user")
	}
	byNumber := waBinary.Node{Tag: "user", Content: []waBinary.Node{{Tag: "contact", Content: []byte("+" + friend)}}}
	if got := ask([]waBinary.Node{{Tag: "contact"}}, byNumber); got.Attrs["jid"] != pn || got.Attrs["pn_jid"] != nil {
		t.Errorf("without addressing mode: %v", got)
	}
	if got := ask([]waBinary.Node{{Tag: "contact", Attrs: waBinary.Attrs{"addressing_mode": "lid"}}}, byNumber); got.Attrs["jid"] != lid || got.Attrs["pn_jid"] != pn {
		t.Errorf("with addressing mode: %v", got)
	}
	both := []waBinary.Node{{Tag: "devices", Attrs: waBinary.Attrs{"version": "2"}}, {Tag: "lid"}}
	got := ask(both, waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": pn}})
	if found := got.GetChildByTag("lid"); found.Attrs["val"] != lid {
		t.Errorf("by number: %v", got)
	}
	got = ask(both, waBinary.Node{Tag: "user", Attrs: waBinary.Attrs{"jid": lid}})
	if _, found := got.GetOptionalChildByTag("lid"); found {
		t.Errorf("by LID: %v", got)
	}
	if _, ok := got.GetOptionalChildByTag("devices", "device-list", "device"); !ok {
		t.Errorf("by LID: %v", got)
	}
}

func TestReceiptsComeFromTheAddressThatWasWrittenTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(partner)
	one.text(partner, "first")
	two.got("first")
	one.text(friend, "first")
	var phone account.Phone
	w.do("GET", "/phones/"+friend, nil, &phone)
	lid, _ := types.ParseJID(phone.LID)
	for number, device := range cases.Sorted(map[string]types.JID{partner: two.Store.GetLID(), friend: lid}) {
		enc, prekey, err := one.encryptFor(device, "to the number")
		if err != nil {
			t.Fatal(err)
		}
		byNumber := device
		byNumber.User, byNumber.Server = number, types.DefaultUserServer
		id := one.GenerateMessageID()
		content := []waBinary.Node{{Tag: "participants", Content: []waBinary.Node{
			{Tag: "to", Attrs: waBinary.Attrs{"jid": byNumber}, Content: []waBinary.Node{*enc}},
			// Some clients list themselves among the receivers. They must not get
			// the message.
			{Tag: "to", Attrs: waBinary.Attrs{"jid": one.Store.GetLID()}, Content: []waBinary.Node{*enc}},
		}}}
		if prekey {
			content = append(content, one.internals().MakeDeviceIdentityNode())
		}
		one.node(waBinary.Node{
			Tag: "message", Attrs: waBinary.Attrs{"id": id, "type": "text", "to": byNumber.ToNonAD()}, Content: content,
		})
		if r := one.receipt(id, types.ReceiptTypeDelivered); r.Sender != byNumber.ToNonAD() {
			t.Errorf("written to %s, the receipt comes from %s", byNumber.ToNonAD(), r.Sender)
		}
		if number == partner {
			m := two.got("to the number")
			if err := two.MarkRead(context.Background(), []types.MessageID{id}, time.Now(), m.Info.Chat, m.Info.Sender); err != nil {
				t.Fatal(err)
			}
		}
		if r := one.receipt(id, types.ReceiptTypeRead); r.Sender != byNumber.ToNonAD() {
			t.Errorf("written to %s, the receipt comes from %s", byNumber.ToNonAD(), r.Sender)
		}
	}
	if lost := seen[*events.UndecryptableMessage](one); len(lost) > 0 {
		t.Errorf("the sender got its own message: %+v", lost[0].Info)
	}
}

func TestMessageToAGroupThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	if _, err := c.GetGroupInfo(context.Background(), types.NewJID("120363000000000000", types.GroupServer)); err == nil {
		t.Error("there is such a group")
	}
	groups, err := c.GetJoinedGroups(context.Background())
	if err != nil || len(groups) != 0 {
		t.Errorf("groups %v, %v", groups, err)
	}
}
