package whatsapp_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/whatsapp"
)

const allGroups = "get w:g2 participating"

// The settings that changed are named, and who asks to join is, to administrators.
func TestGroupSettingsAndJoinRequestsArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	made, _, err := session.Groups().CreateGroup(t.Context(), gateway.NewGroup{Subject: "Team"})
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	for _, c := range []struct {
		change gateway.GroupUpdate
		want   gateway.GroupSetting
	}{
		{gateway.GroupUpdate{AdminsWrite: new(true)}, gateway.SettingMessages},
		{gateway.GroupUpdate{AdminsEdit: new(true)}, gateway.SettingInfo},
		{gateway.GroupUpdate{AdminsAdd: new(true)}, gateway.SettingAdding},
		{gateway.GroupUpdate{Approval: new(true)}, gateway.SettingApproval},
		{gateway.GroupUpdate{Disappearing: new(24 * time.Hour)}, gateway.SettingDisappearing},
	} {
		if err := session.Groups().ChangeGroup(t.Context(), made.ID, c.change); err != nil {
			t.Fatal(err)
		}
		got := e.await(t, "group").group
		if got.Kind != gateway.GroupSettingsChanged || !slices.Equal(got.Settings, []gateway.GroupSetting{c.want}) {
			t.Errorf("%s: got %+v", c.want, got)
		}
	}
	code, err := session.Groups().GroupInvite(t.Context(), made.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	if joined, err := w.box.Groups.Join(t.Context(), peerNumber, code); err != nil || joined {
		t.Fatalf("joined: %t (%v)", joined, err)
	}
	got := e.await(t, "group").group
	if got.Kind != gateway.GroupJoinRequested || !w.isPerson(t, got.Actor, peerNumber) || len(got.Participants) != 1 ||
		!w.isPerson(t, got.Participants[0], peerNumber) {
		t.Errorf("a request to join arrived as %+v", got)
	}
	if _, err := w.box.Groups.Update(t.Context(), string(made.ID), group.Update{Reject: []string{peerNumber}}); err != nil {
		t.Fatal(err)
	}
	if got := e.await(t, "group").group; got.Kind != gateway.GroupJoinRequestEnded || len(got.Participants) != 1 {
		t.Errorf("the end of a request arrived as %+v", got)
	}
	community, _, err := session.Groups().CreateGroup(t.Context(), gateway.NewGroup{Subject: "All", IsCommunity: true})
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	e.await(t, "group") // the one in which it announces
	if err := session.Groups().LinkGroup(t.Context(), community.ID, made.ID, true); err != nil {
		t.Fatal(err)
	}
	for range 2 { // one of the group, one of the community
		if got := e.await(t, "group").group; got.Kind != gateway.GroupLinked || got.Other != community.ID && got.Other != made.ID {
			t.Errorf("a link arrived as %+v", got)
		}
	}
}

// All groups are asked for once; a change costs one question about one group.
func TestGroupsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	var ids []string
	for n := range 3 {
		made, err := w.box.Groups.Create(t.Context(), group.Draft{
			Subject: fmt.Sprint("Team ", n), Owner: peerNumber, Members: []group.NewMember{{Number: ownNumber}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
		e.await(t, "group")
	}
	list := func() []string {
		t.Helper()
		groups, err := session.Groups().JoinedGroups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var subjects []string
		for _, group := range groups {
			subjects = append(subjects, group.Subject)
			if group.Size != 2 || len(group.Participants) != 0 {
				t.Errorf("listed %+v", group)
			}
		}
		slices.Sort(subjects)
		return subjects
	}
	for range 3 {
		if got := list(); !slices.Equal(got, []string{"Team 0", "Team 1", "Team 2"}) {
			t.Fatalf("listed %q", got)
		}
	}
	before := w.box.Sessions.AnsweredRequests()
	if before[allGroups] != 1 {
		t.Errorf("the platform was asked for all groups %d times", before[allGroups])
	}
	if _, err := w.box.Groups.Update(t.Context(), ids[0], group.Update{Subject: new("Renamed")}); err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	if _, err := w.box.Groups.Update(t.Context(), ids[1], group.Update{Remove: []string{ownNumber}}); err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	for range 2 {
		if got := list(); !slices.Equal(got, []string{"Renamed", "Team 2"}) {
			t.Fatalf("listed %q", got)
		}
	}
	after := w.box.Sessions.AnsweredRequests()
	if after[allGroups] != 1 || after["get w:g2 query"]-before["get w:g2 query"] != 2 {
		t.Errorf("two changes made the platform answer %v, before them %v", after, before)
	}
}
