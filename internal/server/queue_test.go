package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

func setPace(t *testing.T, g *testkit.Gateway, id string, pace client.PaceChange) {
	t.Helper()
	if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{Pace: client.Set(pace)}); err != nil {
		t.Fatal(err)
	}
}

// Messages leave the queue no closer than the gap of their instance, to whomever they go,
// and a message that is sent at once counts.
func TestQueueKeepsThePace(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	const gap, messages = 100 * time.Millisecond, 30
	setPace(t, g, id, client.PaceChange{GapSeconds: client.Set(gap.Seconds())})
	var sent []client.Sent
	for n := range messages {
		sent = append(sent, leave(t, g, id, client.Text{To: []string{customerNumber, otherNumber}[n%2], Message: fmt.Sprint(n)}))
	}
	awaitEmptyQueue(t, g, id)
	left := make([]time.Time, messages)
	for n, message := range sent {
		left[n] = find(t, g, id, message.ID).CreatedAt // when it left the queue
	}
	// A busy machine writes some of the times a little late.
	took, ideal := left[messages-1].Sub(left[0]), (messages-1)*gap
	if took < ideal*9/10 {
		t.Errorf("%d messages took %s, which is faster than one in %s", messages, took, gap)
	}
	t.Logf("%d messages took %s, %.1f %% more than %s", messages, took, 100*(took.Seconds()/ideal.Seconds()-1), ideal)
}

// Only so many chats are begun in an hour. Their messages wait; those of other chats do not.
func TestQueueHoldsNewChats(t *testing.T) {
	t.Parallel()
	o := testkit.Options{DataDir: t.TempDir()}
	g, id := testkit.StartLinked(t, o)
	g.Phones.SendText(t, customerNumber, shopNumber, "a question")
	g.AwaitStatus(t, id, gateway.StatusConnected)
	setPace(t, g, id, client.PaceChange{NewChatsPerHour: client.Set(int64(2))})
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: strangerOf(0), Message: "at once"}); err != nil {
		t.Fatal(err) // it is not held, and counts
	}
	one := leave(t, g, id, client.Text{To: strangerOf(1), Message: "the second new chat"})
	g.Phones.AwaitMessage(t, strangerOf(1), one.MessageID)
	held := leave(t, g, id, client.Text{To: strangerOf(2), Message: "the third"})
	again := leave(t, g, id, client.Text{To: strangerOf(1), Message: "it is not new any more"})
	answer := leave(t, g, id, client.Text{To: customerNumber, Message: "an answer"})
	g.Phones.AwaitMessage(t, strangerOf(1), again.MessageID)
	g.Phones.AwaitMessage(t, customerNumber, answer.MessageID)
	awaitHeld(t, g, id, held, "new_chats")
	var used client.InstanceLimits
	testkit.Await(t, "one message is left", func() bool {
		used = limits(t, g, id)
		return used.Pace.Waiting == 1
	})
	if used.NewChats != (client.BudgetUse{LastHour: 2, LastDay: 2, PerHour: used.NewChats.PerHour}) || *used.NewChats.PerHour != 2 ||
		used.Pace != (client.PaceUse{Waiting: 1, SentLastMinute: 4}) {
		t.Errorf("the limits are %+v", used)
	}
	g.Stop()

	g = testkit.Start(t, o) // which does not begin anew to count
	awaitHeld(t, g, id, held, "new_chats")
	if messages := g.Phones.Messages(t, strangerOf(2), ""); len(messages) > 0 {
		t.Errorf("the phone has %+v", messages)
	}
	setPace(t, g, id, client.PaceChange{NewChatsPerHour: client.Set(int64(3))})
	leave(t, g, id, client.Text{To: customerNumber, Message: "with it the queue looks again"})
	g.Phones.AwaitMessage(t, strangerOf(2), held.MessageID)
	awaitEmptyQueue(t, g, id)
}

// While the platform restricts the account, messages to new chats wait, others leave, and
// the platform is not asked to send what it would refuse.
func TestQueueHoldsWhatIsRestricted(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.SendText(t, customerNumber, shopNumber, "a question")
	g.Phones.Restrict(t, shopNumber, 3600)
	testkit.Await(t, "the restriction is known", func() bool {
		shown, err := g.Server.Instances().Get(t.Context(), id)
		return err == nil && shown.Restricted != gateway.Restricted{}
	})
	held := leave(t, g, id, client.Text{To: strangerOf(3), Message: "held"})
	answer := leave(t, g, id, client.Text{To: customerNumber, Message: "an answer"})
	g.Phones.AwaitMessage(t, customerNumber, answer.MessageID)
	awaitHeld(t, g, id, held, "restricted")
	g.Phones.Restrict(t, shopNumber, 0)
	testkit.Await(t, "the restriction is over", func() bool {
		shown, err := g.Server.Instances().Get(t.Context(), id)
		return err == nil && shown.Restricted == gateway.Restricted{}
	})
	leave(t, g, id, client.Text{To: customerNumber, Message: "with it the queue looks again"})
	g.Phones.AwaitMessage(t, strangerOf(3), held.MessageID)
}

// Before a text from the queue the chat is shown typing, if the instance is set to it.
func TestQueueShowsTyping(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "first of all")
	if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{Typing: client.Set(true)}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	sent := leave(t, g, id, client.Text{To: customerNumber, Message: "twenty characters ..."})
	g.Phones.AwaitActivity(t, customerNumber, "chatstate", "composing")
	g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("it came after %s", took)
	}
}

// strangerOf is the number of somebody whom the shop has no chat with.
func strangerOf(n int) string { return fmt.Sprintf("55119876512%02d", n+11) }

// awaitHeld waits until a message is held for a reason.
func awaitHeld(t *testing.T, g *testkit.Gateway, id string, sent client.Sent, reason string) {
	t.Helper()
	testkit.Await(t, "the message is held", func() bool {
		waiting, err := g.Client.GetQueuedMessage(t.Context(), id, sent.ID)
		return err == nil && waiting.State == "held" && waiting.Reason != nil && *waiting.Reason == reason && waiting.HeldUntil != nil
	})
}

// limits fetches the limits of an instance.
func limits(t *testing.T, g *testkit.Gateway, id string) client.InstanceLimits {
	t.Helper()
	limits, err := g.Client.GetLimits(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return limits
}

// A check that does not fit into the budget is refused whole, and the platform is not asked;
// what is known already costs nothing. A restart forgets nothing of it.
func TestNumberChecksHaveABudget(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var later atomic.Int64
			options := testkit.Options{
				DataDir: t.TempDir(), DatabaseURL: database(t),
				Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
			}
			g, id := testkit.StartLinked(t, options)
			if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{
				NumberChecks: client.Set(client.BudgetChange{PerHour: client.Set(int64(3)), PerDay: client.Set(int64(4))}),
			}); err != nil {
				t.Fatal(err)
			}
			const one, two, three, four = "5511955550100", "5511955550200", "5511955550300", "5511955550400"
			check := func(numbers ...string) error {
				_, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: numbers})
				return err
			}
			refused := func(says string, after time.Duration, numbers ...string) {
				t.Helper()
				err := check(numbers...)
				testkit.Refused(t, err, http.StatusTooManyRequests, client.CodeRateLimited)
				refusal, ok := errors.AsType[*client.Error](err)
				if !ok || !strings.Contains(refusal.Message, says) || refusal.RetryAfter > after || refusal.RetryAfter < after-2*time.Minute {
					t.Errorf("answered %v, after %s", err, refusal.RetryAfter)
				}
			}
			if err := check(one, two, one); err != nil {
				t.Fatal(err)
			}
			refused("of the 3 that this instance may check within an hour, 1 are left", time.Hour+time.Minute, three, four)
			if err := check(one, two, three); err != nil { // two of them are known
				t.Error(err)
			}
			if used := limits(t, g, id).NumberChecks; used.LastHour != 3 || used.LastDay != 3 || *used.PerHour != 3 || *used.PerDay != 4 {
				t.Errorf("used is %+v", used)
			}
			// A message to a number is no check.
			if _, err := g.Client.SendText(t.Context(), id, client.Text{To: four, Message: "Oi!"}); err != nil {
				t.Error(err)
			}
			g.Stop()

			g = testkit.Start(t, options)
			g.AwaitStatus(t, id, "connected")
			refused("within an hour", time.Hour+time.Minute, "5511955550500")
			later.Store(int64(time.Hour + 2*time.Minute)) // no answer is remembered any more
			if err := check(one); err != nil {
				t.Error(err)
			}
			refused("of the 4 that this instance may check within a day, 0 are left", 23*time.Hour, two)
			refused("ask for fewer", 0, "5511955550500", "5511955550600", "5511955550700", "5511955550800", "5511955550900")
			if used := limits(t, g, id).NumberChecks; used.LastHour != 1 || used.LastDay != 4 {
				t.Errorf("used is %+v", used)
			}
		})
	}
}

// Checks that come at once do not take the last of the budget twice.
func TestNumberChecksAtOnceKeepToTheBudget(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{NumberChecks: client.Set(client.BudgetChange{PerHour: client.Set(int64(5))})}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var answered atomic.Int64
	for n := range 20 {
		group.Go(func() {
			_, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{"55119555501" + string(rune('0'+n/10)) + string(rune('0'+n%10))}})
			if err == nil {
				answered.Add(1)
			}
		})
	}
	group.Wait()
	if used := limits(t, g, id).NumberChecks; answered.Load() != 5 || used.LastHour != 5 {
		t.Errorf("%d checks were answered, and %d counted, want 5", answered.Load(), used.LastHour)
	}
}

// The limits say who has not answered, and whether the account is restricted.
func TestLimitsAreShown(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if shown := limits(t, g, id); shown != (client.InstanceLimits{Unanswered: client.Unanswered{Days: 7}}) {
		t.Errorf("at first it is %+v", shown)
	}
	sendText(t, g, id, "Oi!")
	sendText(t, g, id, "?")
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: otherNumber, Message: "Oi!"}); err != nil {
		t.Fatal(err)
	}
	if silent := limits(t, g, id).Unanswered; silent != (client.Unanswered{Days: 7, Messages: 3, Chats: 2, OfChats: 2}) {
		t.Errorf("before the answer it is %+v", silent)
	}
	awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, "yes"))
	if silent := limits(t, g, id).Unanswered; silent != (client.Unanswered{Days: 7, Messages: 1, Chats: 1, OfChats: 2}) {
		t.Errorf("after the answer it is %+v", silent)
	}
	g.Phones.Restrict(t, shopNumber, 3600)
	var shown client.Restriction
	testkit.Await(t, "the restriction", func() bool {
		shown = limits(t, g, id).Restriction
		return shown.Active
	})
	if shown.Since == nil || shown.Until == nil || time.Until(*shown.Until) < 50*time.Minute || time.Since(*shown.Since) > time.Minute {
		t.Errorf("the restriction is %+v", shown)
	}
	if instance := g.Instance(t, id); !instance.RestrictedUntil.Equal(*shown.Until) {
		t.Errorf("the instance says %v", instance.RestrictedUntil)
	}
}

// refusedAsNew fails the test unless err is the refusal of a message to a new chat, to be
// tried again after about that time.
func refusedAsNew(t *testing.T, err error, after time.Duration) {
	t.Helper()
	testkit.Refused(t, err, http.StatusTooManyRequests, client.CodeRecipientRestricted)
	if refusal, ok := errors.AsType[*client.Error](err); ok && (refusal.RetryAfter > after || refusal.RetryAfter < after-10*time.Minute) {
		t.Errorf("to be tried again after %s, want about %s", refusal.RetryAfter, after)
	}
}

// restrictions counts the events of restrictions: those that the platform announced, and
// those that a refused message has caused.
func restrictions(t *testing.T, g *testkit.Gateway, id string) (announced, refused int) {
	t.Helper()
	// The last event ends the reading.
	stop := g.Phones.SendText(t, otherNumber, shopNumber, "so far")
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{
		After: new(int64(0)), Types: []string{client.TypeInstanceRestricted, client.TypeMessageReceived},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := event.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch data := decoded.(type) {
		case client.MessageReceivedEvent:
			if data.MessageID == stop {
				return announced, refused
			}
		case client.InstanceRestrictedEvent:
			if data.Recipient == nil {
				announced++
			} else {
				refused++
			}
		}
	}
}

// While the platform restricts the account, a message to a new chat does not leave the
// gateway, also after a restart; everything else does. An answer makes the chat known, and
// the lift ends it.
func TestRestrictedAccountWritesToNoNewChat(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testkit.Options{DataDir: t.TempDir(), DatabaseURL: database(t)}
			g, id := testkit.StartLinked(t, options)
			const known, lookedUp, nobody = "5511977776600", "5511955550200", "5511955550101"
			g.Phones.Update(t, nobody, map[string]any{"registered": false})
			answered := g.Phones.SendText(t, known, shopNumber, "Olá")
			awaitMessage(t, g, id, answered)
			if _, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{lookedUp}}); err != nil {
				t.Fatal(err)
			}
			group := g.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber).ID
			g.Phones.Restrict(t, shopNumber, int(time.Hour.Seconds()))
			testkit.Await(t, "the restriction", func() bool {
				_, active := restricted(t, g, id)
				return active
			})
			// What comes later is received only after the platform has been told that this was.
			awaitMessage(t, g, id, g.Phones.SendText(t, known, shopNumber, "E aí?"))
			g.Stop()

			g = testkit.Start(t, options)
			g.AwaitStatus(t, id, gateway.StatusConnected)
			var fetched atomic.Int64
			files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fetched.Add(1)
				_, _ = io.WriteString(w, "no picture")
			}))
			t.Cleanup(files.Close)
			lid := g.Phones.Get(t, customerNumber).LID
			// Nobody's number would be found out by a look-up, and a refusal by the platform is an
			// event with the recipient.
			for _, to := range []string{customerNumber, customerNumber + "@s.whatsapp.net", lid, lookedUp, nobody} {
				_, err := g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "Oi!"})
				refusedAsNew(t, err, time.Hour)
			}
			_, err := g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: files.URL + "/a.png"})
			refusedAsNew(t, err, time.Hour)
			if n := fetched.Load(); n != 0 {
				t.Errorf("the picture was fetched %d times", n)
			}
			for _, to := range []string{known, known + "@s.whatsapp.net", group} {
				if _, err := g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "Oi!"}); err != nil {
					t.Errorf("to %s: %v", to, err)
				}
			}

			awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, "are you there?"))
			sendText(t, g, id, "yes")
			if announced, refused := restrictions(t, g, id); announced != 1 || refused != 0 {
				t.Errorf("the platform has announced %d restrictions and refused %d messages, want 1 and none", announced, refused)
			}
			g.Phones.Restrict(t, shopNumber, 0)
			testkit.Await(t, "the lift", func() bool {
				_, active := restricted(t, g, id)
				return !active
			})
			if _, err := g.Client.SendText(t.Context(), id, client.Text{To: lookedUp, Message: "Oi!"}); err != nil {
				t.Errorf("after the lift: %v", err)
			}
		})
	}
}

// restricted says until when the store takes the account for restricted.
func restricted(t *testing.T, g *testkit.Gateway, id string) (until time.Time, active bool) {
	t.Helper()
	instance, err := g.Server.Instances().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return instance.Restricted.Active(time.Now())
}

// A refusal that does not say until when holds for an hour: then the next message tries.
func TestRestrictionWithoutEndIsTriedAfterAnHour(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	g, id := testkit.StartLinked(t, testkit.Options{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	g.Phones.Faults(t, map[string]any{"sendError": 463})
	_, err := trySend(t, g, id, "Oi!")
	testkit.Refused(t, err, http.StatusTooManyRequests, client.CodeRecipientRestricted)
	g.Phones.Faults(t, map[string]any{})
	testkit.Await(t, "the restriction", func() bool {
		_, active := restricted(t, g, id)
		return active
	})
	_, err = trySend(t, g, id, "Oi!")
	refusedAsNew(t, err, time.Hour)
	if shown := g.Phones.Messages(t, customerNumber, ""); len(shown) != 0 {
		t.Errorf("the phone shows %+v", shown)
	}
	later.Store(int64(time.Hour + time.Minute))
	sendText(t, g, id, "Oi!")
}
