package wire_test

import (
	"fmt"
	"testing"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

func lid(n int) types.JID { return types.NewJID(fmt.Sprint(100_000_000+n), types.HiddenUserServer) }

// What the platform says of a group is bounded and cleaned, and whoever was not added is no
// member.
func TestNewGroupIsBounded(t *testing.T) {
	t.Parallel()
	info := &types.GroupInfo{JID: types.NewJID("1203630", types.GroupServer), ParticipantCount: -5}
	info.Name = "Te\u202eam\x00\n"
	for n := range 100_000 {
		info.Participants = append(info.Participants, types.GroupParticipant{JID: lid(n), IsAdmin: n == 1})
	}
	info.Participants[0].Error = 403
	self := gateway.Party{LID: wire.JIDOf(lid(1))}
	group := wire.NewGroup(info, self)
	if len(group.Participants) != gateway.MaxGroupMembers || group.Size != gateway.MaxGroupMembers || group.Subject != "Team" ||
		group.Participants[0].Party.LID != self.LID || group.Role != gateway.RoleAdmin {
		t.Errorf("%d members of %d, subject %q, role %q", len(group.Participants), group.Size, group.Subject, group.Role)
	}
}

func TestMemberRefusal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		action gateway.MemberAction
		code   int
		want   string
	}{
		{gateway.MembersAdd, 0, ""},
		{gateway.MembersAdd, 200, ""},
		{gateway.MembersAdd, 403, gateway.CodeParticipantPrivacy},
		{gateway.MembersAdd, 417, gateway.CodeParticipantPrivacy},
		{gateway.MembersAdd, 404, gateway.CodeNotRegistered},
		{gateway.MembersRemove, 404, gateway.CodeNotParticipant},
		{gateway.MembersAdd, 408, gateway.CodeParticipantLeft},
		{gateway.MembersAdd, 409, gateway.CodeAlreadyParticipant},
		{gateway.MembersAdd, 419, gateway.CodeGroupFull},
		{gateway.MembersDemote, 406, gateway.CodeParticipantRefused},
		{gateway.MembersRemove, 403, gateway.CodeParticipantRefused},
		{gateway.MembersAdd, -1, gateway.CodeParticipantRefused},
	} {
		got := ""
		if refusal := wire.MemberRefusal(test.action, test.code); refusal != nil {
			got = refusal.Code
		}
		if got != test.want {
			t.Errorf("%s answered with %d is %q, want %q", test.action, test.code, got, test.want)
		}
	}
}

// Whatever the platform says of those who wait, the gateway goes on, and names nobody
// without an address.
func FuzzJoinRequests(f *testing.F) {
	f.Add("membership_approval_requests", "membership_approval_request", "100@lid", "5511988887766@s.whatsapp.net", "1795012930")
	f.Add("membership_approval_requests", "membership_approval_request", "", "x", "-1")
	f.Add("created_membership_requests", "requested_user", "100@lid", "", "9999999999999999999")
	f.Fuzz(func(t *testing.T, tag, child, jid, number, at string) {
		attrs := waBinary.Attrs{"jid": jid, "phone_number": number, "request_time": at}
		if parsed, err := types.ParseJID(jid); err == nil {
			attrs["jid"] = parsed
		}
		node := waBinary.Node{Tag: tag, Content: []waBinary.Node{{Tag: child, Attrs: attrs}}}
		for _, request := range wire.JoinRequestsOf(&waBinary.Node{Tag: "iq", Content: []waBinary.Node{node}}) {
			if request.Who.User == "" {
				t.Errorf("somebody without an address waits: %+v", request)
			}
		}
		parts, _ := wire.GroupPartsOf(&events.GroupInfo{
			JID: types.NewJID("1203630", types.GroupServer), Timestamp: time.Unix(1795012930, 0), UnknownChanges: []*waBinary.Node{&node},
		})
		for _, part := range parts {
			if len(part.People) > gateway.MaxListed || part.SourceKey == "" {
				t.Errorf("reported as %+v", part)
			}
		}
	})
}
