package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// One instance, four destinations: the contract's own, one for what customers write, one for groups,
// and one that is dead. Each gets its own, signed and with its headers, and goes on after a
// restart.
func TestSeveralWebhooks(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir()}
	g, id := testkit.StartLinked(t, options)
	group := g.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber).ID
	everything, crm, groups, dead := testkit.NewSink(t), testkit.NewSink(t), testkit.NewSink(t), testkit.NewSink(t)
	dead.Answer(func(testkit.Delivered) int { return http.StatusInternalServerError })
	must := func(hook client.Webhook, err error) client.Webhook {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return hook
	}
	received := []string{client.TypeMessageReceived}
	ill := must(g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: dead.URL}))
	direct := must(g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{
		URL: crm.URL, Secret: "the secret of the crm", Events: received, Chats: []string{client.ChatsDirect}, Headers: map[string]string{"authorization": "Bearer 7f3a"},
	}))
	must(g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: groups.URL, Events: received, Chats: []string{client.ChatsGroup}}))
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: everything.URL}); err != nil {
		t.Fatal(err)
	}
	if direct.IsFirst || !direct.IsActive || !slices.Equal(direct.HeaderNames, []string{"Authorization"}) || direct.Secret == "" {
		t.Errorf("made is %+v", direct)
	}

	one, many := g.Phones.SendText(t, customerNumber, shopNumber, "in private"), g.Phones.SendText(t, customerNumber, group, "in the group")
	is := func(message string) func(testkit.Delivered) bool {
		return func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), message) }
	}
	taken := crm.AwaitType(client.TypeMessageReceived, is(one))
	if _, err := client.VerifyWebhook("the secret of the crm", taken.Header, taken.Body); err != nil || taken.Header.Get("Authorization") != "Bearer 7f3a" {
		t.Errorf("the headers are %v (%v)", taken.Header, err)
	}
	groups.AwaitType(client.TypeMessageReceived, is(many))
	everything.AwaitType(client.TypeMessageReceived, is(one))
	everything.AwaitType(client.TypeMessageReceived, is(many))
	testkit.Await(t, "the dead one waits", func() bool {
		page, err := g.Client.ListWebhookDeliveries(t.Context(), id, ill.ID, 1, 1)
		return err == nil && page.Delivery.State == client.StateWaiting
	})

	g.Stop()
	g = testkit.Start(t, options)
	dead.Answer(func(testkit.Delivered) int { return http.StatusNoContent })
	if err := g.Client.ResumeWebhook(t.Context(), id, ill.ID); err != nil {
		t.Fatal(err)
	}
	dead.AwaitType(client.TypeMessageReceived, is(one))
	dead.AwaitType(client.TypeMessageReceived, is(many))
	both := must(g.Client.ChangeWebhook(t.Context(), id, direct.ID, client.WebhookChange{Chats: []string{}}))
	if len(both.Chats) != 0 || !slices.Equal(both.Events, received) || both.URL != crm.URL || len(both.HeaderNames) != 1 {
		t.Errorf("changed it is %+v", both)
	}
	crm.AwaitType(client.TypeMessageReceived, is(g.Phones.SendText(t, customerNumber, group, "to all now")))
	for name, sink := range cases.Sorted(map[string]*testkit.Sink{"crm": crm, "groups": groups, "everything": everything, "dead": dead}) {
		seen := map[string]bool{}
		for _, d := range sink.Delivered() {
			if seen[d.Event.ID] {
				t.Errorf("%s came to %s twice: %s", d.Event.Type, name, d.Body)
			}
			seen[d.Event.ID] = true
		}
	}
	for _, d := range crm.Delivered() {
		if d.Event.Type != client.TypeMessageReceived || is(many)(d) {
			t.Errorf("what was left out came: %s", d.Body)
		}
	}
	if err := g.Client.DeleteWebhook(t.Context(), id, ill.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.GetWebhook(t.Context(), id, ill.ID); codeOf(err) != client.CodeWebhookNotFound {
		t.Errorf("after it was deleted: %v", err)
	}
}

// Bad input is refused with a precise answer, and changes nothing.
func TestWebhooksAreChecked(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{RefusePrivateURLs: true})
	made, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	id := made.InstanceID
	create := func(hook client.NewWebhook) error {
		_, err := g.Client.CreateWebhook(t.Context(), id, hook)
		return err
	}
	for name, hook := range cases.Sorted(map[string]client.NewWebhook{
		"a private address": {URL: "http://127.0.0.1:1/"},
		"a cloud's own":     {URL: "http://169.254.169.254/latest"},
		"no address":        {URL: "/events"},
		"a thousand types":  {URL: "https://example.org", Events: thousandTypes()},
		"an unknown type":   {URL: "https://example.org", Events: []string{"message.invented"}},
		"an unknown chat":   {URL: "https://example.org", Chats: []string{"broadcast"}},
		"a split header":    {URL: "https://example.org", Headers: map[string]string{"X-A": "1\r\nWebhook-Signature: v1,x"}},
		"a signature":       {URL: "https://example.org", Headers: map[string]string{"webhook-signature": "v1,x"}},
		"a host":            {URL: "https://example.org", Headers: map[string]string{"host": "internal"}},
	}) {
		if err := create(hook); codeOf(err) != client.CodeValidationError {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := g.Client.ListWebhooks(t.Context(), id, 0, 0)
	if err != nil || page.TotalCount != 0 {
		t.Errorf("there are %d webhooks (%v)", page.TotalCount, err)
	}
	for range 10 {
		if err := create(client.NewWebhook{URL: "https://example.org"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(client.NewWebhook{URL: "https://example.org"}); codeOf(err) != client.CodeWebhookLimitReached {
		t.Errorf("the eleventh: %v", err)
	}
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: "https://example.org"}); err != nil {
		t.Errorf("that of webhook-config: %v", err)
	}
	for _, path := range []string{"nothing", "01a20010-f12e-77b3-9e8b-0749d3e78ea2"} {
		if _, err := g.Client.GetWebhook(context.WithoutCancel(t.Context()), id, path); codeOf(err) != client.CodeWebhookNotFound {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func thousandTypes() []string {
	types := make([]string, 1_000)
	for n := range types {
		types[n] = fmt.Sprint("message.", n)
	}
	return types
}

// codeOf returns the code of a refusal; empty for anything else.
func codeOf(err error) string {
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok {
		return ""
	}
	return refusal.Code
}

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
