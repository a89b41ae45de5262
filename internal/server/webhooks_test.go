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
