package eventlog_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The search for the newest events goes on where it ended, until all were seen.
func TestNewestGoesOn(t *testing.T) {
	t.Parallel()
	log, _, _ := newLog(t, nobodyWaits)
	if events, older, err := log.Newest(t.Context(), instance, nil, 0, 10); len(events) != 0 || older != 0 || err != nil {
		t.Errorf("an empty log has %v, %d (%v)", events, older, err)
	}
	const all = 6_500
	var events []eventlog.Event
	for n := range all {
		var data eventlog.Data = eventlog.Presence{}
		if n == 0 || n == 4_999 || n == 5_000 { // the numbers 1, 5000 and 5001
			data = eventlog.WebhookTest{}
		}
		event, err := eventlog.NewEvent(instance, "", strconv.Itoa(n), time.UnixMilli(int64(n)), data)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	if err := log.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	tests := []eventlog.Kind{eventlog.KindWebhookTest}
	for name, c := range cases.Sorted(map[string]struct {
		kinds  []eventlog.Kind
		before int64
		limit  int
		want   []int64
		older  int64
	}{
		"of all kinds":         {nil, 0, 2, []int64{6_500, 6_499}, 6_499},
		"before a number":      {nil, 3, 5, []int64{2, 1}, 0},
		"just the first":       {nil, 3, 2, []int64{2, 1}, 0},
		"beyond the end":       {nil, 9_000, 1, []int64{6_500}, 6_500},
		"of one kind":          {tests, 0, 10, []int64{5_001, 5_000}, 3_501},
		"of one kind, limited": {tests, 0, 1, []int64{5_001}, 5_001},
		"none of the kind":     {tests, 3_501, 10, nil, 501},
		"the rest of the kind": {tests, 501, 10, []int64{1}, 0},
	}) {
		found, older, err := log.Newest(t.Context(), instance, c.kinds, c.before, c.limit)
		var got []int64
		for _, event := range found {
			got = append(got, event.Sequence)
		}
		if err != nil || !slices.Equal(got, c.want) || older != c.older {
			t.Errorf("%s: got %v and %d (%v), want %v and %d", name, got, older, err, c.want, c.older)
		}
	}
}
