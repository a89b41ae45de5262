package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// Links are handed out, looked at, followed and reset; who follows one where approval is on
// waits for an administrator. Each side is a gateway once, and a phone once.
func TestGroupInvites(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	made, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{Subject: "Customers", Participants: []string{customerNumber}})
	if err != nil {
		t.Fatal(err)
	}
	invite, err := g.Client.GetGroupInvite(t.Context(), id, made.ID)
	if err != nil || invite.Link != "https://chat.whatsapp.com/"+invite.Code {
		t.Fatalf("the invite is %+v (%v)", invite, err)
	}
	if !g.Phones.Join(t, memberNumber, invite.Code) {
		t.Error("a phone is not in the group")
	}
	if _, err := g.Client.ChangeGroup(t.Context(), id, made.ID, client.GroupChange{Approval: new(true)}); err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{otherNumber, "5511966660100"} {
		if g.Phones.Join(t, number, invite.Code) {
			t.Error("a phone is in the group without approval")
		}
	}
	waiting, err := g.Client.ListJoinRequests(t.Context(), id, made.ID)
	if err != nil || len(waiting.Requests) != 2 || waiting.Requests[0].ID != otherNumber+"@s.whatsapp.net" || waiting.Requests[0].RequestedAt == nil {
		t.Fatalf("waiting are %+v (%v)", waiting, err)
	}
	approved, err := g.Client.AnswerJoinRequests(t.Context(), id, made.ID, client.AnswerJoinRequests{Action: client.ActionApprove, Participants: []string{otherNumber, memberNumber}})
	if err != nil || !slices.Equal(codes(approved.Results), []string{"", "NO_JOIN_REQUEST"}) {
		t.Errorf("approved %q (%v)", codes(approved.Results), err)
	}
	rejected, err := g.Client.AnswerJoinRequests(t.Context(), id, made.ID, client.AnswerJoinRequests{Action: client.ActionReject, Participants: []string{"5511966660100"}})
	if err != nil || !slices.Equal(codes(rejected.Results), []string{""}) {
		t.Errorf("rejected %q (%v)", codes(rejected.Results), err)
	}
	if waiting, err = g.Client.ListJoinRequests(t.Context(), id, made.ID); err != nil || len(waiting.Requests) != 0 {
		t.Errorf("still waiting are %+v (%v)", waiting, err)
	}
	group, err := g.Client.GetGroup(t.Context(), id, made.ID)
	if err != nil || len(group.Participants) != 4 {
		t.Errorf("the group is %+v (%v)", group, err)
	}
	renewed, err := g.Client.ResetGroupInvite(t.Context(), id, made.ID)
	if err != nil || renewed.Code == invite.Code {
		t.Errorf("reset to %+v (%v)", renewed, err)
	}

	// The other side: a phone's group, which the instance joins.
	theirs := g.Phones.CreateGroup(t, "Suppliers", customerNumber, memberNumber).ID
	code := g.Phones.GroupSettings(t, theirs).Invite
	for _, link := range []string{code, "https://chat.whatsapp.com/" + code + "?mode=r_c"} {
		seen, err := g.Client.GetInvitedGroup(t.Context(), id, link)
		if err != nil || seen.ID != theirs || seen.Subject != "Suppliers" || seen.Size != 2 || seen.Approval {
			t.Errorf("%s leads to %+v (%v)", link, seen, err)
		}
	}
	g.Phones.UpdateGroup(t, theirs, map[string]any{"approval": true})
	if joined, err := g.Client.JoinGroup(t.Context(), id, code); err != nil || joined.ID != theirs || joined.Status != client.StatusRequested {
		t.Errorf("joined %+v (%v)", joined, err)
	}
	_, err = g.Client.GetGroup(t.Context(), id, theirs)
	testkit.Refused(t, err, http.StatusNotFound, "GROUP_NOT_FOUND")
	g.Phones.UpdateGroup(t, theirs, map[string]any{"approve": []string{shopNumber}})
	testkit.Await(t, "the approval", func() bool {
		_, err := g.Client.GetGroup(t.Context(), id, theirs)
		return err == nil
	})
	if err := g.Client.LeaveGroup(t.Context(), id, theirs); err != nil {
		t.Fatal(err)
	}
	g.Phones.UpdateGroup(t, theirs, map[string]any{"approval": false, "limit": 2})
	_, err = g.Client.JoinGroup(t.Context(), id, code)
	testkit.Refused(t, err, http.StatusConflict, "GROUP_FULL")
	g.Phones.UpdateGroup(t, theirs, map[string]any{"limit": 0})
	if joined, err := g.Client.JoinGroup(t.Context(), id, "https://chat.whatsapp.com/"+code); err != nil || joined.ID != theirs || joined.Status != client.StatusJoined {
		t.Errorf("joined %+v (%v)", joined, err)
	}
	g.Phones.UpdateGroup(t, theirs, map[string]any{"resetInvite": true})
	_, err = g.Client.GetInvitedGroup(t.Context(), id, code)
	testkit.Refused(t, err, http.StatusGone, "INVITE_EXPIRED")
	_, err = g.Client.JoinGroup(t.Context(), id, "AAAAAAAAAAAAAAAAAAAAAA")
	testkit.Refused(t, err, http.StatusNotFound, "INVITE_NOT_VALID")
	_, err = g.Client.GetInvitedGroup(t.Context(), id, "../"+url.PathEscape(code))
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
}

// A community is made, groups are linked to it and unlinked, here and on phones.
func TestCommunities(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	community, err := g.Client.CreateCommunity(t.Context(), id, client.NewCommunity{Subject: "Our shops", Description: "All branches"})
	if err != nil || !community.IsCommunity || *community.Description != "All branches" {
		t.Fatalf("made %+v (%v)", community, err)
	}
	linked := func() (subjects []string) {
		t.Helper()
		for group, err := range g.Client.CommunityGroups(t.Context(), id, community.ID) {
			if err != nil {
				t.Fatal(err)
			}
			name := group.Subject
			if group.Announcement {
				name += " (announcements)"
			}
			subjects = append(subjects, name)
		}
		slices.Sort(subjects)
		return subjects
	}
	if got := linked(); !slices.Equal(got, []string{"Our shops (announcements)"}) {
		t.Errorf("a new community has %q", got)
	}
	branch, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{Subject: "Branch", Participants: []string{customerNumber}})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Client.LinkGroup(t.Context(), id, community.ID, branch.ID); err != nil {
		t.Fatal(err)
	}
	if got := linked(); !slices.Equal(got, []string{"Branch", "Our shops (announcements)"}) {
		t.Errorf("the community has %q", got)
	}
	if of := g.Phones.GroupSettings(t, branch.ID).Community; of == nil || *of != community.ID {
		t.Errorf("phones see the community %v", of)
	}
	inside, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{Subject: "Inside", CommunityID: community.ID})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := g.Client.GetGroupSettings(t.Context(), id, inside.ID)
	if err != nil || settings.CommunityID == nil || *settings.CommunityID != community.ID {
		t.Errorf("the group is %+v (%v)", settings, err)
	}
	testkit.Refused(t, g.Client.LinkGroup(t.Context(), id, community.ID, branch.ID), http.StatusConflict, "GROUP_CHANGE_REFUSED")
	theirs := g.Phones.CreateGroup(t, "Theirs", customerNumber, shopNumber).ID
	testkit.Refused(t, g.Client.LinkGroup(t.Context(), id, community.ID, theirs), http.StatusForbidden, "GROUP_ADMIN_REQUIRED")
	if err := g.Client.UnlinkGroup(t.Context(), id, community.ID, branch.ID); err != nil {
		t.Fatal(err)
	}
	if got := linked(); !slices.Equal(got, []string{"Inside", "Our shops (announcements)"}) {
		t.Errorf("the community has %q", got)
	}
	var communities []string
	for group, err := range g.Client.Communities(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		communities = append(communities, group.Subject)
	}
	if !slices.Equal(communities, []string{"Our shops"}) {
		t.Errorf("communities %q", communities)
	}
	_, err = g.Client.ListCommunityGroups(t.Context(), id, "120363000000000999@g.us", 0, 0)
	testkit.Refused(t, err, http.StatusNotFound, "GROUP_NOT_FOUND")
}
