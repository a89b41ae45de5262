package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
)

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
