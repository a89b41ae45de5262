package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Where both sides wrote to each other for the first time in the same moment, each
// had two sessions with the other, and libsignal's search spoiled one of them: from
// then on message after message was unreadable, asked for again, and late. All of
// them arrive in their order.
func TestBothSidesWriteFirst(t *testing.T) {
	t.Parallel()
	const customers, each = 4, 80
	g, id := testkit.StartLinked(t, testkit.Options{})
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{Types: []string{"message.received"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	sent := make(map[string][]string, customers)
	var mu sync.Mutex
	var group sync.WaitGroup
	for c := range customers {
		number := fmt.Sprintf("551198888%02d44", c)
		group.Go(func() {
			for n := range each {
				messageID := g.Phones.SendText(t, number, shopNumber, fmt.Sprint("customer ", n))
				mu.Lock()
				sent[number+"@s.whatsapp.net"] = append(sent[number+"@s.whatsapp.net"], messageID)
				mu.Unlock()
			}
		})
		group.Go(func() {
			for n := range each {
				if _, err := g.Client.SendText(t.Context(), id, client.Text{To: number, Message: fmt.Sprint("shop ", n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	arrived := map[string][]string{}
	for range customers * each {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		var message struct {
			MessageID string `json:"messageId"`
			Chat      string `json:"chat"`
		}
		if err := json.Unmarshal(event.Data, &message); err != nil {
			t.Fatal(err)
		}
		arrived[message.Chat] = append(arrived[message.Chat], message.MessageID)
	}
	for chat, want := range cases.Sorted(sent) {
		if got := arrived[chat]; !slices.Equal(got, want) {
			t.Errorf("in %s came\n%v, want\n%v", chat, got, want)
		}
	}
}
