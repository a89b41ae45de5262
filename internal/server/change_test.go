package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
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
