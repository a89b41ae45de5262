package server_test

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// A gateway that moves from SQLite to PostgreSQL goes on with its sessions, without a code:
// messages go both ways, also those that were written while it was down, and the webhook
// delivers every event once.
func TestMoveToPostgreSQL(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir(), MasterKey: seal.NewKey()}
	moved := options
	moved.DatabaseURL = postgres.Start(t)
	sink := testkit.NewSink(t)
	g, shop := testkit.StartLinked(t, options)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), shop, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	received := func(messageID string) {
		t.Helper()
		sink.AwaitType("message.received", func(d testkit.Delivered) bool {
			data, err := d.Event.Decode()
			message, ok := data.(client.MessageReceivedEvent)
			return err == nil && ok && message.MessageID == messageID
		})
	}
	before := sendText(t, g, shop, "before")
	g.Phones.AwaitMessage(t, customerNumber, before.MessageID)
	received(g.Phones.SendText(t, customerNumber, shopNumber, "before, too"))
	g.Stop()

	logger := testkit.Logger(t)
	if _, err := copying.Move(t.Context(), server.StoreConfig(options.DataDir, "", logger), server.StoreConfig("", moved.DatabaseURL, logger)); err != nil {
		t.Fatal(err)
	}
	g = testkit.Start(t, moved)
	g.AwaitStatus(t, shop, gateway.StatusConnected)
	received(g.Phones.SendText(t, customerNumber, shopNumber, "after"))
	answer, err := g.Client.SendText(t.Context(), shop, client.Text{To: customerNumber, Message: "after, too", QuoteMessageID: before.ID})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, answer.MessageID); got.Text != "after, too" || got.QuotedMessageID != before.MessageID {
		t.Errorf("the answer is %+v", got)
	}
	sink.AwaitType("message.sent", func(d testkit.Delivered) bool { return idOf(d) == answer.ID })
	taken := sink.Await("no gap", func(taken []testkit.Delivered) bool {
		sequences := sequencesOf(taken)
		return int64(len(slices.Compact(sequences))) == sequences[len(sequences)-1]-sequences[0]+1
	})
	if sequences := sequencesOf(taken); len(slices.Compact(slices.Clone(sequences))) != len(sequences) {
		t.Errorf("the webhook delivered %d", sequences)
	}
}

// idOf is the id of the message that an event is about.
func idOf(d testkit.Delivered) string {
	if data, err := d.Event.Decode(); err == nil {
		if sent, ok := data.(client.MessageSentEvent); ok {
			return sent.ID
		}
	}
	return ""
}

// sequencesOf are those of the events, in order.
func sequencesOf(taken []testkit.Delivered) []int64 {
	sequences := make([]int64, len(taken))
	for i, d := range taken {
		sequences[i] = d.Event.Sequence
	}
	slices.Sort(sequences)
	return sequences
}
