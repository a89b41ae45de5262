package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// The webhooks of an instance know nothing of each other, and one of them stays the first,
// however old it is.
func testSeveralWebhooks(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	ok := backlog.State{Status: backlog.StatusOK}
	second := webhook.Webhook{
		ID: newID(), InstanceID: instance.ID, URL: "https://example.com/2", Active: true, Secret: "two", PreviousSecret: "one",
		Filter:  webhook.Filter{Kinds: []eventlog.Kind{eventlog.KindPresence}, Chats: []webhook.ChatKind{webhook.ChatGroup}},
		Headers: []webhook.Header{{Name: "Authorization", Value: "Bearer secret"}, {Name: "X-Two", Value: "2"}}, MediaLinks: true,
		CreatedAt: after(1), UpdatedAt: after(1),
	}
	f.check(f.Webhooks.SaveWebhook(f.ctx(), second, &ok))
	if _, found, err := f.Webhooks.FindWebhook(f.ctx(), webhook.First(instance.ID)); found || err != nil {
		t.Errorf("found %v, %v, though no webhook is the first", found, err)
	}
	first := webhook.Webhook{
		ID: newID(), InstanceID: instance.ID, First: true, URL: "https://example.com/1", Active: true, CreatedAt: after(2), UpdatedAt: after(2),
	}
	f.check(f.Webhooks.SaveWebhook(f.ctx(), first, &ok))
	if err := f.Webhooks.SaveWebhook(f.ctx(), webhook.Webhook{ID: newID(), InstanceID: instance.ID, First: true, URL: "x"}, &ok); err == nil {
		t.Error("an instance has two first webhooks")
	}
	for _, asked := range []struct {
		ref  webhook.Ref
		want webhook.Webhook
	}{{refOf(second), second}, {refOf(first), first}, {webhook.First(instance.ID), first}} {
		if got, found, err := f.Webhooks.FindWebhook(f.ctx(), asked.ref); !found || err != nil || !reflect.DeepEqual(got, asked.want) {
			t.Errorf("found %+v (%v), want %+v", got, err, asked.want)
		}
	}
	if _, found, err := f.Webhooks.FindWebhook(f.ctx(), webhook.Ref{InstanceID: f.instance(f.account().ID, 2).ID, ID: second.ID}); found || err != nil {
		t.Errorf("another instance has the webhook (%v)", err)
	}
	page, err := f.Webhooks.ListWebhooks(f.ctx(), instance.ID, gateway.PageRequest{Page: 2, Limit: 1})
	f.check(err)
	if page.Total != 2 || len(page.Items) != 1 || page.Items[0].ID != first.ID {
		t.Errorf("the second page is %+v", page)
	}

	letter := backlog.DeadLetter{Sequence: 1, At: after(1)}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{
		{ID: second.ID, InstanceID: instance.ID, Progress: backlog.Progress{
			State: backlog.State{Status: backlog.StatusOK, Cursor: 9}, Blocked: []backlog.BlockedChat{blocked(3)}, DeadLetters: []backlog.DeadLetter{letter},
		}, Attempts: []webhook.Attempt{{Number: 1, Sequence: 8, Status: 200, At: after(3)}}},
		{ID: first.ID, InstanceID: instance.ID, Progress: backlog.Progress{State: backlog.State{Status: backlog.StatusBackoff, Cursor: 5}}},
	}))
	all, err := f.Webhooks.Webhooks(f.ctx(), []string{instance.ID})
	f.check(err)
	want := []webhook.Saved{
		{Webhook: second, State: backlog.State{Status: backlog.StatusOK, Cursor: 9}, Blocked: []backlog.BlockedChat{blocked(3)}},
		{Webhook: first, State: backlog.State{Status: backlog.StatusBackoff, Cursor: 5}},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, want %+v", all, want)
	}
	if lines, total := f.deliveries(first, 1, 10); total != 0 {
		t.Errorf("the first has the deliveries of the second: %v", lines)
	}
	if lines, total := f.deliveries(second, 1, 10); total != 3 {
		t.Errorf("the second has the deliveries %v", lines)
	}
	if deleted, err := f.Webhooks.DeleteWebhook(f.ctx(), refOf(second)); !deleted || err != nil {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	if lines, total := f.deliveries(second, 1, 10); total != 0 {
		t.Errorf("what is left of the second is %v", lines)
	}
	f.wantSaved(want[1])
}

func testReadWantedEvents(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	for n, chat := range []gateway.JID{"1@s.whatsapp.net", "2@g.us", "3@newsletter", gateway.StatusChat, "", "4@lid"} {
		event := f.event(instance, n)
		event.Chat = chat
		if n%2 == 1 {
			event.Kind = eventlog.KindPresence
		}
		f.check(f.AppendEvents(f.ctx(), instance.ID, event))
	}
	sent := f.event(instance, 6)
	sent.Kind, sent.Data = eventlog.KindMessageSent, []byte(`{"source":"device"}`)
	f.check(f.AppendEvents(f.ctx(), instance.ID, sent))
	presence, test := []eventlog.Kind{eventlog.KindPresence}, []eventlog.Kind{eventlog.KindWebhookTest, eventlog.KindCallReceived}
	for name, test := range cases.Sorted(map[string]struct {
		filter         webhook.Filter
		after, through int64
		events, bytes  int
		want           string
		searched       int64
	}{
		"its part":      {webhook.Filter{Kinds: []eventlog.Kind{eventlog.KindPresence, webhook.PartSentByDevice}}, 5, 7, 10, 1 << 20, "6 7", 7},
		"another part":  {webhook.Filter{Kinds: []eventlog.Kind{webhook.PartSentByAPI}}, 0, 7, 10, 1 << 20, "", 7},
		"all":           {webhook.Filter{}, 0, 6, 10, 1 << 20, "1 2 3 4 5 6", 6},
		"a kind":        {webhook.Filter{Kinds: presence}, 0, 6, 10, 1 << 20, "2 4 6", 6},
		"two kinds":     {webhook.Filter{Kinds: test}, 1, 6, 10, 1 << 20, "3 5", 6},
		"direct":        {webhook.Filter{Chats: []webhook.ChatKind{webhook.ChatDirect}}, 0, 6, 10, 1 << 20, "1 5 6", 6},
		"group":         {webhook.Filter{Chats: []webhook.ChatKind{webhook.ChatGroup}}, 0, 4, 10, 1 << 20, "2", 4},
		"others":        {webhook.Filter{Chats: []webhook.ChatKind{webhook.ChatChannel, webhook.ChatStatus}}, 0, 6, 10, 1 << 20, "3 4 5", 6},
		"kind and chat": {webhook.Filter{Kinds: presence, Chats: []webhook.ChatKind{webhook.ChatDirect}}, 0, 6, 10, 1 << 20, "6", 6},
		"none":          {webhook.Filter{Kinds: []eventlog.Kind{eventlog.KindCallReceived}}, 0, 6, 10, 1 << 20, "", 6},
		"no further":    {webhook.Filter{Kinds: presence}, 0, 3, 10, 1 << 20, "2", 3},
		"a few":         {webhook.Filter{Kinds: presence}, 0, 6, 2, 1 << 20, "2 4", 4},
		"some bytes":    {webhook.Filter{Kinds: presence}, 0, 6, 10, 1, "2", 2},
	}) {
		events, searched, err := f.ReadWantedEvents(f.ctx(), instance.ID, test.filter, test.after, test.through, test.events, test.bytes)
		f.check(err)
		var got []string
		for _, event := range events {
			if !test.filter.Takes(event) {
				t.Errorf("%s: %d is not taken", name, event.Sequence)
			}
			got = append(got, fmt.Sprint(event.Sequence))
		}
		if strings.Join(got, " ") != test.want || searched != test.searched {
			t.Errorf("%s: got %v, searched up to %d; want %s, %d", name, got, searched, test.want, test.searched)
		}
	}
}
