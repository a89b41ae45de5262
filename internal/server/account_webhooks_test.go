package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// wantSecretFor fails unless those keys alone see the secret of an account's webhook in an instance
// that follows it, which may change it for all: with it one signs events of every other instance.
func wantSecretFor(t *testing.T, g *testkit.Gateway, instanceID, webhookID, secret string) {
	t.Helper()
	own, err := g.Client.CreateWebhook(t.Context(), instanceID, client.NewWebhook{URL: "https://example.org/own", Secret: "the secret of the shop"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Client.DeleteWebhook(t.Context(), instanceID, own.ID); err != nil {
			t.Error(err)
		}
	}()
	for _, c := range []struct {
		name string
		key  client.NewKey
		want string
	}{
		{"of one instance", client.NewKey{Name: "shop", InstanceIDs: []string{instanceID}}, ""},
		{"of the account", client.NewKey{Name: "all"}, ""},
		{"partner of one instance", client.NewKey{Name: "partner of shop", Partner: true, InstanceIDs: []string{instanceID}}, ""},
		{"partner of the account", client.NewKey{Name: "partner", Partner: true}, secret},
	} {
		made, err := g.Partner.CreateAPIKey(t.Context(), c.key)
		if err != nil {
			t.Fatal(err)
		}
		with := client.New(g.BaseURL, made.Key)
		one, err := with.GetWebhook(t.Context(), instanceID, webhookID)
		if err != nil || one.Secret != c.want {
			t.Errorf("a key %s sees the secret %q (%v), want %q", c.name, one.Secret, err, c.want)
		}
		page, err := with.ListWebhooks(t.Context(), instanceID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, listed := range page.Data {
			want := c.want
			if listed.ID == own.ID {
				want = "the secret of the shop" // it is the instance's own
			}
			if listed.Secret != want {
				t.Errorf("a key %s finds the secret %q in the list, want %q", c.name, listed.Secret, want)
			}
		}
	}
}

// A webhook of an account hears instances that were there and one that comes later, follows
// every change, and is gone everywhere when it is deleted.
func TestAccountWebhookHearsAllInstances(t *testing.T) {
	t.Parallel()
	g, shop := testkit.StartLinked(t, testkit.Options{})
	sink := testkit.NewSink(t)
	is := func(message string) func(testkit.Delivered) bool {
		return func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), message) }
	}
	made, err := g.Partner.CreateAccountWebhook(t.Context(), client.NewWebhook{
		URL: sink.URL, Secret: "the secret of the desk", Events: []string{client.TypeMessageReceived}, Headers: map[string]string{"authorization": "Bearer 7f3a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	// At once: what happens before an instance follows is not lost.
	first := g.Phones.SendText(t, customerNumber, shopNumber, "to the shop")
	taken := sink.AwaitType(client.TypeMessageReceived, is(first))
	if _, err := client.VerifyWebhook("the secret of the desk", taken.Header, taken.Body); err != nil || taken.Header.Get("Authorization") != "Bearer 7f3a" {
		t.Errorf("the headers are %v (%v)", taken.Header, err)
	}
	desk := g.Link(t, otherNumber)
	taken = sink.AwaitType(client.TypeMessageReceived, is(g.Phones.SendText(t, customerNumber, otherNumber, "to the desk")))
	if taken.Event.InstanceID != desk {
		t.Errorf("the event is of %s", taken.Event.InstanceID)
	}

	var own client.Webhook
	testkit.Await(t, "the instance follows", func() bool {
		page, err := g.Client.ListWebhooks(t.Context(), shop, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if page.TotalCount == 1 {
			own = page.Data[0]
		}
		return page.TotalCount == 1
	})
	if own.AccountWebhookID == nil || *own.AccountWebhookID != made.ID || own.IsFirst {
		t.Errorf("the instance has %+v", own)
	}
	wantSecretFor(t, g, shop, own.ID, "the secret of the desk")
	_, err = g.Client.ChangeWebhook(t.Context(), shop, own.ID, client.WebhookChange{URL: new("https://example.org")})
	testkit.Refused(t, err, http.StatusConflict, client.CodeWebhookOfAccount)
	testkit.Refused(t, g.Client.DeleteWebhook(t.Context(), shop, own.ID), http.StatusConflict, client.CodeWebhookOfAccount)
	if listed, err := g.Client.ListWebhookDeliveries(t.Context(), shop, own.ID, 0, 0); err != nil || listed.TotalCount != 1 {
		t.Errorf("the deliveries are %+v (%v)", listed, err)
	}

	other := testkit.NewSink(t)
	if _, err := g.Partner.ChangeAccountWebhook(t.Context(), made.ID, client.WebhookChange{URL: new(other.URL)}); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "both instances follow the change", func() bool {
		for _, id := range []string{shop, desk} {
			page, err := g.Client.ListWebhooks(t.Context(), id, 0, 0)
			if err != nil || page.TotalCount != 1 || page.Data[0].URL != other.URL {
				return false
			}
		}
		return true
	})
	second := g.Phones.SendText(t, customerNumber, shopNumber, "to another place")
	other.AwaitType(client.TypeMessageReceived, is(second))

	if err := g.Partner.DeleteAccountWebhook(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	page, err := g.Client.ListWebhooks(t.Context(), shop, 0, 0)
	if err != nil || page.TotalCount != 0 {
		t.Errorf("the instance still has %+v (%v)", page, err)
	}
	testkit.Refused(t, g.Partner.DeleteAccountWebhook(t.Context(), made.ID), http.StatusNotFound, client.CodeWebhookNotFound)
	for _, d := range append(sink.Delivered(), other.Delivered()...) {
		if d.Event.Type != client.TypeMessageReceived {
			t.Errorf("what was left out came: %s", d.Body)
		}
	}
	_, err = g.Client.CreateAccountWebhook(t.Context(), client.NewWebhook{URL: sink.URL})
	testkit.Refused(t, err, http.StatusForbidden, "FORBIDDEN")
	for n := range 6 {
		_, err = g.Partner.CreateAccountWebhook(t.Context(), client.NewWebhook{URL: "https://example.org"})
		if (err != nil) != (n == 5) {
			t.Errorf("webhook %d is answered with %v", n, err)
		}
	}
	testkit.Refused(t, err, http.StatusConflict, client.CodeWebhookLimitReached)
}
