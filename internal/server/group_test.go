package server_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
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
