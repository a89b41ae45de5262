package torture_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// queueGap is the time between two messages that leave a queue.
const queueGap = 30 * time.Millisecond

// Clients leave messages in the queues, and the gateway is killed with kill -9 at random
// moments, while it takes them and while it sends them. In the end each message that it has
// accepted is on its phone once, under the identifier that the API returned, and those of a
// chat are in the order in which they were accepted.
func TestQueueSurvivesKills(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, databaseURL string) {
		t.Helper()
		w := newWorld(t, databaseURL, shops)
		for _, shop := range w.shops {
			// So that there is always something in the queues, until the end.
			if _, err := w.client.ChangeInstance(t.Context(), shop.id, client.InstanceChange{
				Pace: client.Set(client.PaceChange{GapSeconds: client.Set(queueGap.Seconds())}),
			}); err != nil {
				t.Fatal(err)
			}
		}
		accepted := map[string][]string{} // of each customer, in order
		filled := make(chan struct{})
		go func() {
			defer close(filled)
			fillQueues(w, accepted)
		}()
		killed := 0
		for ; killed < queueKills; killed++ {
			<-time.After(100*time.Millisecond + rand.N(lifetime)) // the moment is to be at random
			w.restart()
		}
		<-filled
		for _, shop := range w.shops {
			await.Until(t, "the queue is empty", func() bool {
				page, err := w.client.ListQueue(t.Context(), shop.id, 0, 1)
				return err == nil && page.TotalCount == 0
			})
		}
		for to, ids := range cases.Sorted(accepted) {
			w.phones.AwaitMessage(t, to, ids[len(ids)-1]) // the phone may need a moment
			var shown []string
			for _, message := range w.phones.Messages(t, to, "") {
				shown = append(shown, message.MessageID)
			}
			if fmt.Sprint(shown) != fmt.Sprint(ids) {
				t.Errorf("%s: %d messages were accepted, and %d are on the phone, or in another order", to, len(ids), len(shown))
			}
		}
		t.Logf("%d kills; %d messages accepted, all on their phones once, in order", killed, queuedMessages)
	})
}

// fillQueues leaves the messages in the queues, one after another. It repeats each until the
// API answers that it was accepted.
func fillQueues(w *world, accepted map[string][]string) {
	again := time.NewTicker(pace)
	defer again.Stop()
	for n := range queuedMessages {
		number := n % (shops * customers)
		to := customer(number)
		text := client.Text{To: to, Message: fmt.Sprintf("message %d", n), Prefer: client.RespondAsync, IdempotencyKey: fmt.Sprintf("%s %d", w.t.Name(), n)}
		for {
			sent, err := w.client.SendText(w.t.Context(), w.shops[number/customers].id, text)
			if err == nil {
				accepted[to] = append(accepted[to], sent.MessageID)
				break
			}
			select {
			case <-again.C:
			case <-w.t.Context().Done():
				return
			}
		}
	}
}
