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
		"inactive; activate it with recado webhook set": {State: client.StateInactive},
		"suspended since 2026-11-20 14:22:10: the endpoint answered 410 Gone; 5 events wait; try again with recado webhook resume": {
			State: client.StateSuspended, Since: &since, Reason: &gone, PendingEvents: 5,
		},
		"suspended: nothing was delivered for too long; try again with recado webhook resume": {
			State: client.StateSuspended, Reason: &unreachable,
		},
		"waiting until 2026-11-20 14:22:10: connection[2J refused; try again with recado webhook resume": {
			State: client.StateWaiting, Until: &since, Reason: &refused,
		},
	}) {
		var out bytes.Buffer
		err := printWebhook(terminal.Terminal{Out: &out}, client.Webhook{}, &state)
		if err != nil || !strings.Contains(out.String(), "delivery  "+want+"\n") {
			t.Errorf("it says %s (%v), want %s", out.String(), err, want)
		}
	}
}
