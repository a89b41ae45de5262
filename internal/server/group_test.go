package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

const memberNumber = "5511977770100"

func newGroup(t *testing.T) (g *testkit.Gateway, id, group string) {
	t.Helper()
	g = testkit.Start(t, testkit.Options{})
	id = g.Link(t, shopNumber)
	group = g.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber, memberNumber).ID
	return g, id, group
}

func TestGroupMetadata(t *testing.T) {
	t.Parallel()
	g, id, groupID := newGroup(t)
	group, err := g.Client.GetGroup(t.Context(), id, groupID)
	if err != nil {
		t.Fatal(err)
	}
	if group.ID != groupID || group.Subject != "Customers" || group.Description == nil || *group.Description != "made by a test" ||
		group.Owner == nil || *group.Owner != customerNumber+"@s.whatsapp.net" || group.Creation == 0 {
		t.Errorf("answered %+v", group)
	}
	var members []string
	for _, participant := range group.Participants {
		role := "member"
		if participant.Admin != nil {
			role = *participant.Admin
		}
		members = append(members, participant.ID+" "+role)
	}
	slices.Sort(members)
	want := []string{
		memberNumber + "@s.whatsapp.net member", customerNumber + "@s.whatsapp.net superadmin", shopNumber + "@s.whatsapp.net member",
	}
	slices.Sort(want)
	if !slices.Equal(members, want) {
		t.Errorf("members %v, want %v", members, want)
	}
	_, err = g.Client.GetGroup(t.Context(), id, "120363000000000999@g.us")
	testkit.Refused(t, err, http.StatusNotFound, "GROUP_NOT_FOUND")
	others := g.Phones.CreateGroup(t, "Others", otherNumber, customerNumber).ID
	for _, to := range []string{others, "120363000000000000@g.us"} {
		_, err = g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "Oi!"})
		testkit.Refused(t, err, http.StatusNotFound, "GROUP_NOT_FOUND")
	}
}

// Metadata is fetched once, and is still up to date: the platform reports changes.
func TestGroupMetadataFollowsChanges(t *testing.T) {
	t.Parallel()
	g, id, groupID := newGroup(t)
	if _, err := g.Client.GetGroup(t.Context(), id, groupID); err != nil {
		t.Fatal(err)
	}
	g.Phones.UpdateGroup(t, groupID, map[string]any{"subject": "Friends", "add": []string{otherNumber}, "promote": []string{shopNumber}})
	testkit.Await(t, "the change", func() bool {
		group, err := g.Client.GetGroup(t.Context(), id, groupID)
		if err != nil {
			t.Fatal(err)
		}
		promoted := slices.ContainsFunc(group.Participants, func(p client.Participant) bool {
			return p.ID == shopNumber+"@s.whatsapp.net" && p.Admin != nil && *p.Admin == "admin"
		})
		return group.Subject == "Friends" && len(group.Participants) == 4 && promoted
	})
}

func TestMessagesInAGroup(t *testing.T) {
	t.Parallel()
	g, id, groupID := newGroup(t)
	for _, text := range []string{"first", "second"} { // the second travels without keys
		sent, err := g.Client.SendText(t.Context(), id, client.Text{To: groupID, Message: text})
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{customerNumber, memberNumber} {
			got := g.Phones.AwaitMessage(t, member, sent.MessageID)
			if got.Text != text || got.Chat != groupID || got.From != shopNumber+"@s.whatsapp.net" {
				t.Errorf("the phone %s shows %+v", member, got)
			}
		}
	}
	received := g.Phones.SendText(t, memberNumber, groupID, "an answer")
	kept := awaitMessage(t, g, id, received)
	if kept.Chat.JID != gateway.JID(groupID) || kept.Sender.JID != gateway.JID(memberNumber+"@"+gateway.PersonalSuffix) || kept.Text != "an answer" {
		t.Errorf("kept %+v", kept)
	}
	sent, err := g.Client.SendText(t.Context(), id, client.Text{To: groupID, Message: "quoting", QuoteMessageID: groupID + "_" + received})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.QuotedMessageID != received {
		t.Errorf("the phone shows %+v", got)
	}
	if err := g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: received, Reaction: "❤️"}); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, customerNumber, received, "the reaction", func(m testkit.PhoneMessage) bool { return len(m.Reactions) == 1 })
	if _, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: received}); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, memberNumber, received, "read", func(m testkit.PhoneMessage) bool { return m.Status == "read" })
	if _, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.MessageID, Message: "edited"}); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, memberNumber, sent.MessageID, "the edit", func(m testkit.PhoneMessage) bool { return m.Text == "edited" })
	if err := g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.MessageID}); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, memberNumber, sent.MessageID, "the deletion", func(m testkit.PhoneMessage) bool { return m.Deleted })
}

func TestMediaInAGroup(t *testing.T) {
	t.Parallel()
	g, id, groupID := newGroup(t)
	content := picture(t)
	sent, err := g.Client.SendImage(t.Context(), id, client.Image{To: groupID, Image: client.DataURI("image/png", content), Caption: "all"})
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{customerNumber, memberNumber} {
		if got := g.Phones.AwaitMessage(t, member, sent.MessageID); got.MediaSHA256 != sum(content) || got.Caption != "all" {
			t.Errorf("the phone %s shows %+v", member, got)
		}
	}
}

// The groups that were listed last are listed while the instance is not connected; the platform says
// afterwards what has changed meanwhile.
func TestGroupsOfAnInstanceThatIsNotConnected(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, testkit.Options{DataDir: t.TempDir(), DatabaseURL: database(t)})
			made, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			id := made.InstanceID
			list := func(when, search string, want ...string) {
				t.Helper()
				page, err := g.Client.ListGroups(t.Context(), id, client.ListGroupsParams{Subject: search}, 1, 10)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				var got []string
				for _, group := range page.Data {
					got = append(got, group.Subject)
				}
				slices.Sort(got)
				if !slices.Equal(got, want) || page.TotalCount != len(want) {
					t.Errorf("%s: the groups are %q, want %q", when, got, want)
				}
			}
			list("not linked", "")
			g.Scan(t, id, shopNumber)
			first := g.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber, memberNumber).ID
			stop := func() {
				t.Helper()
				if err := g.Partner.StopInstance(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
			back := func() {
				t.Helper()
				if err := g.Client.RestartInstance(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				g.AwaitStatus(t, id, gateway.StatusConnected)
			}
			stop()
			_, err = g.Client.ListGroups(t.Context(), id, client.ListGroupsParams{}, 1, 10)
			testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected) // an empty list would be wrong
			back()
			list("connected", "", "Customers")

			g.Phones.Faults(t, map[string]any{"refuseLogins": true})
			g.Phones.Disconnect(t, "")
			g.AwaitStatus(t, id, gateway.StatusConnecting)
			list("on the way back", "", "Customers")
			g.Phones.UpdateGroup(t, first, map[string]any{"subject": "Clients"})
			g.Phones.CreateGroup(t, "Team", customerNumber, shopNumber)
			list("as it was", "", "Customers")
			list("a search", "team")
			_, err = g.Client.GetGroup(t.Context(), id, first)
			testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected)
			g.Phones.Faults(t, map[string]any{})
			g.AwaitStatus(t, id, gateway.StatusConnected)
			list("back", "", "Clients", "Team")
			sendText(t, g, id, "reading took nothing over")

			stop()
			list("stopped", "", "Clients", "Team")
			list("a search again", "team", "Team")
			back()
			if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			list("logged out", "")
		})
	}
}

// Who may not write in a group, and who is not in it any more, is told so on every path that sends
// something there, and never that the platform failed.
func TestGroupRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	group := g.Phones.CreateGroup(t, "team", customerNumber, shopNumber).ID
	said, err := g.Client.SendText(ctx, id, client.Text{To: group, Message: "before"})
	if err != nil {
		t.Fatal(err)
	}
	party, err := g.Client.SendEvent(ctx, id, client.CalendarEvent{To: group, Name: "party", Start: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	heard := g.Phones.SendText(t, customerNumber, group, "hello")
	awaitMessage(t, g, id, heard)
	paths := map[string]func() error{
		"send": func() error {
			_, err := g.Client.SendText(ctx, id, client.Text{To: group, Message: "again"})
			return err
		},
		"edit": func() error {
			_, err := g.Client.EditMessage(ctx, id, client.EditMessage{MessageID: said.ID, Message: "after"})
			return err
		},
		"reaction": func() error {
			return g.Client.SendReaction(ctx, id, client.Reaction{MessageID: heard, Reaction: "👍"})
		},
		"delete": func() error { return g.Client.DeleteMessage(ctx, id, client.DeleteMessage{MessageID: said.ID}) },
		"pin": func() error {
			return g.Client.PinMessage(ctx, id, heard, client.Pin{DurationSeconds: int64(24 * time.Hour / time.Second)})
		},
		"forward": func() error {
			_, err := g.Client.ForwardMessage(ctx, id, client.Forward{To: group, MessageID: said.ID})
			return err
		},
		"poll": func() error {
			_, err := g.Client.SendPoll(ctx, id, client.Poll{To: group, Question: "When?", Options: []string{"today", "tomorrow"}})
			return err
		},
	}
	file := client.DataURI("image/png", picture(t))
	maps.Copy(paths, map[string]func() error{
		"image": func() error {
			_, err := g.Client.SendImage(ctx, id, client.Image{To: group, Image: file})
			return err
		},
		"album": func() error {
			_, err := g.Client.SendAlbum(ctx, id, client.Album{To: group, Items: []client.AlbumItem{{Image: file}, {Image: file}}})
			return err
		},
		"contact": func() error {
			_, err := g.Client.SendContact(ctx, id, client.Contact{To: group, Contact: client.Card{FullName: "Ana", PhoneNumber: customerNumber}})
			return err
		},
		"location": func() error {
			_, err := g.Client.SendLocation(ctx, id, client.Location{To: group, Latitude: 1, Longitude: 2})
			return err
		},
		"event": func() error {
			_, err := g.Client.SendEvent(ctx, id, client.CalendarEvent{To: group, Name: "party", Start: time.Now().Add(time.Hour)})
			return err
		},
		"cancel": func() error { return g.Client.CancelEvent(ctx, id, party.ID) },
	})
	g.Phones.UpdateGroup(t, group, map[string]any{"by": customerNumber, "announce": true})
	for path, try := range cases.Sorted(paths) {
		if err := try(); codeOf(err) != client.CodeGroupAdminRequired {
			t.Errorf("%s in a group in which administrators write: %v", path, err)
		}
	}
	g.Phones.UpdateGroup(t, group, map[string]any{"by": customerNumber, "remove": []string{shopNumber}})
	for path, try := range cases.Sorted(paths) {
		if err := try(); codeOf(err) != client.CodeGroupNotFound {
			t.Errorf("%s in a group that it was removed from: %v", path, err)
		}
	}
}

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

// codes are the codes of results, "" for what is done.
func codes(results []client.ParticipantResult) []string {
	codes := make([]string, len(results))
	for i, result := range results {
		if result.Error != nil {
			codes[i] = *result.Error
		}
	}
	return codes
}

// A person who can't be added is sent the platform's invitation, if that is wanted, and only then.
func TestGroupInvitationsAreSent(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.Update(t, otherNumber, map[string]any{"addToGroups": false})
	silent, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{Subject: "Silent", Participants: []string{otherNumber}})
	if err != nil || silent.Results[0].Invitation == nil || silent.Results[0].Invitation.MessageID != nil {
		t.Fatalf("without being asked: %+v, %v", silent.Results, err)
	}
	made, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{Subject: "Customers", Participants: []string{customerNumber, otherNumber}, Invite: true})
	if err != nil {
		t.Fatal(err)
	}
	added, err := g.Client.ChangeGroupParticipants(t.Context(), id, silent.ID, client.ParticipantChange{Action: client.ActionAdd, Participants: []string{customerNumber, otherNumber}, Invite: true})
	if err != nil {
		t.Fatal(err)
	}
	for group, results := range cases.Sorted(map[string][]client.ParticipantResult{made.ID: made.Results, silent.ID: added.Results}) {
		if results[0].Error != nil || results[0].Invitation != nil {
			t.Errorf("who could be added: %+v", results[0])
		}
		invited := results[1].Invitation
		if *results[1].Error != "PARTICIPANT_PRIVACY" || invited == nil || invited.MessageID == nil || invited.Error != nil {
			t.Fatalf("who could not be added: %+v", results[1])
		}
		kept, err := g.Client.GetMessage(t.Context(), id, *invited.MessageID)
		if err != nil || kept.Type != client.TypeGroupInvite || kept.GroupInvite == nil || *kept.GroupInvite.GroupID != group || kept.GroupInvite.Code != invited.Code {
			t.Errorf("the invitation is kept as %+v, %v", kept, err)
		}
		testkit.Await(t, "the invitation on the phone", func() bool {
			return slices.ContainsFunc(g.Phones.Messages(t, otherNumber, shopNumber), func(message testkit.PhoneMessage) bool { return message.MessageID == *invited.MessageID })
		})
	}
}

// A group is made, changed in every way, and left, through the API alone; phones see it.
func TestGroupIsMadeAndChanged(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.Update(t, otherNumber, map[string]any{"addToGroups": false})
	customer := g.Phones.Get(t, customerNumber)
	made, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{
		Subject: "Customers", Description: "Who buys here", Picture: client.DataURI("image/png", picture(t)),
		// The same person under three addresses, one who can't be added, and no account.
		Participants: []string{"+" + customerNumber, customer.LID, customer.JID, otherNumber, "5511900000000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"", "", "", "PARTICIPANT_PRIVACY", "RECIPIENT_NOT_REGISTERED"}
	if got := codes(made.Results); !slices.Equal(got, want) {
		t.Errorf("results %q, want %q", got, want)
	}
	if invited := made.Results[3].Invitation; invited == nil || invited.Code == "" || invited.ExpiresAt == nil {
		t.Errorf("the invitation is %+v", invited)
	}
	if made.Subject != "Customers" || made.Description == nil || *made.Description != "Who buys here" || made.Size != 2 ||
		made.Admin == nil || *made.Admin != "superadmin" || made.Messages != "all" || len(made.Failed) != 0 {
		t.Errorf("made %+v", made)
	}
	if shown := g.Phones.GroupSettings(t, made.ID); !shown.Picture {
		t.Errorf("phones see no picture: %+v", shown)
	}

	changed, err := g.Client.ChangeGroup(t.Context(), id, made.ID, client.GroupChange{
		Subject: new("Friends"), Description: client.Null[string](), Messages: new("admins"), Info: new("admins"), Adding: new("admins"),
		Approval: new(true), Disappearing: new(int64(604800)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if changed.Subject != "Friends" || changed.Description != nil || changed.Messages != "admins" || changed.Info != "admins" ||
		changed.Adding != "admins" || !changed.Approval || changed.Disappearing != 604800 {
		t.Errorf("changed to %+v", changed)
	}
	shown := g.Phones.GroupSettings(t, made.ID)
	if !shown.Announce || !shown.Locked || !shown.AdminsAdd || !shown.Approval || shown.Disappearing != 604800 {
		t.Errorf("phones see %+v", shown)
	}
	var sent client.Sent
	for _, text := range []string{"for now", "for a week"} { // a chat is shown from its first message on
		if sent, err = g.Client.SendText(t.Context(), id, client.Text{To: made.ID, Message: text}); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "the chat to know when messages disappear", func() bool {
			chat, err := g.Client.GetChat(t.Context(), id, made.ID)
			return err == nil && chat.DisappearingSeconds == 604800
		})
	}
	if message := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); message.DisappearsAfter != 604800 {
		t.Errorf("a message to the group disappears after %d seconds", message.DisappearsAfter)
	}
	if _, err := g.Client.ChangeGroup(t.Context(), id, made.ID, client.GroupChange{Picture: client.Null[string]()}); err != nil {
		t.Fatal(err)
	}
	if g.Phones.GroupSettings(t, made.ID).Picture {
		t.Error("phones still see the picture")
	}

	for _, step := range []struct {
		action string
		people []string
		want   []string
	}{
		{client.ActionAdd, []string{memberNumber, "+" + memberNumber, customerNumber, "5511900000000"}, []string{"", "", "ALREADY_PARTICIPANT", "RECIPIENT_NOT_REGISTERED"}},
		{client.ActionPromote, []string{memberNumber, otherNumber}, []string{"", "NOT_PARTICIPANT"}},
		{client.ActionDemote, []string{memberNumber}, []string{""}},
		{client.ActionRemove, []string{customer.LID, otherNumber}, []string{"", "NOT_PARTICIPANT"}},
	} {
		results, err := g.Client.ChangeGroupParticipants(t.Context(), id, made.ID, client.ParticipantChange{Action: step.action, Participants: step.people})
		if err != nil {
			t.Fatal(err)
		}
		if got := codes(results.Results); !slices.Equal(got, step.want) {
			t.Errorf("%s: results %q, want %q", step.action, got, step.want)
		}
	}
	g.Phones.UpdateGroup(t, made.ID, map[string]any{"limit": 2})
	results, err := g.Client.ChangeGroupParticipants(t.Context(), id, made.ID, client.ParticipantChange{Action: client.ActionAdd, Participants: []string{customerNumber}})
	if err != nil || !slices.Equal(codes(results.Results), []string{"GROUP_FULL"}) {
		t.Errorf("added to a full group: %q (%v)", codes(results.Results), err)
	}
	group, err := g.Client.GetGroup(t.Context(), id, made.ID)
	if err != nil || len(group.Participants) != 2 {
		t.Errorf("the group is %+v (%v)", group, err)
	}

	if err := g.Client.LeaveGroup(t.Context(), id, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = g.Client.GetGroupSettings(t.Context(), id, made.ID)
	testkit.Refused(t, err, http.StatusNotFound, "GROUP_NOT_FOUND")
	for listed, err := range g.Client.Groups(t.Context(), id, client.ListGroupsParams{}) {
		t.Errorf("the list still has %+v (%v)", listed, err)
	}
}

// What only administrators may do is refused to others with a code of its own, and changes
// nothing; a stranger to the group learns only that there is no such group.
func TestGroupRefusals(t *testing.T) {
	t.Parallel()
	g, id, groupID := newGroup(t) // the customer's
	others := g.Phones.CreateGroup(t, "Others", otherNumber, customerNumber).ID
	for name, do := range cases.Sorted(map[string]func(groupID string) error{
		"approval": func(groupID string) error {
			_, err := g.Client.ChangeGroup(t.Context(), id, groupID, client.GroupChange{Approval: new(true)})
			return err
		},
		"description": func(groupID string) error {
			if groupID == others {
				_, err := g.Client.ChangeGroup(t.Context(), id, groupID, client.GroupChange{Description: client.Set("x")})
				return err
			}
			_, err := g.Client.ChangeGroup(t.Context(), id, groupID, client.GroupChange{Disappearing: new(int64(86400))})
			return err
		},
		"remove": func(groupID string) error {
			_, err := g.Client.ChangeGroupParticipants(t.Context(), id, groupID, client.ParticipantChange{Action: client.ActionRemove, Participants: []string{memberNumber}})
			return err
		},
		"invite": func(groupID string) error {
			_, err := g.Client.GetGroupInvite(t.Context(), id, groupID)
			return err
		},
		"join requests": func(groupID string) error {
			_, err := g.Client.ListJoinRequests(t.Context(), id, groupID)
			return err
		},
	}) {
		testkit.Refused(t, do(groupID), http.StatusForbidden, "GROUP_ADMIN_REQUIRED")
		testkit.Refused(t, do(others), http.StatusNotFound, "GROUP_NOT_FOUND")
		if t.Failed() {
			t.Fatalf("%s of a group", name)
		}
	}
	testkit.Refused(t, g.Client.LeaveGroup(t.Context(), id, others), http.StatusNotFound, "GROUP_NOT_FOUND")

	// Refused in the middle: what was changed is told, and is all that was changed.
	_, err := g.Client.ChangeGroup(t.Context(), id, groupID, client.GroupChange{
		Subject: new("Ours"), Messages: new("admins"), Disappearing: new(int64(86400)),
	})
	testkit.Refused(t, err, http.StatusForbidden, "GROUP_ADMIN_REQUIRED")
	if !strings.HasSuffix(err.Error(), "; changed: subject; not changed: messages, disappearing") {
		t.Errorf("the refusal says %q", err)
	}
	settings, err := g.Client.GetGroupSettings(t.Context(), id, groupID)
	if err != nil || settings.Subject != "Ours" || settings.Messages != "all" || settings.Disappearing != 0 || settings.Admin != nil {
		t.Errorf("the group is %+v (%v)", settings, err)
	}

	// A wrong field changes nothing.
	_, err = g.Client.ChangeGroup(t.Context(), id, groupID, client.GroupChange{Description: client.Set("new"), Subject: new("a\u202eb")})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.ChangeGroup(t.Context(), id, groupID, client.GroupChange{
		Description: client.Set("new"), Picture: client.Set(client.DataURI("text/plain", []byte("no picture"))),
	})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.ChangeGroupParticipants(t.Context(), id, groupID, client.ParticipantChange{Action: client.ActionAdd, Participants: []string{otherNumber, others}})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	group, err := g.Client.GetGroup(t.Context(), id, groupID)
	if err != nil || *group.Description != "made by a test" || len(group.Participants) != 3 {
		t.Errorf("the group is %+v (%v)", group, err)
	}
}

// The list has what phones do, is paged, and works right after a restart.
func TestGroupsAreListed(t *testing.T) {
	t.Parallel()
	g, id, first := newGroup(t)
	list := func() (subjects []string) {
		t.Helper()
		for group, err := range g.Client.Groups(t.Context(), id, client.ListGroupsParams{}) {
			if err != nil {
				t.Fatal(err)
			}
			subjects = append(subjects, group.Subject)
		}
		return subjects
	}
	testkit.Await(t, "the first group", func() bool { return slices.Equal(list(), []string{"Customers"}) })
	g.Phones.UpdateGroup(t, first, map[string]any{"subject": "Renamed"})
	second := g.Phones.CreateGroup(t, "Suppliers", customerNumber, shopNumber).ID
	testkit.Await(t, "the changes", func() bool {
		got := list()
		slices.Sort(got)
		return slices.Equal(got, []string{"Renamed", "Suppliers"})
	})
	page, err := g.Client.ListGroups(t.Context(), id, client.ListGroupsParams{Subject: "SUPP"}, 1, 1)
	if err != nil || page.TotalCount != 1 || len(page.Data) != 1 || page.Data[0].ID != second || page.Data[0].Size != 2 {
		t.Errorf("the page is %+v (%v)", page, err)
	}
	g.Phones.UpdateGroup(t, second, map[string]any{"remove": []string{shopNumber}})
	testkit.Await(t, "the removal", func() bool { return slices.Equal(list(), []string{"Renamed"}) })

	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, "connected")
	if got := list(); !slices.Equal(got, []string{"Renamed"}) {
		t.Errorf("after a restart the list has %q", got)
	}
}

// In the group in which a community announces, reactions are encrypted with a secret of their
// message, both ways. Phones show no others there.
func TestReactionsToAnnouncements(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	community, err := g.Client.CreateCommunity(t.Context(), id, client.NewCommunity{Subject: "Our shops"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.CreateGroup(t.Context(), id, client.NewGroup{Subject: "Branch", CommunityID: community.ID, Participants: []string{customerNumber}}); err != nil {
		t.Fatal(err)
	}
	var announcements string
	for group, err := range g.Client.CommunityGroups(t.Context(), id, community.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if group.Announcement {
			announcements = group.ID
		}
	}
	endpoint := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: endpoint.URL}); err != nil {
		t.Fatal(err)
	}
	shows := func(messageID, reaction string) {
		t.Helper()
		awaitOnPhone(t, g, customerNumber, messageID, reaction, func(m testkit.PhoneMessage) bool {
			return slices.ContainsFunc(m.Reactions, func(r content.Reaction) bool {
				return r.Reaction == reaction && r.From == testkit.LinkedNumber+"@s.whatsapp.net"
			})
		})
	}
	ours, err := g.Client.SendText(t.Context(), id, client.Text{To: announcements, Message: "We open at nine"})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.AwaitMessage(t, customerNumber, ours.MessageID)
	g.Phones.React(t, customerNumber, ours.MessageID, "👍")
	endpoint.AwaitType("message.reaction", func(d testkit.Delivered) bool {
		return strings.Contains(string(d.Body), ours.MessageID) && strings.Contains(string(d.Body), "👍")
	})
	if err := g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: ours.MessageID, Reaction: "❤️"}); err != nil {
		t.Fatal(err)
	}
	shows(ours.MessageID, "❤️")

	// Somebody who administers the community as well announces something, too.
	g.Phones.UpdateGroup(t, announcements, map[string]any{"promote": []string{customerNumber}})
	theirs := g.Phones.SendText(t, customerNumber, announcements, "And on Sundays at ten")
	awaitMessage(t, g, id, theirs)
	if err := g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: theirs, Reaction: "🎉"}); err != nil {
		t.Fatal(err)
	}
	shows(theirs, "🎉")

	// Without its secret, nobody could read the reaction.
	bare := g.Phones.SendRaw(t, customerNumber, announcements, []byte("\x0a\x02Oi"), nil)
	awaitMessage(t, g, id, bare)
	testkit.Refused(t, g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: bare, Reaction: "👍"}), http.StatusBadRequest, "MESSAGE_NOT_REACTABLE")
}

// BenchmarkGroups lists 500 groups of 20 members over HTTP, page by page. The metric
// ms/first is the first list of the connection, for which the platform is asked.
func BenchmarkGroups(b *testing.B) {
	const groups, members = 500, 18
	g, id := testkit.StartLinked(b, testkit.Options{})
	people := []string{shopNumber}
	for n := range members {
		people = append(people, fmt.Sprintf("55119666601%02d", n+11))
	}
	for n := range groups {
		g.Phones.CreateGroup(b, fmt.Sprint("Group ", n), customerNumber, people...)
	}
	list := func() {
		count := 0
		for _, err := range g.Client.Groups(b.Context(), id, client.ListGroupsParams{}) {
			if err != nil {
				b.Fatal(err)
			}
			count++
		}
		if count != groups {
			b.Fatalf("%d groups", count)
		}
	}
	began := time.Now()
	list()
	first := time.Since(began)
	for b.Loop() {
		list()
	}
	b.ReportMetric(float64(first.Microseconds())/1000, "ms/first")
}
