package remote

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The state of the delivery is explained with its cause and what to do.
func TestStanding(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 20, 14, 22, 10, 0, time.Local) //nolint:gosmopolitan // it is shown in the zone of the person
	gone, unreachable, refused := "gone", "unreachable", "connection\x1b[2J refused"
	for want, state := range cases.Sorted(map[string]client.DeliveryState{
		"flowing":                {State: client.StateFlowing},
		"flowing; 1 event waits": {State: client.StateFlowing, PendingEvents: 1},
		"inactive; activate it: recado webhooks set --active --instance I1 --webhook W1": {State: client.StateInactive},
		"suspended since 2026-11-20 14:22:10: the endpoint answered 410 Gone; 5 events wait; try again: recado webhooks resume --instance I1 --webhook W1": {
			State: client.StateSuspended, Since: &since, Reason: &gone, PendingEvents: 5,
		},
		"suspended: nothing was delivered for too long; try again: recado webhooks resume --instance I1 --webhook W1": {
			State: client.StateSuspended, Reason: &unreachable,
		},
		"waiting until 2026-11-20 14:22:10: connection[2J refused; try again: recado webhooks resume --instance I1 --webhook W1": {
			State: client.StateWaiting, Until: &since, Reason: &refused,
		},
	}) {
		var out bytes.Buffer
		err := printWebhook(terminal.Terminal{Out: &out}, client.Webhook{ID: "W1", InstanceID: "I1"}, &state)
		if err != nil || !strings.Contains(out.String(), "delivery  "+want+"\n") {
			t.Errorf("it says %s (%v), want %s", out.String(), err, want)
		}
	}
}

// A webhook is behind that waits, is suspended, or has had an event for long; not one that is meant to get nothing.
func TestBehind(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC)
	fresh, old := now.Add(-late), now.Add(-late-time.Second)
	for _, test := range []struct {
		state client.DeliveryState
		want  bool
	}{
		{client.DeliveryState{State: client.StateFlowing}, false},
		{client.DeliveryState{State: client.StateFlowing, OldestPendingAt: &fresh}, false},
		{client.DeliveryState{State: client.StateFlowing, OldestPendingAt: &old}, true},
		{client.DeliveryState{State: client.StateWaiting}, true},
		{client.DeliveryState{State: client.StateSuspended}, true},
		{client.DeliveryState{State: client.StateInactive, OldestPendingAt: &old}, false},
	} {
		if got := (WebhookState{Delivery: test.state}).Behind(now); got != test.want {
			t.Errorf("%+v: %t", test.state, got)
		}
	}
}

// What is shown of a webhook in an overview keeps the secrets of its URL.
func TestWebhookStateShowsNoSecret(t *testing.T) {
	t.Parallel()
	state := WebhookState{URL: "https://user:secret@crm.example.org:8443/hooks/secret?token=secret", Delivery: client.DeliveryState{State: client.StateFlowing}}
	if got := state.String(); got != "crm.example.org:8443: flowing" {
		t.Errorf("it is %s", got)
	}
}
