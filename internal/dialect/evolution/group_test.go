package evolution_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A group is made, changed, joined by others, and left.
func TestGroups(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	made := o.does(http.StatusCreated, http.MethodPost, "/group/create", object{
		"subject": "Amigas", "description": "Novidades", "participants": []string{customerNumber, otherNumber}, "promoteParticipants": true,
	})
	jid := text(made, "id")
	if text(made, "subject") != "Amigas" || text(made, "desc") != "Novidades" || at(made, "size") != 3.0 {
		t.Fatalf("made: %v", made)
	}
	admins := 0
	for n := range 3 {
		if text(made, "participants", n, "admin") != "" {
			admins++
		}
	}
	if admins != 3 {
		t.Errorf("made with the members %v", at(made, "participants"))
	}
	in := "?groupJid=" + url.QueryEscape(jid)
	for operation, body := range cases.Sorted(map[string]object{
		"updateGroupSubject": {"subject": "Amigos"}, "updateGroupDescription": {"description": "Só nós"}, "toggleEphemeral": {"expiration": 86400},
		"updateGroupPicture": {"image": base64.StdEncoding.EncodeToString(picture(t))}, "updateSetting": {"action": "announcement"},
	}) {
		o.does(http.StatusCreated, http.MethodPost, "/group/"+operation+in, body)
	}
	info := o.does(http.StatusOK, http.MethodGet, "/group/findGroupInfos"+in, nil)
	if text(info, "subject") != "Amigos" || text(info, "desc") != "Só nós" || at(info, "announce") != true || at(info, "restrict") != false || at(info, "ephemeralDuration") != 86400.0 {
		t.Errorf("after the changes: %v", info)
	}
	changed := o.does(http.StatusCreated, http.MethodPost, "/group/updateParticipant"+in, object{"action": "remove", "participants": []string{otherNumber}})
	if text(changed, "updateParticipants", 0, "status") != "200" || text(changed, "updateParticipants", 0, "jid") != otherNumber+"@s.whatsapp.net" {
		t.Errorf("removed: %v", changed)
	}
	if list := o.does(http.StatusOK, http.MethodGet, "/group/participants"+in, nil); at(list, "participants", 1) == nil || at(list, "participants", 2) != nil {
		t.Errorf("the members are %v", list)
	}
	code := text(o.does(http.StatusOK, http.MethodGet, "/group/inviteCode"+in, nil), "inviteCode")
	if invited := o.does(http.StatusOK, http.MethodGet, "/group/inviteInfo?inviteCode="+code, nil); text(invited, "id") != jid || text(invited, "subject") != "Amigos" {
		t.Errorf("invited to %v", invited)
	}
	const unregistered = "551133334444"
	g.Phones.Update(t, unregistered, map[string]any{"registered": false})
	for _, wrong := range []string{unregistered, "nobody", "x@lid", "120363000000000000@g.us"} {
		o.refused(http.StatusBadRequest, http.MethodPost, "/group/sendInvite/shop"+in, object{"description": "Não", "numbers": []string{otherNumber, wrong}})
	}
	o.does(http.StatusOK, http.MethodPost, "/group/sendInvite"+in, object{"description": "Venha", "numbers": []string{otherNumber}})
	testkit.Await(t, "the invitation", func() bool { return len(g.Phones.Messages(t, otherNumber, "")) > 0 })
	if shown := g.Phones.Messages(t, otherNumber, ""); len(shown) != 1 || !strings.HasPrefix(shown[0].Text, "Venha\n\n") {
		t.Errorf("invited by %+v", shown)
	}
	if revoked := o.does(http.StatusCreated, http.MethodPost, "/group/revokeInviteCode"+in, object{}); text(revoked, "inviteCode") == code {
		t.Errorf("revoked: %v", revoked)
	}
	for with, members := range cases.Sorted(map[string]bool{"true": true, "false": false}) {
		if all := o.does(http.StatusOK, http.MethodGet, "/group/fetchAllGroups?getParticipants="+with, nil); text(all, 0, "id") != jid || (at(all, 0, "participants") != nil) != members {
			t.Errorf("all groups: %v", all)
		}
	}
	if sent := o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{"number": jid, "text": "Oi a todos", "mentionsEveryOne": true}); text(sent, "key", "remoteJid") != jid || text(sent, "key", "participant") == "" {
		t.Errorf("sent: %v", sent)
	}
	if left := o.does(http.StatusOK, http.MethodDelete, "/group/leaveGroup"+in, nil); at(left, "leave") != true {
		t.Errorf("left: %v", left)
	}
}

// A group is joined by its link; what is missing is said.
func TestGroupsAreJoined(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	theirs := g.Phones.CreateGroup(t, "Bairro", customerNumber, otherNumber).ID
	if joined := o.does(http.StatusOK, http.MethodGet, "/group/acceptInviteCode?inviteCode="+g.Phones.GroupSettings(t, theirs).Invite, nil); at(joined, "accepted") != true || text(joined, "groupJid") != theirs {
		t.Errorf("joined: %v", joined)
	}
	for path, want := range cases.Sorted(map[string]int{
		"GET /group/participants/shop": http.StatusBadRequest, "GET /group/inviteInfo/shop": http.StatusBadRequest, "GET /group/fetchAllGroups/shop": http.StatusBadRequest,
		"GET /group/findGroupInfos/shop?groupJid=120363000000000000@g.us": http.StatusNotFound, "POST /group/create/shop": http.StatusBadRequest, "POST /group/updateSetting/shop": http.StatusBadRequest,
	}) {
		method, path, _ := strings.Cut(path, " ")
		if message := o.refused(want, method, path, object{}); text(message, 0) == "" {
			t.Errorf("%s: %v", path, message)
		}
	}
}
