package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// awaitOnPhone waits until the phone shows a message as wanted.
func awaitOnPhone(t *testing.T, g *testkit.Gateway, number, messageID, what string, wanted func(testkit.PhoneMessage) bool) {
	t.Helper()
	testkit.Await(t, what+" on the phone", func() bool {
		for _, message := range g.Phones.Messages(t, number, "") {
			if message.MessageID == messageID && wanted(message) {
				return true
			}
		}
		return false
	})
}

func TestEditChangesTheTextOnThePhone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{EditWindow: time.Hour})
	sent := sendText(t, g, id, "R$ 10")
	edited, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.MessageID, Message: "R$ 12"})
	if err != nil || edited.ID != sent.ID || edited.MessageID != sent.MessageID {
		t.Fatalf("answered %+v (%v)", edited, err)
	}
	awaitOnPhone(t, g, customerNumber, sent.MessageID, "the edit", func(m testkit.PhoneMessage) bool {
		return m.Edited && m.Text == "R$ 12"
	})
	if kept := find(t, g, id, sent.ID); kept.Text != "R$ 12" || kept.EditedAt.IsZero() {
		t.Errorf("kept %+v", kept)
	}
	// The composite form of the identifier, as the contract shows it for edits.
	if _, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: "true_" + customerNumber + "@c.us_" + sent.MessageID, Message: "R$ 13"}); err != nil {
		t.Error(err)
	}

	foreign := g.Phones.SendText(t, customerNumber, shopNumber, "mine")
	awaitMessage(t, g, id, foreign)
	_, err = g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: foreign, Message: "yours"})
	testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_NOT_EDITABLE")

	place, err := g.Client.SendLocation(t.Context(), id, client.Location{To: customerNumber, Latitude: 1, Longitude: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: place.MessageID, Message: "elsewhere"})
	testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_NOT_EDITABLE")
	_, err = g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: "3EB0NOTHING", Message: "what?"})
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

// A phone changes the caption of a file: the file is as it was, for the API, for a forward and for
// the phone, and the event has both captions. A late edit changes nothing.
func TestEditOfACaptionKeepsTheFile(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	for kind, media := range cases.Sorted(map[string]string{"image": client.DataURI("image/png", picture(t)), "document": "data:text/plain;base64,b2k="}) {
		messageID := g.Phones.Send(t, customerNumber, map[string]any{
			"to": shopNumber, "type": kind, "media": media, "caption": "before", "fileName": "a.txt",
		})
		awaitMessage(t, g, id, messageID)
		before := find(t, g, id, messageID)
		g.Phones.Edit(t, customerNumber, messageID, "after")
		told := sink.AwaitType(client.TypeMessageEdited, func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), messageID) })
		var edited client.MessageEditedEvent
		if err := json.Unmarshal(told.Event.Data, &edited); err != nil || edited.Text != "after" || edited.PreviousText == nil || *edited.PreviousText != "before" {
			t.Errorf("%s: the event is %s (%v)", kind, told.Event.Data, err)
		}
		after, err := g.Client.GetMessage(t.Context(), id, messageID)
		if err != nil || after.Caption == nil || *after.Caption != "after" || after.Media == nil || after.Media.Size == 0 {
			t.Errorf("%s: it is kept as %+v (%v)", kind, after, err)
		}
		if kept := find(t, g, id, messageID); kept.Type != before.Type {
			t.Errorf("%s: its type is %s", kind, kept.Type)
		}
		if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, messageID); err != nil {
			t.Errorf("%s: the file is gone: %v", kind, err)
		}
		forwarded, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: otherNumber, MessageID: messageID})
		if err != nil {
			t.Fatal(err)
		}
		if shown := g.Phones.AwaitMessage(t, otherNumber, forwarded.MessageID); shown.MediaSize == nil || shown.Caption != "after" {
			t.Errorf("%s: the phone that it was forwarded to shows %+v", kind, shown)
		}
	}
}

func TestDeleteRemovesTheMessageForEveryone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sent := sendText(t, g, id, "oops")
	if err := g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.ID}); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, customerNumber, sent.MessageID, "the deletion", func(m testkit.PhoneMessage) bool {
		return m.Deleted && m.Text == ""
	})
	testkit.Refused(t, g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.ID}), http.StatusBadRequest, "MESSAGE_NOT_DELETABLE")
	_, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.ID, Message: "too late"})
	testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_NOT_EDITABLE")
	_, err = g.Client.ForwardMessage(t.Context(), id, client.Forward{To: customerNumber, MessageID: sent.ID})
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")

	foreign := g.Phones.SendText(t, customerNumber, shopNumber, "mine")
	awaitMessage(t, g, id, foreign)
	testkit.Refused(t, g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: foreign}), http.StatusBadRequest, "MESSAGE_NOT_DELETABLE")
}

// If several clients delete a message at the same time, one of them succeeds. The others
// get the error that it is gone.
func TestDeleteHappensOnce(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sent := sendText(t, g, id, "oops")
	const clients = 8
	errs := make(chan error, clients)
	for range clients {
		go func() { errs <- g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.ID}) }()
	}
	deleted := 0
	for range clients {
		if err := <-errs; err == nil {
			deleted++
		} else {
			testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_NOT_DELETABLE")
		}
	}
	if deleted != 1 {
		t.Errorf("%d deleted it", deleted)
	}
	events := changeEvents(t, g, id, sendText(t, g, id, "last").MessageID)
	if want := map[string]int{"message.deleted " + sent.MessageID: 1}; !maps.Equal(events, want) {
		t.Errorf("the events are %v, want %v", events, want)
	}
}

// Changes that are made on the phone are reported, but not the receipts for them.
func TestReceiptsForChangesOnThePhoneAreNotReported(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sent := sendText(t, g, id, "Oi!")
	g.Phones.AwaitMessage(t, shopNumber, sent.MessageID)
	g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	g.Phones.React(t, shopNumber, sent.MessageID, "❤️")
	g.Phones.Edit(t, shopNumber, sent.MessageID, "Olá!")
	g.Phones.Delete(t, shopNumber, sent.MessageID)
	awaitOnPhone(t, g, customerNumber, sent.MessageID, "the deletion", func(m testkit.PhoneMessage) bool { return m.Deleted })
	testkit.Await(t, "the deletion", func() bool { return !find(t, g, id, sent.ID).DeletedAt.IsZero() })
	events := changeEvents(t, g, id, sendText(t, g, id, "last").MessageID)
	want := map[string]int{
		"message.reaction " + sent.MessageID: 1, "message.edited " + sent.MessageID: 1, "message.deleted " + sent.MessageID: 1,
	}
	if !maps.Equal(events, want) {
		t.Errorf("the events are %v, want %v", events, want)
	}
}

func TestEditAndDeleteHaveTheirWindows(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{EditWindow: time.Nanosecond, DeleteWindow: time.Nanosecond})
	sent := sendText(t, g, id, "for ever")
	// The platform's clock has whole seconds, so the windows end with the next second.
	testkit.Await(t, "the windows to close", func() bool { return time.Since(find(t, g, id, sent.ID).SentAt) > time.Second })
	_, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.ID, Message: "changed"})
	testkit.Refused(t, err, http.StatusBadRequest, "EDIT_WINDOW_EXPIRED")
	testkit.Refused(t, g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: sent.ID}), http.StatusBadRequest, "DELETE_WINDOW_EXPIRED")
}

func TestReactionIsShownAndTakenBack(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	own := sendText(t, g, id, "ours").MessageID
	foreign := g.Phones.SendText(t, customerNumber, shopNumber, "theirs")
	awaitMessage(t, g, id, foreign)
	for name, messageID := range cases.Sorted(map[string]string{"an own message": own, "a foreign message": foreign}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, reaction := range []string{"👍", "👩🏽‍🚀", ""} {
				if err := g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: messageID, Reaction: reaction}); err != nil {
					t.Fatal(err)
				}
				awaitOnPhone(t, g, customerNumber, messageID, "reaction "+reaction, func(m testkit.PhoneMessage) bool {
					if reaction == "" {
						return len(m.Reactions) == 0
					}
					return len(m.Reactions) == 1 && m.Reactions[0].Reaction == reaction &&
						m.Reactions[0].From == shopNumber+"@s.whatsapp.net"
				})
			}
		})
	}
	testkit.Refused(t, g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: "3EB0NOTHING", Reaction: "👍"}), http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

func TestMarkReadIsSeenBySender(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sent := sendText(t, g, id, "ours")
	received := g.Phones.SendText(t, customerNumber, shopNumber, "did you read it?")
	awaitMessage(t, g, id, received)
	if _, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: received}); err != nil {
		t.Fatal(err)
	}
	awaitOnPhone(t, g, customerNumber, received, "read", func(m testkit.PhoneMessage) bool { return m.Status == "read" })
	if _, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: sent.MessageID}); err != nil {
		t.Errorf("an own message: %v", err)
	}
	_, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: "3EB0NOTHING"})
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

// The gateway can't forward a message that it can't read.
func TestForwardOfAnUnknownKindIsRefused(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	for _, content := range []map[string]any{
		{"type": "unsupported", "kind": "future"},
		{"type": "image", "media": client.DataURI("image/png", picture(t)), "viewOnce": true, "unavailable": true},
	} {
		content["to"] = shopNumber
		received := g.Phones.Send(t, customerNumber, content)
		awaitMessage(t, g, id, received)
		_, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: customerNumber, MessageID: received})
		testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	}
}

// Changes by others are stored, so that a deleted message can't be quoted or forwarded.
func TestChangesByOthersAreKept(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	received := g.Phones.SendText(t, customerNumber, shopNumber, "first")
	awaitMessage(t, g, id, received)
	g.Phones.Edit(t, customerNumber, received, "second")
	testkit.Await(t, "the edit", func() bool { return find(t, g, id, received).Text == "second" })
	g.Phones.Delete(t, customerNumber, received)
	testkit.Await(t, "the deletion", func() bool { return !find(t, g, id, received).DeletedAt.IsZero() })
	if kept := find(t, g, id, received); kept.Text != "" || len(kept.Payload) != 0 {
		t.Errorf("kept %+v", kept)
	}
	for name, does := range cases.Sorted(map[string]func() error{
		"quote": func() error {
			_, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "yes", QuoteMessageID: received})
			return err
		},
		"quote in the queue": func() error {
			_, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "yes", QuoteMessageID: received, Prefer: client.RespondAsync})
			return err
		},
		"forward": func() error {
			_, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: customerNumber, MessageID: received})
			return err
		},
		"reaction": func() error {
			return g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: received, Reaction: "👍"})
		},
		"pin": func() error {
			return g.Client.PinMessage(t.Context(), id, received, client.Pin{DurationSeconds: int64(24 * time.Hour / time.Second)})
		},
	}) {
		err := does()
		if err == nil {
			t.Errorf("%s: a deleted message is taken", name)
			continue
		}
		testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	}
}

// A change is stored and reported even if its acknowledgement was lost, or the process
// died before it came: a receipt shows that the platform has the change. The receipt
// itself is not reported, because clients don't know the platform's identifier of the
// change.
func TestChangesAreReportedWithoutAnAcknowledgement(t *testing.T) {
	t.Parallel()
	for name, restarted := range cases.Sorted(map[string]bool{"acknowledgement lost": false, "process died": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testkit.Options{DataDir: t.TempDir(), Platform: whatsapp.Config{SendTimeout: answerWait}}
			g, id := testkit.StartLinked(t, options)
			edited, deleted, liked := sendText(t, g, id, "R$ 10"), sendText(t, g, id, "oops"), sendText(t, g, id, "ours")
			for _, sent := range []client.Sent{edited, deleted, liked} {
				testkit.Await(t, "status read", func() bool { return find(t, g, id, sent.ID).Status == gateway.MessageRead })
			}
			if restarted { // no receipt may come before
				g.Phones.Update(t, customerNumber, map[string]any{"online": false})
			}
			g.Phones.Faults(t, map[string]any{"dropAcks": 1})
			_, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: edited.ID, Message: "R$ 12"})
			testkit.Refused(t, err, http.StatusGatewayTimeout, "PLATFORM_TIMEOUT")
			testkit.Refused(t, g.Client.DeleteMessage(t.Context(), id, client.DeleteMessage{MessageID: deleted.ID}), http.StatusGatewayTimeout, "PLATFORM_TIMEOUT")
			testkit.Refused(t, g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: liked.ID, Reaction: "👍"}), http.StatusGatewayTimeout, "PLATFORM_TIMEOUT")
			g.Phones.Faults(t, map[string]any{})
			if restarted {
				g.Stop()
				g = testkit.Start(t, options)
				// The phone asks for messages that it can't read, and only the gateway has them.
				g.Phones.Do(t, customerNumber, "lose-keys")
				g.AwaitStatus(t, id, gateway.StatusConnected)
				g.Phones.Update(t, customerNumber, map[string]any{"online": true})
			}
			awaitOnPhone(t, g, customerNumber, edited.MessageID, "the edit", func(m testkit.PhoneMessage) bool { return m.Text == "R$ 12" })
			awaitOnPhone(t, g, customerNumber, deleted.MessageID, "the deletion", func(m testkit.PhoneMessage) bool { return m.Deleted })
			awaitOnPhone(t, g, customerNumber, liked.MessageID, "the reaction", func(m testkit.PhoneMessage) bool { return len(m.Reactions) == 1 })
			testkit.Await(t, "the edit", func() bool { return find(t, g, id, edited.ID).Text == "R$ 12" })
			testkit.Await(t, "the deletion", func() bool { return !find(t, g, id, deleted.ID).DeletedAt.IsZero() })

			last := sendText(t, g, id, "last")
			got := changeEvents(t, g, id, last.MessageID)
			want := map[string]int{
				"message.edited " + edited.MessageID: 1, "message.deleted " + deleted.MessageID: 1, "message.reaction " + liked.MessageID: 1,
			}
			if !maps.Equal(got, want) {
				t.Errorf("the events are %v, want %v", got, want)
			}
		})
	}
}

// changeEvents counts the events of changes until a message has been read, and
// those of receipts for messages that the gateway does not have.
func changeEvents(t *testing.T, g *testkit.Gateway, id, last string) map[string]int {
	t.Helper()
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{
		"message.edited", "message.deleted", "message.reaction", "message.status",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	events := map[string]int{}
	for {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			ID        *string `json:"id"`
			MessageID string  `json:"messageId"`
			Status    string  `json:"status"`
		}
		if err := json.Unmarshal(event.Data, &data); err != nil {
			t.Fatal(err)
		}
		switch {
		case event.Type != "message.status" || data.ID == nil:
			events[event.Type+" "+data.MessageID]++
		case data.MessageID == last && data.Status == "read":
			return events
		}
	}
}

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

// A poll whose options have IDs is answered once by each person, by a vote or by a text, also after a restart.
func TestPollsWithIDsAreAnswered(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir()}
	g, id := testkit.StartLinked(t, options)
	ask := func(to, reference string) client.Sent {
		t.Helper()
		sent, err := g.Client.SendPoll(t.Context(), id, client.Poll{
			To: to, Question: "Quando?", Options: []string{"Hoje", "Amanhã"}, OptionIDs: []string{"today", "tomorrow"}, Reference: reference,
		})
		if err != nil {
			t.Fatal(err)
		}
		g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
		return sent
	}
	var after int64
	// next is what the next vote, or the next message, of the customer selects.
	next := func() (selection *client.MessageSelection, answers string) {
		t.Helper()
		for event, err := range g.Client.Follow(t.Context(), id, client.FollowOptions{After: &after, Types: []string{client.TypeMessagePollVote, client.TypeMessageReceived}}) {
			if err != nil {
				t.Fatal(err)
			}
			after = event.Sequence
			switch data, err := event.Decode(); data := data.(type) {
			case client.MessagePollVoteEvent:
				return data.Selection, data.MessageID
			case client.MessageReceivedEvent:
				if data.QuotedMessageID != nil {
					answers = *data.QuotedMessageID
				}
				return data.Selection, answers
			default:
				t.Fatal(err)
			}
		}
		return nil, ""
	}
	want := func(what, poll, option, reference string) {
		t.Helper()
		got, answers := next()
		switch {
		case option == "" && got != nil:
			t.Errorf("%s selects %+v", what, got)
		case option != "" && (got == nil || got.ID != option || got.Text == "" || answers != poll || (got.Reference == nil) != (reference == "") || got.Reference != nil && *got.Reference != reference):
			t.Errorf("%s selects %+v of %s, want %s of %s", what, got, answers, option, poll)
		}
	}
	first := ask(customerNumber, "step 1")
	g.Phones.Vote(t, customerNumber, first.MessageID, "Amanhã")
	want("a vote", first.MessageID, "tomorrow", "step 1")
	g.Phones.Vote(t, customerNumber, first.MessageID, "Hoje")
	want("another vote", first.MessageID, "", "")
	g.Phones.SendText(t, customerNumber, shopNumber, "hoje")
	want("a text after a vote", first.MessageID, "", "")

	second := ask(customerNumber, "")
	g.Stop()
	g = testkit.Start(t, options)
	g.AwaitStatus(t, id, gateway.StatusConnected)
	g.Phones.SendText(t, customerNumber, shopNumber, "Bom dia")
	want("a text that is no option", second.MessageID, "", "")
	g.Phones.SendText(t, customerNumber, shopNumber, " AMANHA ")
	want("a text after a restart", second.MessageID, "tomorrow", "")
	g.Phones.Vote(t, customerNumber, second.MessageID, "Hoje")
	want("a vote after a text", second.MessageID, "", "")

	third := ask(customerNumber, "")
	g.Phones.SendText(t, customerNumber, shopNumber, "2")
	want("a number", third.MessageID, "tomorrow", "")
	ask(customerNumber, "")
	sendText(t, g, id, "Never mind")
	g.Phones.SendText(t, customerNumber, shopNumber, "1")
	want("a number after another message of the account", "", "", "")

	queued, err := g.Client.SendPoll(t.Context(), id, client.Poll{To: customerNumber, Question: "E?", Options: []string{"a", "b"}, OptionIDs: []string{"A", "B"}, Prefer: client.RespondAsync})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.AwaitMessage(t, customerNumber, queued.MessageID)
	g.Phones.Vote(t, customerNumber, queued.MessageID, "b")
	want("a vote in one that was queued", queued.MessageID, "B", "")

	for _, prefer := range []string{"", client.RespondAsync} {
		offer, err := g.Client.SendText(t.Context(), id, client.Text{
			To: customerNumber, Message: "Confirma? Responda Sim.", Options: []string{"Sim"}, OptionIDs: []string{"yes"}, Reference: "step 2", Prefer: prefer,
		})
		if err != nil {
			t.Fatal(err)
		}
		g.Phones.AwaitMessage(t, customerNumber, offer.MessageID)
		for _, text := range []string{"Como?", "1"} {
			g.Phones.SendText(t, customerNumber, shopNumber, text)
		}
		want("a question", offer.MessageID, "", "")
		want("the number of an answer to a text", offer.MessageID, "yes", "step 2")
		g.Phones.SendText(t, customerNumber, shopNumber, "Sim")
		want("the answer to a text, again", offer.MessageID, "", "")
	}
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

// awaitResponse waits for the event of somebody's response to a calendar event.
func awaitResponse(t *testing.T, sink *testkit.Sink, messageID, number, response string) client.MessageEventResponseEvent {
	t.Helper()
	var got client.MessageEventResponseEvent
	sink.AwaitType(client.TypeMessageEventResponse, func(d testkit.Delivered) bool {
		if err := json.Unmarshal(d.Event.Data, &got); err != nil {
			t.Error(err)
		}
		return got.MessageID == messageID && got.Response == response && got.From != nil && got.From.JID != nil && *got.From.JID == number+"@s.whatsapp.net"
	})
	return got
}

// awaitCancelled waits for the event that a calendar event was cancelled.
func awaitCancelled(t *testing.T, sink *testkit.Sink, messageID string) client.MessageEditedEvent {
	t.Helper()
	var got client.MessageEditedEvent
	sink.AwaitType(client.TypeMessageEdited, func(d testkit.Delivered) bool {
		if err := json.Unmarshal(d.Event.Data, &got); err != nil {
			t.Error(err)
		}
		return got.MessageID == messageID && got.Event != nil && got.Event.Cancelled
	})
	return got
}

// Calendar events are sent, at once and through the queue; people respond to them; and their
// authors cancel them.
func TestCalendarEvents(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := pollVotes(t, g, id)
	start := time.Date(2031, 5, 6, 13, 0, 0, 0, time.UTC)
	event := client.CalendarEvent{
		To: customerNumber, Name: "Consulta", Start: start, End: start.Add(30 * time.Minute), Description: "Traga os exames", JoinLink: "https://example.com/sala",
		Location:           client.EventLocation{Name: "Clínica", Address: "Rua A, 1", Latitude: new(-23.5), Longitude: new(-46.6)},
		ExtraGuestsAllowed: true, IdempotencyKey: "consulta",
	}
	sent, err := g.Client.SendEvent(t.Context(), id, event)
	if err != nil {
		t.Fatal(err)
	}
	shown := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if got := shown.Event; shown.Type != "event" || shown.Text != "Consulta" || got == nil || got.Start != "2031-05-06T13:00:00Z" || got.End != "2031-05-06T13:30:00Z" ||
		got.Description != "Traga os exames" || got.JoinLink != "https://example.com/sala" || !got.ExtraGuestsAllowed || got.Cancelled ||
		got.Location == nil || got.Location.Name != "Clínica" || got.Location.Address != "Rua A, 1" || got.Location.Latitude == nil || *got.Location.Latitude != -23.5 {
		t.Fatalf("the phone shows %+v with %+v", shown, got)
	}
	if again, err := g.Client.SendEvent(t.Context(), id, event); err != nil || !again.IdempotencyReplayed || again.ID != sent.ID {
		t.Errorf("repeated, it is %+v (%v)", again, err)
	}
	g.Phones.Respond(t, customerNumber, sent.MessageID, "going", 2)
	response := awaitResponse(t, sink, sent.MessageID, customerNumber, client.ResponseGoing)
	if response.ID != sent.ID || response.Name != "Consulta" || response.ExtraGuests != 2 {
		t.Errorf("the response is %+v", response)
	}
	g.Phones.Respond(t, customerNumber, sent.MessageID, "not_going", 0)
	awaitResponse(t, sink, sent.MessageID, customerNumber, client.ResponseNotGoing)

	for range 2 { // the second time changes nothing
		if err := g.Client.CancelEvent(t.Context(), id, sent.ID); err != nil {
			t.Fatal(err)
		}
	}
	if edited := awaitCancelled(t, sink, sent.MessageID); edited.Text != "Consulta" || edited.Event.Start == nil || !edited.Event.Start.Equal(start) {
		t.Errorf("cancelled is %+v", edited)
	}
	awaitOnPhone(t, g, customerNumber, sent.MessageID, "that it is cancelled", func(m testkit.PhoneMessage) bool { return m.Event.Cancelled && m.Event.Location.Name == "Clínica" })
	kept, err := g.Client.GetMessage(t.Context(), id, sent.ID)
	if err != nil || kept.Type != client.TypeEvent || kept.Event == nil || !kept.Event.Cancelled || kept.Caption == nil || *kept.Caption != "Consulta" {
		t.Errorf("kept is %+v (%v)", kept, err)
	}

	text := sendText(t, g, id, "no event")
	testkit.Refused(t, g.Client.CancelEvent(t.Context(), id, text.MessageID), http.StatusBadRequest, "MESSAGE_IS_NO_EVENT")
	testkit.Refused(t, g.Client.CancelEvent(t.Context(), id, "3EB0NOTHING"), http.StatusNotFound, "MESSAGE_NOT_FOUND")

	// In a group, through the queue; its members respond, the account's own phone too.
	const third = "5511988880004"
	group := g.Phones.CreateGroup(t, "Team", customerNumber, shopNumber, third)
	queued, err := g.Client.SendEvent(t.Context(), id, client.CalendarEvent{To: group.ID, Name: "Entrega", Start: start, Prefer: client.RespondAsync})
	if err != nil || !queued.Accepted {
		t.Fatalf("queued: %+v (%v)", queued, err)
	}
	for _, number := range []string{customerNumber, third, shopNumber} {
		awaitOnPhone(t, g, number, queued.MessageID, "the event", func(m testkit.PhoneMessage) bool { return m.Event.End == "" && m.Event.Location == nil })
		g.Phones.Respond(t, number, queued.MessageID, "maybe", 0)
		awaitResponse(t, sink, queued.MessageID, number, client.ResponseMaybe)
	}

	// One of somebody else.
	theirs := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "event", "text": "Almoço", "event": map[string]any{
		"start": "2031-05-07T15:00:00Z", "location": map[string]any{"name": "Bar"},
	}})
	awaitMessage(t, g, id, theirs)
	kept, err = g.Client.GetMessage(t.Context(), id, theirs)
	if err != nil || kept.Event == nil || kept.Event.End != nil || kept.Event.Location == nil || kept.Event.Location.Latitude != nil || *kept.Event.Location.Name != "Bar" {
		t.Errorf("received %+v (%v)", kept, err)
	}
	testkit.Refused(t, g.Client.CancelEvent(t.Context(), id, theirs), http.StatusBadRequest, "MESSAGE_NOT_EDITABLE")
	g.Phones.CancelEvent(t, customerNumber, theirs)
	awaitCancelled(t, sink, theirs)
}
