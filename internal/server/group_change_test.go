package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

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
