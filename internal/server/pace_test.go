package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

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
