package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// leave leaves a text in the queue.
func leave(t *testing.T, g *testkit.Gateway, id string, text client.Text) client.Sent {
	t.Helper()
	text.Prefer = client.RespondAsync
	sent, err := g.Client.SendText(t.Context(), id, text)
	if err != nil {
		t.Fatal(err)
	}
	if !sent.Accepted {
		t.Fatalf("%q was sent at once", text.Message)
	}
	return sent
}

// queueOf returns what waits to be sent.
func queueOf(t *testing.T, g *testkit.Gateway, id string) []client.QueuedMessage {
	t.Helper()
	var waiting []client.QueuedMessage
	for message, err := range g.Client.Queue(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, message)
	}
	return waiting
}

func awaitEmptyQueue(t *testing.T, g *testkit.Gateway, id string) {
	t.Helper()
	testkit.Await(t, "the queue is empty", func() bool { return len(queueOf(t, g, id)) == 0 })
}

// awaitLeft waits until a message has left the queue: the phone may have it before that is
// written.
func awaitLeft(t *testing.T, g *testkit.Gateway, id string, sent client.Sent) {
	t.Helper()
	testkit.Await(t, "the message has left the queue", func() bool {
		_, err := g.Client.GetQueuedMessage(t.Context(), id, sent.ID)
		refusal, ok := errors.AsType[*client.Error](err)
		return ok && refusal.Code == client.CodeMessageNotFound
	})
}

// A message in the queue outlives a disconnection and a restart of the program, with its
// file, under the identifiers that its client got, and the messages of a chat keep their
// order.
func TestQueueKeepsMessages(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := testkit.Options{DataDir: t.TempDir(), DatabaseURL: database(t)}
			g, id := testkit.StartLinked(t, o)
			first := sendText(t, g, id, "the question")
			if err := g.Partner.StopInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			var want []string
			for n := range 5 {
				want = append(want, leave(t, g, id, client.Text{To: customerNumber, Message: fmt.Sprint(n)}).MessageID)
			}
			content := picture(t)
			image, err := g.Client.SendImage(t.Context(), id, client.Image{
				To: customerNumber, Image: client.DataURI("image/png", content), Caption: "look", QuoteMessageID: first.ID, Prefer: client.RespondAsync,
			})
			if err != nil {
				t.Fatal(err)
			}
			forwarded, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: customerNumber, MessageID: first.ID, Prefer: client.RespondAsync})
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, image.MessageID, forwarded.MessageID)
			for _, message := range queueOf(t, g, id) {
				if message.State != "waiting" && (message.State != "held" || message.Reason == nil || *message.Reason != client.ReasonNotConnected) {
					t.Errorf("in the queue: %+v", message)
				}
			}
			g.Stop()

			g = testkit.Start(t, o)
			if waiting := queueOf(t, g, id); len(waiting) != len(want) || waiting[5].ID != image.ID || waiting[5].Text != "look" {
				t.Errorf("after the restart the queue has %+v", waiting)
			}
			if err := g.Client.RestartInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			awaitEmptyQueue(t, g, id)
			g.Phones.AwaitMessage(t, customerNumber, forwarded.MessageID) // the phone may need a moment
			var got []string
			for _, message := range g.Phones.Messages(t, customerNumber, "") {
				got = append(got, message.MessageID)
			}
			if !slices.Equal(got, append([]string{first.MessageID}, want...)) {
				t.Errorf("the phone has %v, want %v", got, want)
			}
			shown := g.Phones.AwaitMessage(t, customerNumber, image.MessageID)
			if shown.Caption != "look" || shown.QuotedMessageID != first.MessageID || shown.MediaSHA256 != sum(content) {
				t.Errorf("the phone shows %+v", shown)
			}
			testkit.Await(t, "the image is read", func() bool { return find(t, g, id, image.ID).Status == gateway.MessageRead })
			if kept := find(t, g, id, image.MessageID); kept.ID != image.ID {
				t.Errorf("it is kept as %s, not as %s", kept.ID, image.ID)
			}
		})
	}
}

// A message is sent at the time that its request says, and not if it is cancelled before.
func TestQueueSchedules(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx := t.Context()
	soon := time.Now().Add(1500 * time.Millisecond)
	later := leave(t, g, id, client.Text{To: customerNumber, Message: "on time", SendAt: soon})
	never := leave(t, g, id, client.Text{To: customerNumber, Message: "cancelled", SendAt: time.Now().Add(time.Hour)})
	for range 3 {
		leave(t, g, id, client.Text{To: otherNumber, Message: "cancelled with all others", SendAt: time.Now().Add(time.Hour)})
	}
	if waiting, err := g.Client.GetQueuedMessage(ctx, id, never.MessageID); err != nil || waiting.State != "scheduled" || waiting.ID != never.ID {
		t.Errorf("in the queue: %+v, %v", waiting, err)
	}
	if err := g.Client.CancelQueuedMessage(ctx, id, never.ID); err != nil {
		t.Fatal(err)
	}
	testkit.Refused(t, g.Client.CancelQueuedMessage(ctx, id, never.ID), http.StatusNotFound, client.CodeMessageNotFound)
	g.Phones.AwaitMessage(t, customerNumber, later.MessageID)
	if early := time.Until(soon); early > 0 {
		t.Errorf("it was sent %s early", early)
	}
	awaitLeft(t, g, id, later)
	testkit.Refused(t, g.Client.CancelQueuedMessage(ctx, id, later.ID), http.StatusNotFound, client.CodeMessageNotFound)
	if n, err := g.Client.CancelQueue(ctx, id); err != nil || n.Cancelled != 3 {
		t.Errorf("%d messages were cancelled, %v", n.Cancelled, err)
	}
	awaitEmptyQueue(t, g, id)
	if messages := g.Phones.Messages(t, customerNumber, ""); len(messages) != 1 {
		t.Errorf("the phone has %+v", messages)
	}
	_, err := g.Client.SendText(ctx, id, client.Text{To: customerNumber, Message: "too far", SendAt: time.Now().AddDate(2, 0, 0)})
	testkit.Refused(t, err, http.StatusBadRequest, client.CodeValidationError)
}

// A repeat of a request finds its message in the queue, and when it has left it.
func TestQueueAnswersRepeats(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	text := client.Text{To: customerNumber, Message: "once", IdempotencyKey: "order-1", SendAt: time.Now().Add(time.Second)}
	first := leave(t, g, id, text)
	if again := leave(t, g, id, text); again.ID != first.ID || !again.IdempotencyReplayed {
		t.Errorf("the repeat names %+v", again)
	}
	g.Phones.AwaitMessage(t, customerNumber, first.MessageID)
	awaitEmptyQueue(t, g, id)
	if again := leave(t, g, id, text); again.ID != first.ID || !again.IdempotencyReplayed {
		t.Errorf("the repeat after it was sent names %+v", again)
	}
	text.Message = "another one"
	text.Prefer = client.RespondAsync
	_, err := g.Client.SendText(t.Context(), id, text)
	testkit.Refused(t, err, http.StatusConflict, client.CodeIdempotencyConflict)
}

// What can't be sent fails with an event that says why, and holds nobody up.
func TestQueueFails(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := g.Client.Events(ctx, id, client.EventsParams{After: new(int64(0)), Types: []string{"message.status"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	const unregistered = "551133334444"
	g.Phones.Update(t, unregistered, map[string]any{"registered": false})
	nobody := leave(t, g, id, client.Text{To: unregistered, Message: "nobody is there"})
	after := leave(t, g, id, client.Text{To: customerNumber, Message: "and this one is sent"})
	g.Phones.AwaitMessage(t, customerNumber, after.MessageID)
	for {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		var status client.MessageStatusEvent
		if err := json.Unmarshal(event.Data, &status); err != nil {
			t.Fatal(err)
		}
		if status.MessageID != nobody.MessageID {
			continue
		}
		if status.Status != "failed" || status.Failure == nil || status.Failure.Code != client.CodeRecipientNotRegistered ||
			status.ID == nil || *status.ID != nobody.ID {
			t.Errorf("the event says %+v", status)
		}
		break
	}
	awaitEmptyQueue(t, g, id)
	if kept := find(t, g, id, nobody.ID); kept.Status != gateway.MessageFailed {
		t.Errorf("it is kept as %+v", kept)
	}
	// What is wrong with the request itself is said at once.
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "an answer", QuoteMessageID: "3EB0NONE", Prefer: client.RespondAsync})
	testkit.Refused(t, err, http.StatusNotFound, client.CodeMessageNotFound)
	_, err = g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: client.DataURI("image/png", []byte("no picture")), Prefer: client.RespondAsync})
	testkit.Refused(t, err, http.StatusBadRequest, client.CodeValidationError)
}
