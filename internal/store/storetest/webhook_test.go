// What webhooks must do on both databases.

package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

func testWebhooks(t *testing.T, f *fixture) {
	t.Helper()
	for name, test := range cases.Sorted(map[string]func(t *testing.T, f *fixture){
		"configuration": testSaveWebhook,
		"progress":      testSaveProgress,
		"deliveries":    testListDeliveries,
		"dead letters":  testDeadLetters,
		"chat events":   testReadChatEvents,
		"several":       testSeveralWebhooks,
		"wanted events": testReadWantedEvents,
	}) {
		t.Run(name, func(t *testing.T) { test(t, f) })
	}
}

// webhook saves a webhook of a new instance.
func (f *fixture) webhook() webhook.Webhook {
	f.t.Helper()
	hook := webhook.Webhook{
		ID: newID(), InstanceID: f.instance(f.account().ID, 1).ID, First: true, URL: "https://example.com/hook", Active: true,
		CreatedAt: after(1), UpdatedAt: after(1),
	}
	f.check(f.Webhooks.SaveWebhook(f.ctx(), hook, &backlog.State{Status: backlog.StatusOK}))
	return hook
}

func refOf(hook webhook.Webhook) webhook.Ref {
	return webhook.Ref{InstanceID: hook.InstanceID, ID: hook.ID}
}

// saved reads the webhook of an instance with its state.
func (f *fixture) saved(instanceID string) webhook.Saved {
	f.t.Helper()
	all, err := f.Webhooks.Webhooks(f.ctx(), []string{instanceID})
	f.check(err)
	for _, saved := range all {
		if saved.Webhook.InstanceID == instanceID {
			return saved
		}
	}
	f.t.Fatal("the webhook is not there")
	return webhook.Saved{}
}

func (f *fixture) wantSaved(want webhook.Saved) {
	f.t.Helper()
	if got := f.saved(want.Webhook.InstanceID); !reflect.DeepEqual(got, want) {
		f.t.Errorf("got %+v, want %+v", got, want)
	}
}

func blocked(sequence int64) backlog.BlockedChat {
	return backlog.BlockedChat{
		Chat: "a", Sequence: sequence, Through: sequence + 5, EventID: "id", Kind: eventlog.KindMessageReceived,
		Failures: 2, Since: after(1), NextTry: after(9), Status: 500, Error: "it answered the status 500",
	}
}

func testSaveWebhook(t *testing.T, f *fixture) {
	t.Helper()
	hook := webhook.Webhook{ID: newID(), InstanceID: newID(), URL: "https://example.com"}
	wantKind(t, f.Webhooks.SaveWebhook(f.ctx(), hook, nil), gateway.NotFound, gateway.CodeInstanceNotFound)
	instance := f.instance(f.account().ID, 1)
	if _, found, err := f.Webhooks.FindWebhook(f.ctx(), webhook.First(instance.ID)); found || err != nil {
		t.Errorf("found %v, %v before there is one", found, err)
	}
	hook = webhook.Webhook{
		ID: newID(), InstanceID: instance.ID, First: true, URL: "https://example.com/1", Active: true, CreatedAt: after(1), UpdatedAt: after(1),
	}
	state := backlog.State{Status: backlog.StatusOK, Cursor: 7}
	f.check(f.Webhooks.SaveWebhook(f.ctx(), hook, &state))
	f.wantSaved(webhook.Saved{Webhook: hook, State: state})

	state = backlog.State{
		Status: backlog.StatusSuspended, Reason: backlog.ReasonGone, Cursor: 9, Failures: 3,
		FailingSince: after(2), NextTry: after(3), Attempts: 12,
	}
	progress := webhook.Progress{
		ID: hook.ID, InstanceID: instance.ID, Progress: backlog.Progress{State: state, Blocked: []backlog.BlockedChat{blocked(4)}},
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{progress}))
	hook.URL, hook.Secret, hook.Active, hook.UpdatedAt = "https://example.com/2", "whsec_", false, after(5)
	hook.PreviousSecret, hook.PreviousSecretUntil = "old", after(60)
	f.check(f.Webhooks.SaveWebhook(f.ctx(), hook, nil))
	f.wantSaved(webhook.Saved{Webhook: hook, State: state, Blocked: progress.Blocked})
	if got, found, err := f.Webhooks.FindWebhook(f.ctx(), webhook.First(instance.ID)); !found || err != nil || !reflect.DeepEqual(got, hook) {
		t.Errorf("found %+v (%v)", got, err)
	}

	f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, 1), f.event(instance, 2)))
	f.check(f.Webhooks.SaveWebhook(f.ctx(), hook, &backlog.State{Status: backlog.StatusOK, Cursor: 20}))
	f.wantSaved(webhook.Saved{
		Webhook: hook, Newest: 2,
		State: backlog.State{Status: backlog.StatusOK, Cursor: 20, Attempts: 12}, // they still count on
	})

	deleted, err := f.Webhooks.DeleteWebhook(f.ctx(), refOf(hook))
	if !deleted || err != nil {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	deleted, err = f.Webhooks.DeleteWebhook(f.ctx(), refOf(hook))
	if deleted || err != nil {
		t.Errorf("deleted %v, %v when it was gone", deleted, err)
	}
	// What comes too late is no error, and leaves nothing.
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{progress}))
	if _, found, err := f.Webhooks.FindWebhook(f.ctx(), webhook.First(instance.ID)); found || err != nil {
		t.Errorf("found %v, %v after it was deleted", found, err)
	}
}

func testSaveProgress(t *testing.T, f *fixture) {
	t.Helper()
	first, second := f.webhook(), f.webhook()
	gone := webhook.Progress{
		ID: newID(), InstanceID: newID(), Attempts: []webhook.Attempt{{Number: 1}},
		Progress: backlog.Progress{Blocked: []backlog.BlockedChat{blocked(1)}, DeadLetters: []backlog.DeadLetter{{Sequence: 1}}},
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{
		{ID: first.ID, InstanceID: first.InstanceID, Progress: backlog.Progress{
			State: backlog.State{Status: backlog.StatusOK, Cursor: 3}, Blocked: []backlog.BlockedChat{blocked(1)},
		}},
		gone,
		{ID: second.ID, InstanceID: second.InstanceID, Progress: backlog.Progress{State: backlog.State{Status: backlog.StatusBackoff, Cursor: 5}}},
	}))
	f.wantSaved(webhook.Saved{
		Webhook: first, State: backlog.State{Status: backlog.StatusOK, Cursor: 3},
		Blocked: []backlog.BlockedChat{blocked(1)},
	})
	f.wantSaved(webhook.Saved{Webhook: second, State: backlog.State{Status: backlog.StatusBackoff, Cursor: 5}})
	changed := blocked(2)
	changed.Failures = 0
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{{
		ID: first.ID, InstanceID: first.InstanceID,
		Progress: backlog.Progress{
			State: backlog.State{Status: backlog.StatusOK, Cursor: 4}, Blocked: []backlog.BlockedChat{changed},
		},
	}}))
	f.wantSaved(webhook.Saved{
		Webhook: first, State: backlog.State{Status: backlog.StatusOK, Cursor: 4}, Blocked: []backlog.BlockedChat{changed},
	})
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{{
		ID: first.ID, InstanceID: first.InstanceID,
		Progress: backlog.Progress{
			State: backlog.State{Status: backlog.StatusOK, Cursor: 4}, Unblocked: []gateway.JID{"a"},
		},
	}}))
	f.wantSaved(webhook.Saved{Webhook: first, State: backlog.State{Status: backlog.StatusOK, Cursor: 4}})
	// The instance takes everything with it.
	f.check(f.DeleteInstance(f.ctx(), first.InstanceID))
	if _, found, err := f.Webhooks.FindWebhook(f.ctx(), webhook.First(first.InstanceID)); found || err != nil {
		t.Errorf("found %v, %v after its instance was deleted", found, err)
	}
}

// deliveries reads one page and describes it.
func (f *fixture) deliveries(hook webhook.Webhook, page, limit int) (lines []string, total int) {
	f.t.Helper()
	got, err := f.Webhooks.ListDeliveries(f.ctx(), refOf(hook), gateway.PageRequest{Page: page, Limit: limit})
	f.check(err)
	for _, d := range got.Items {
		lines = append(lines, fmt.Sprintf("%s %d %d", d.State, d.Sequence, d.Status))
	}
	return lines, got.Total
}

func testListDeliveries(t *testing.T, f *fixture) {
	t.Helper()
	hook, other := f.webhook(), f.webhook()
	if lines, total := f.deliveries(hook, 1, 10); len(lines) != 0 || total != 0 {
		t.Errorf("before anything was tried there is %v of %d", lines, total)
	}
	attempt := webhook.Attempt{
		Number: 2, Sequence: 9, EventID: "e9", Kind: eventlog.KindPresence, Chat: "b", At: after(3),
		Duration: 1500 * time.Millisecond, Status: 200, Answer: "thanks",
	}
	letter := backlog.DeadLetter{
		Sequence: 4, EventID: "e4", Kind: eventlog.KindPresence, Chat: "c", Status: 400, Error: "refused", At: after(2),
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{
		{
			ID: hook.ID, InstanceID: hook.InstanceID,
			Progress: backlog.Progress{
				Blocked: []backlog.BlockedChat{blocked(7)}, DeadLetters: []backlog.DeadLetter{letter},
			},
			Attempts: []webhook.Attempt{{Number: 1, Sequence: 8, Status: 500, Error: "failed", At: after(3)}, attempt},
		},
		{ID: other.ID, InstanceID: other.InstanceID, Attempts: []webhook.Attempt{{Number: 1, Sequence: 1, Status: 200, At: after(1)}}},
	}))
	page, err := f.Webhooks.ListDeliveries(f.ctx(), refOf(hook), gateway.PageRequest{Page: 1, Limit: 10})
	f.check(err)
	want := []webhook.Delivery{
		{
			State: webhook.DeliveryBlocked, Sequence: 7, EventID: "id", Kind: eventlog.KindMessageReceived, Chat: "a", At: after(1),
			Status: 500, Error: "it answered the status 500", Failures: 2, NextTry: after(9),
		},
		{
			State: webhook.DeliveryDeadLetter, Sequence: 4, EventID: "e4", Kind: eventlog.KindPresence, Chat: "c", At: after(2),
			Status: 400, Error: "refused",
		},
		{
			State: webhook.DeliveryDone, Sequence: 9, EventID: "e9", Kind: eventlog.KindPresence, Chat: "b", At: after(3),
			Status: 200, Duration: 1500 * time.Millisecond, Answer: "thanks",
		},
		{State: webhook.DeliveryFailed, Sequence: 8, At: after(3), Status: 500, Error: "failed"},
	}
	if !reflect.DeepEqual(page.Items, want) || page.Total != 4 {
		t.Errorf("got %+v of %d, want %+v", page.Items, page.Total, want)
	}
	if lines, total := f.deliveries(hook, 2, 3); strings.Join(lines, ", ") != "failed 8 500" || total != 4 {
		t.Errorf("the second page has %v of %d", lines, total)
	}
	// A new attempt takes the place of the oldest.
	var attempts []webhook.Attempt
	for n := range int64(100) {
		attempts = append(attempts, webhook.Attempt{Number: n + 3, Sequence: n, Status: 200, At: after(4)})
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{{ID: hook.ID, InstanceID: hook.InstanceID, Attempts: attempts}}))
	lines, total := f.deliveries(hook, 1, 200)
	if total != 102 || lines[2] != "delivered 99 200" || lines[101] != "delivered 0 200" {
		t.Errorf("there are %d: %v", total, lines)
	}
}

func testDeadLetters(t *testing.T, f *fixture) {
	t.Helper()
	hook := f.webhook()
	var letters []backlog.DeadLetter
	for n := range int64(1_010) {
		letters = append(letters, backlog.DeadLetter{Sequence: n + 1, At: after(1)})
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{{ID: hook.ID, InstanceID: hook.InstanceID, Progress: backlog.Progress{DeadLetters: letters}}}))
	lines, total := f.deliveries(hook, 1_000, 1)
	if total != 1_000 || len(lines) != 1 || lines[0] != "dead_letter 11 0" {
		t.Errorf("%v is the oldest of %d that are kept", lines, total)
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{{
		ID: hook.ID, InstanceID: hook.InstanceID, Progress: backlog.Progress{RevivedAfter: new(int64(1_008)), DeadLetters: letters[1_009:]},
	}}))
	lines, total = f.deliveries(hook, 1, 2)
	if total != 999 || strings.Join(lines, ", ") != "dead_letter 1010 0, dead_letter 1008 0" {
		t.Errorf("after some were revived %v are the newest of %d", lines, total)
	}
	f.check(f.Webhooks.DeleteDeadLetter(f.ctx(), refOf(hook), 1_010))
	f.check(f.Webhooks.DeleteDeadLetter(f.ctx(), refOf(hook), 5_000))
	lines, total = f.deliveries(hook, 1, 1)
	if total != 998 || strings.Join(lines, ", ") != "dead_letter 1008 0" {
		t.Errorf("after one was removed %v is the newest of %d", lines, total)
	}
}

func testReadChatEvents(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	for n := range 6 {
		event := f.event(instance, n)
		event.Chat = gateway.JID(fmt.Sprint("chat", n%2))
		f.check(f.AppendEvents(f.ctx(), instance.ID, event))
		event = f.event(other, n)
		event.Chat = "chat0"
		f.check(f.AppendEvents(f.ctx(), other.ID, event))
	}
	for name, test := range cases.Sorted(map[string]struct {
		after, through int64
		limit          int
		want           string
	}{
		"all":     {0, 6, 10, "1 3 5"},
		"after":   {1, 6, 10, "3 5"},
		"through": {0, 4, 10, "1 3"},
		"limit":   {0, 6, 2, "1 3"},
		"none":    {5, 6, 2, ""},
	}) {
		events, err := f.ReadChatEvents(f.ctx(), instance.ID, "chat0", test.after, test.through, test.limit)
		f.check(err)
		var got []string
		for _, event := range events {
			got = append(got, fmt.Sprint(event.Sequence))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %v, want %s", name, got, test.want)
		}
	}
	if first, err := f.FirstEventSince(f.ctx(), instance.ID, start().AddDate(-1, 0, 0)); first != 1 || err != nil {
		t.Errorf("the first is %d (%v)", first, err)
	}
	if first, err := f.FirstEventSince(f.ctx(), instance.ID, start().AddDate(50, 0, 0)); first != 0 || err != nil {
		t.Errorf("%d is of the future (%v)", first, err)
	}
}
