package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// People are mentioned by any form of their number, and phones find out who is meant.
func TestMentions(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	const third = "5511988880004"
	group := g.Phones.CreateGroup(t, "Team", customerNumber, shopNumber, third)
	lid, thirdLID := g.Phones.Get(t, customerNumber).LID, g.Phones.Get(t, third).LID
	user := func(address string) string { return strings.TrimSuffix(address, "@lid") }
	for name, test := range cases.Sorted(map[string]struct {
		text client.Text
		want string
		who  []string
	}{
		"by number": {
			client.Text{To: group.ID, Message: "@5511988887766, look", Mentions: []string{"+55 11 98888-7766"}},
			"@" + user(lid) + ", look",
			[]string{lid},
		},
		"by numbers that begin alike, one of them twice": {
			client.Text{To: group.ID, Message: "@5511988887766@5511988887766 @55119888877665", Mentions: []string{"11988887766", customerNumber}},
			"@" + user(lid) + "@" + user(lid) + " @55119888877665",
			[]string{lid},
		},
		"by chat IDs, which are used as they are": {
			client.Text{To: group.ID, Message: "@" + user(thirdLID) + " and @5511988887766", Mentions: []string{thirdLID, customerNumber + "@c.us"}},
			"@" + user(thirdLID) + " and @5511988887766",
			[]string{thirdLID, customerNumber + "@s.whatsapp.net"},
		},
		"in a chat of two": {client.Text{To: customerNumber, Message: "ask @" + third, Mentions: []string{third}}, "ask @" + user(thirdLID), []string{thirdLID}},
	}) {
		if _, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{customerNumber, third}}); err != nil { // so that LIDs are known
			t.Fatal(err)
		}
		sent, err := g.Client.SendText(t.Context(), id, test.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Text != test.want || !slices.Equal(got.Mentions, test.who) || got.Everyone {
			t.Errorf("%s: the phone shows %q with the mentions %v; want %q, %v", name, got.Text, got.Mentions, test.want, test.who)
		}
	}
	all, err := g.Client.SendImage(t.Context(), id, client.Image{
		To: group.ID, Image: client.DataURI("image/png", picture(t)), Caption: "@all @" + third, MentionEveryone: true, Mentions: []string{third},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, all.MessageID); !got.Everyone || len(got.Mentions) != 1 || got.Caption != "@all @"+user(thirdLID) {
		t.Errorf("the phone shows %+v", got)
	}
	later, err := g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "@" + third + "?", Mentions: []string{third}, Prefer: client.RespondAsync})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, later.MessageID); len(got.Mentions) != 1 || got.Text != "@"+user(thirdLID)+"?" {
		t.Errorf("from the queue came %+v", got)
	}

	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "all", MentionEveryone: true})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "all", MentionEveryone: true, SendAt: time.Now().Add(time.Hour)})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "who?", Mentions: []string{"5511988880000"}})
	testkit.Refused(t, err, http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "who?", Mentions: []string{third, group.ID, "x"}})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")

	// What others mention is told with both addresses.
	sink := pollVotes(t, g, id)
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": group.ID, "type": "text", "text": "@" + shopNumber + " please", "mentions": []string{shopNumber}, "mentionsEveryone": true,
	})
	var message client.MessageReceivedEvent
	sink.AwaitType("message.received", func(d testkit.Delivered) bool {
		return json.Unmarshal(d.Event.Data, &message) == nil && message.MessageID == received
	})
	if !message.MentionsEveryone || len(message.Mentions) != 1 || message.Mentions[0].JID == nil || *message.Mentions[0].JID != shopNumber+"@"+gateway.PersonalSuffix ||
		message.Mentions[0].LID == nil || message.Text == nil || !strings.HasPrefix(*message.Text, "@"+user(*message.Mentions[0].LID)) {
		t.Errorf("the event is %+v", message)
	}
}
