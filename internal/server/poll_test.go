package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// pollVotes follows the event message.poll_vote of an instance.
func pollVotes(t *testing.T, g *testkit.Gateway, id string) *testkit.Sink {
	t.Helper()
	sink := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	return sink
}

// awaitVote waits for the event of a vote with these options.
func awaitVote(t *testing.T, sink *testkit.Sink, messageID string, options ...string) client.MessagePollVoteEvent {
	t.Helper()
	var vote client.MessagePollVoteEvent
	sink.AwaitType("message.poll_vote", func(d testkit.Delivered) bool {
		if err := json.Unmarshal(d.Event.Data, &vote); err != nil {
			t.Error(err)
		}
		return vote.MessageID == messageID && slices.Equal(vote.Options, options)
	})
	return vote
}

func TestVotesAreCounted(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := pollVotes(t, g, id)
	options := []string{"Hoje", "Amanhã", "Sábado"}
	sent, err := g.Client.SendPoll(t.Context(), id, client.Poll{To: customerNumber, Question: "Quando?", Options: options})
	if err != nil {
		t.Fatal(err)
	}
	shown := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if shown.Type != "poll" || shown.Text != "Quando?" || shown.Poll == nil || !slices.Equal(shown.Poll.Options, options) || shown.Poll.MaxAnswers != 1 {
		t.Fatalf("the phone shows %+v", shown)
	}
	g.Phones.Vote(t, customerNumber, sent.MessageID, "Hoje")
	vote := awaitVote(t, sink, sent.MessageID, "Hoje")
	if vote.ID != sent.ID || vote.Question != "Quando?" || vote.Voters != 1 || vote.Tallies[0] != (client.PollTally{Option: "Hoje", Votes: 1}) || len(vote.Tallies) != 3 ||
		vote.From == nil || vote.From.JID == nil || *vote.From.JID != customerNumber+"@s.whatsapp.net" {
		t.Errorf("the event is %+v", vote)
	}
	g.Phones.Vote(t, customerNumber, sent.MessageID, "Sábado")
	awaitVote(t, sink, sent.MessageID, "Sábado")
	votes, err := g.Client.GetVotes(t.Context(), id, sent.ID)
	if err != nil || votes.Voters != 1 || votes.Options[0].Votes != 0 || votes.Options[2].Votes != 1 || len(votes.Options[2].Voters) != 1 || votes.MessageID != sent.MessageID {
		t.Errorf("the poll stands at %+v (%v)", votes, err)
	}
	g.Phones.Vote(t, customerNumber, sent.MessageID)
	if vote := awaitVote(t, sink, sent.MessageID); vote.Voters != 0 {
		t.Errorf("the vote was taken back: %+v", vote)
	}

	text := sendText(t, g, id, "no poll")
	_, err = g.Client.GetVotes(t.Context(), id, text.MessageID)
	testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_IS_NO_POLL")
	_, err = g.Client.GetVotes(t.Context(), id, "3EB0NOTHING")
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

func TestVotesInAGroup(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := pollVotes(t, g, id)
	const third = "5511988880004"
	group := g.Phones.CreateGroup(t, "Team", customerNumber, shopNumber, third)
	for name, poll := range cases.Sorted(map[string]func() string{
		"of ours": func() string {
			sent, err := g.Client.SendPoll(t.Context(), id, client.Poll{To: group.ID, Question: "What?", Options: []string{"a", "b", "c"}, MaxAnswers: new(int64(2))})
			if err != nil {
				t.Fatal(err)
			}
			return sent.MessageID
		},
		"of somebody else": func() string {
			message := g.Phones.Send(t, customerNumber, map[string]any{"to": group.ID, "type": "poll", "text": "What?", "options": []string{"a", "b", "c"}, "maxAnswers": 2})
			if received := awaitMessage(t, g, id, message); received.Type != gateway.TypePoll || received.Text != "What?" {
				t.Errorf("received %+v", received)
			}
			return message
		},
	}) {
		message := poll()
		for _, number := range []string{customerNumber, third} {
			g.Phones.AwaitMessage(t, number, message)
		}
		g.Phones.Vote(t, customerNumber, message, "a", "c")
		awaitVote(t, sink, message, "a", "c")
		g.Phones.Vote(t, third, message, "c")
		awaitVote(t, sink, message, "c")
		votes, err := g.Client.GetVotes(t.Context(), id, message)
		if err != nil || votes.Voters != 2 || votes.MaxAnswers != 2 || votes.Options[0].Votes != 1 || votes.Options[1].Votes != 0 || votes.Options[2].Votes != 2 {
			t.Errorf("a poll %s stands at %+v (%v)", name, votes, err)
		}
		// The account's own phone votes too.
		awaitOnPhone(t, g, shopNumber, message, "the poll", func(testkit.PhoneMessage) bool { return true })
		g.Phones.Vote(t, shopNumber, message, "b")
		if vote := awaitVote(t, sink, message, "b"); vote.Voters != 3 {
			t.Errorf("a poll %s after its own account's vote: %+v", name, vote)
		}
	}
}
