// What the census must count on both databases.

package storetest

import (
	"maps"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/store/census"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

func testCensus(t *testing.T, f *fixture) {
	t.Helper()
	none, err := f.Census.Count(f.ctx())
	f.check(err)
	if len(none.Instances) != 0 || len(none.Webhooks) != 0 || none.BlockedChats != 0 || none.DeadLetters != 0 {
		t.Errorf("an empty database has %+v", none)
	}
	begun := time.Now() // by which the store stamps events
	behind, done, asleep, waits := f.webhook(), f.webhook(), f.webhook(), f.webhook()
	asleep.Active = false
	f.check(f.Webhooks.SaveWebhook(f.ctx(), asleep, nil))
	for _, hook := range []webhook.Webhook{behind, done, asleep, waits} {
		instance, err := f.GetInstance(f.ctx(), hook.InstanceID)
		f.check(err)
		for n := range 4 {
			f.check(f.AppendEvents(f.ctx(), hook.InstanceID, f.event(instance, n+1)))
		}
	}
	f.check(f.Webhooks.SaveProgress(f.ctx(), []webhook.Progress{
		{ID: behind.ID, InstanceID: behind.InstanceID, Progress: backlog.Progress{
			State: backlog.State{Status: backlog.StatusOK, Cursor: 3}, Blocked: []backlog.BlockedChat{blocked(1)},
			DeadLetters: []backlog.DeadLetter{{Sequence: 1}, {Sequence: 2}},
		}},
		{ID: done.ID, InstanceID: done.InstanceID, Progress: backlog.Progress{State: backlog.State{Status: backlog.StatusOK, Cursor: 4}}},
		{ID: waits.ID, InstanceID: waits.InstanceID, Progress: backlog.Progress{State: backlog.State{Status: backlog.StatusBackoff, Cursor: 2}}},
	}))
	got, err := f.Census.Count(f.ctx())
	f.check(err)
	for state, group := range got.Webhooks {
		if group.Oldest.IsZero() == (group.Waiting > 0) || !group.Oldest.IsZero() && group.Oldest.Before(begun.Add(-time.Second)) {
			t.Errorf("the oldest event that waits for a webhook that is %s is of %s", state, group.Oldest)
		}
		group.Oldest = time.Time{}
		got.Webhooks[state] = group
	}
	want := map[string]census.Group{
		string(backlog.StatusOK): {Webhooks: 2, Waiting: 1}, string(backlog.StatusBackoff): {Webhooks: 1, Waiting: 2}, "inactive": {Webhooks: 1},
	}
	if !maps.Equal(got.Webhooks, want) {
		t.Errorf("the webhooks are %+v, want %+v", got.Webhooks, want)
	}
	if got.BlockedChats != 1 || got.DeadLetters != 2 || len(got.Instances) != 1 || got.Instances["created"] != 4 {
		t.Errorf("counted %+v", got)
	}
}
