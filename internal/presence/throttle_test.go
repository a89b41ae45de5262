package presence

import (
	"strconv"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Whatever a contact does, it is reported so often and no more, and the last thing it shows is
// reported in the end.
func TestThrottle(t *testing.T) {
	t.Parallel()
	const instance = "shop"
	start := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	shows := func(contact int, presence gateway.Presence) gateway.ContactPresence {
		who := gateway.Party{LID: gateway.JID(strconv.Itoa(contact) + "@lid")}
		return gateway.ContactPresence{From: who, Chat: who, Presence: presence}
	}
	flood := func(limits *throttle, contacts, times int, over time.Duration) (reported int, last map[gateway.JID]gateway.Presence) {
		last = map[gateway.JID]gateway.Presence{}
		report := func(presence gateway.ContactPresence) {
			reported, last[presence.From.Key()] = reported+1, presence.Presence
		}
		for n := range times {
			now := start.Add(over * time.Duration(n) / time.Duration(times))
			for contact := range contacts {
				presence := shows(contact, []gateway.Presence{gateway.PresenceComposing, gateway.PresencePaused}[n%2])
				if limits.take(gateway.Tenure{}, instance, presence, now) {
					report(presence)
				}
			}
			for _, late := range limits.due(instance, now) {
				report(late.presence)
			}
		}
		return reported, last
	}
	for name, test := range cases.Sorted(map[string]struct {
		contacts, times int
		over            time.Duration
		want            int // reported at most
	}{
		"somebody types":          {1, contactBurst, time.Minute, contactBurst},
		"somebody toggles":        {1, 10_000, 10 * time.Second, contactBurst + 2},
		"somebody goes on":        {1, 1_000, 1000 * contactPause, 1_000},
		"many toggle":             {100, 100, 10 * time.Second, instanceBurst + 50},
		"more than remembered":    {3 * maxLines, 1, 0, instanceBurst},
		"one, at one point of it": {1, 1_000, 0, contactBurst},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var limits throttle
			reported, last := flood(&limits, test.contacts, test.times, test.over)
			if reported > test.want || reported < min(test.want, test.contacts*test.times)*9/10 {
				t.Errorf("%d are reported, want %d", reported, test.want)
			}
			if lines := len(limits.instance(instance).lines); lines > maxLines {
				t.Errorf("%d contacts are remembered", lines)
			}
			// Later the rest comes, and then nothing is remembered.
			for later := range 2 * maxLines {
				now := start.Add(test.over).Add(time.Duration(later+1) * pace)
				for _, late := range limits.due(instance, now) {
					last[late.presence.From.Key()] = late.presence.Presence
				}
			}
			if test.times > 1 {
				for contact, presence := range cases.Sorted(last) {
					if presence != gateway.PresencePaused {
						t.Errorf("%s is left at %s", contact, presence)
					}
				}
			}
			if want := min(test.contacts, maxLines); len(last) != want {
				t.Errorf("%d contacts are reported, want %d", len(last), want)
			}
			if left := limits.crowded(); len(left) > 0 {
				t.Errorf("%v are remembered", left)
			}
		})
	}
}
