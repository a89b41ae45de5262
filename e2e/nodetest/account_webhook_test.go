package nodetest_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// A webhook of the account that is made at one node hears the instances of all nodes. They follow
// its changes, and go on with it where they are when their node is killed.
func TestAccountWebhookHearsInstancesOfAllNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 2, 4, shortLease)
	first, second := sink.New(t), sink.New(t)
	heard := func(at *sink.Sink, shop shop, text string) {
		t.Helper()
		sent := w.phones.SendText(t, "5511988887766", shop.number, text)
		taken := at.AwaitType(client.TypeMessageReceived, func(d sink.Delivered) bool { return strings.Contains(string(d.Body), sent) })
		if taken.Event.InstanceID != shop.id {
			t.Errorf("what %s got is said to be of %s", shop.id, taken.Event.InstanceID)
		}
	}
	made, err := w.nodes[0].client.CreateAccountWebhook(t.Context(), client.NewWebhook{URL: first.URL, Events: []string{client.TypeMessageReceived}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range w.nodes {
		if len(w.ownedBy(n)) == 0 {
			t.Fatal("a node works for nothing")
		}
	}
	for _, shop := range w.shops {
		heard(first, shop, "to all nodes")
	}
	// Asked at the other node, whose instances have to be told.
	if _, err := w.nodes[1].client.ChangeAccountWebhook(t.Context(), made.ID, client.WebhookChange{URL: new(second.URL)}); err != nil {
		t.Fatal(err)
	}
	for _, shop := range w.shops {
		await.Until(t, "the instance follows the change", func() bool {
			page, err := w.nodes[0].client.ListWebhooks(t.Context(), shop.id, 0, 0)
			if err != nil {
				return false
			}
			for _, webhook := range page.Data {
				if webhook.AccountWebhookID != nil && webhook.URL == second.URL {
					return true
				}
			}
			return false
		})
		heard(second, shop, "to another place")
	}

	victim := w.nodes[0]
	ids := w.ownedBy(victim)
	victim.Kill()
	w.awaitElsewhere(ids, victim, w.nodes[1])
	for _, shop := range w.shops {
		heard(second, shop, "from the node that is left")
	}
	if err := w.nodes[1].client.DeleteAccountWebhook(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	for _, shop := range w.shops {
		await.Until(t, "the instance has its own webhook alone", func() bool {
			page, err := w.nodes[1].client.ListWebhooks(t.Context(), shop.id, 0, 0)
			return err == nil && page.TotalCount == 1
		})
	}
}
