package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// event makes an event of the instance that happened n seconds after the start.
// It is not appended.
func (f *fixture) event(instance gateway.Instance, n int) eventlog.Event {
	f.t.Helper()
	event, err := eventlog.NewEvent(instance.ID, "5511999990000@s.whatsapp.net", fmt.Sprint("source/", n), after(n),
		eventlog.WebhookTest{Message: fmt.Sprint("event ", n)})
	f.check(err)
	return event
}

// wantEvents checks which events the instance has, by the n that they were made
// with, and that their numbers have no gap.
func (f *fixture) wantEvents(instanceID string, want ...int) []eventlog.Event {
	f.t.Helper()
	events, err := f.ReadEvents(f.ctx(), instanceID, 0, 1_000)
	f.check(err)
	var got []int
	for i, event := range events {
		if i > 0 && event.Sequence != events[i-1].Sequence+1 {
			f.t.Errorf("%d comes after %d", event.Sequence, events[i-1].Sequence)
		}
		var n int
		if _, err := fmt.Sscanf(event.SourceKey, "source/%d", &n); err != nil {
			f.t.Error(err)
		}
		got = append(got, n)
	}
	if !reflect.DeepEqual(got, want) {
		f.t.Errorf("the events are %v, want %v", got, want)
	}
	return events
}

func testEvents(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, 1), f.event(instance, 2)))
	f.check(f.AppendEvents(f.ctx(), other.ID, f.event(other, 1)))
	f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, 2), f.event(instance, 1))) // happened before
	third := f.event(instance, 3)
	f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, 1), third))
	events := f.wantEvents(instance.ID, 1, 2, 3)
	third.Sequence = 3
	if !reflect.DeepEqual(events[2], third) {
		t.Errorf("got %+v, want %+v", events[2], third)
	}
	for after, want := range cases.Sorted(map[int64]int{0: 2, 1: 2, 2: 1, 3: 0}) {
		got, err := f.ReadEvents(f.ctx(), instance.ID, after, 2)
		f.check(err)
		if len(got) != want {
			t.Errorf("after %d there are %d events, want %d", after, len(got), want)
		}
	}
	one := len(events[0].Data)
	for _, c := range []struct {
		after         int64
		events, bytes int
		want          int
	}{{0, 10, 1, 1}, {0, 10, one, 1}, {0, 10, one + 1, 2}, {1, 10, 1 << 20, 2}, {0, 2, 1 << 20, 2}, {3, 10, 1, 0}} {
		got, err := f.ReadEventSlice(f.ctx(), instance.ID, c.after, c.events, c.bytes)
		f.check(err)
		if len(got) != c.want || len(got) > 0 && !reflect.DeepEqual(got[0], events[c.after]) {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
	if oldest, newest, err := f.EventBounds(f.ctx(), instance.ID); oldest != 1 || newest != 3 || err != nil {
		t.Errorf("they reach from %d to %d (%v)", oldest, newest, err)
	}
	if oldest, newest, err := f.EventBounds(f.ctx(), newID()); oldest != 0 || newest != 0 || err != nil {
		t.Errorf("those of an unknown instance reach from %d to %d (%v)", oldest, newest, err)
	}
}

// Without a source key the same is appended as often as it comes, also in one call.
func testEventsWithoutSource(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	one, two, three := f.event(instance, 1), f.event(instance, 2), f.event(instance, 3)
	one.SourceKey, two.SourceKey = "", ""
	f.check(f.AppendEvents(f.ctx(), instance.ID, one))
	f.check(f.AppendEvents(f.ctx(), instance.ID, two, three, f.event(instance, 3)))
	f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, 3)))
	events, err := f.ReadEvents(f.ctx(), instance.ID, 0, 10)
	f.check(err)
	var got []string
	for _, event := range events {
		got = append(got, event.ID)
	}
	if want := []string{one.ID, two.ID, three.ID}; !slices.Equal(got, want) {
		t.Errorf("the events are %v, want %v", got, want)
	}
}

func testNewestEvents(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	f.check(f.AppendEvents(f.ctx(), other.ID, f.event(other, 1)))
	for n := range 6 {
		event := f.event(instance, n)
		if n%2 == 0 {
			event.Kind = eventlog.KindPresence
		}
		f.check(f.AppendEvents(f.ctx(), instance.ID, event))
	}
	for name, test := range cases.Sorted(map[string]struct {
		kinds        []eventlog.Kind
		from, before int64
		limit        int
		want         []int64
	}{
		"all":                   {nil, 1, 7, 10, []int64{6, 5, 4, 3, 2, 1}},
		"some":                  {nil, 2, 6, 3, []int64{5, 4, 3}},
		"of a kind":             {[]eventlog.Kind{eventlog.KindPresence}, 1, 7, 10, []int64{5, 3, 1}},
		"of a kind, in bounds":  {[]eventlog.Kind{eventlog.KindPresence}, 2, 5, 10, []int64{3}},
		"of a kind, with limit": {[]eventlog.Kind{eventlog.KindPresence}, 1, 7, 2, []int64{5, 3}},
		"of two kinds":          {[]eventlog.Kind{eventlog.KindPresence, eventlog.KindWebhookTest}, 4, 7, 10, []int64{6, 5, 4}},
		"of another kind":       {[]eventlog.Kind{eventlog.KindCallReceived}, 1, 7, 10, nil},
	}) {
		events, err := f.NewestEvents(f.ctx(), instance.ID, test.kinds, test.from, test.before, test.limit)
		f.check(err)
		var got []int64
		for _, event := range events {
			got = append(got, event.Sequence)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// Calls and changes of the group are found by their chat, under each of its addresses, and by their time.
func testEventsOfChat(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	const jid, lid, other = gateway.JID("1@s.whatsapp.net"), gateway.JID("11@lid"), gateway.JID("2@s.whatsapp.net")
	for n, of := range []struct {
		chat gateway.JID
		kind eventlog.Kind
	}{
		{jid, eventlog.KindCallReceived},
		{jid, eventlog.KindMessageReceived},
		{lid, eventlog.KindCallEnded},
		{other, eventlog.KindCallEnded},
		{lid, eventlog.KindGroupUpdated},
		{jid, eventlog.KindCallReceived},
	} {
		event := f.event(instance, n)
		event.Chat, event.Kind = of.chat, of.kind
		f.check(f.AppendEvents(f.ctx(), instance.ID, event))
	}
	both := gateway.Party{JID: jid, LID: lid}
	for name, test := range cases.Sorted(map[string]struct {
		chat         gateway.Party
		since, until int
		limit        int
		want         []int64
	}{
		"all":                  {both, 0, 6, 10, []int64{6, 5, 3, 1}},
		"of a time":            {both, 2, 5, 10, []int64{5, 3}},
		"the last ones":        {both, 0, 6, 2, []int64{6, 5}},
		"known by one address": {gateway.Party{LID: lid}, 0, 6, 10, []int64{5, 3}},
		"another chat":         {gateway.Party{JID: other}, 0, 6, 10, []int64{4}},
		"no chat":              {gateway.Party{JID: "3@s.whatsapp.net"}, 0, 6, 10, nil},
	}) {
		events, err := f.EventsOfChat(f.ctx(), instance.ID, test.chat, after(test.since), after(test.until), test.limit)
		f.check(err)
		var got []int64
		for _, event := range events {
			got = append(got, event.Sequence)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// Events that are appended at the same time get each number once, and the bell rings for
// each of them after its commit and in order.
func testEventsAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	const writers, each = 8, 25
	account := f.account()
	instances := []gateway.Instance{f.instance(account.ID, 1), f.instance(account.ID, 2)}
	var mu sync.Mutex
	last := map[string]int64{}
	f.bell.Listen(func(events []eventlog.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, event := range events {
			if event.Sequence != last[event.InstanceID]+1 {
				t.Errorf("the bell rang for %d after %d", event.Sequence, last[event.InstanceID])
			}
			last[event.InstanceID] = event.Sequence
		}
	})
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for n := range each {
				instance := instances[(writer+n)%2]
				// Every second one happens twice.
				if err := f.AppendEvents(f.ctx(), instance.ID, f.event(instance, writer*each+n-n%2)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	total := int64(0)
	for _, instance := range instances {
		oldest, newest, err := f.EventBounds(f.ctx(), instance.ID)
		f.check(err)
		if oldest != 1 || newest != last[instance.ID] {
			t.Errorf("they reach from %d to %d, the bell rang last for %d", oldest, newest, last[instance.ID])
		}
		total += newest
	}
	// n and its even neighbour go to different instances, so each is new there.
	if total != writers*each {
		t.Errorf("%d events of %d are there", total, writers*each)
	}
}

func testDeleteEvents(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	for n := range 5 {
		f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, n)))
	}
	f.check(f.AppendEvents(f.ctx(), other.ID, f.event(other, 1)))
	ids, err := f.EventInstances(f.ctx())
	f.check(err)
	if len(ids) != 2 {
		t.Errorf("%v have events", ids)
	}
	if last, err := f.LastEventBefore(f.ctx(), instance.ID, 0, start(), 10); last != 0 || err != nil {
		t.Errorf("%d is old (%v)", last, err)
	}
	for limit, want := range cases.Sorted(map[int]int64{3: 4, 10: 5}) {
		if last, err := f.LastEventBefore(f.ctx(), instance.ID, 1, start().AddDate(10, 0, 0), limit); last != want || err != nil {
			t.Errorf("of %d the last is %d, want %d (%v)", limit, last, want, err)
		}
	}
	removed, err := f.DeleteEvents(f.ctx(), instance.ID, 2, f.event(instance, 7))
	f.check(err)
	if removed != 2 {
		t.Errorf("%d are gone, want 2", removed)
	}
	f.wantEvents(instance.ID, 2, 3, 4, 7)
	// The newest stays, so that the next number is known; also where one is
	// appended with that.
	removed, err = f.DeleteEvents(f.ctx(), instance.ID, 100, f.event(instance, 8))
	f.check(err)
	if removed != 3 {
		t.Errorf("%d are gone, want 3", removed)
	}
	f.check(f.AppendEvents(f.ctx(), instance.ID, f.event(instance, 9)))
	if events := f.wantEvents(instance.ID, 7, 8, 9); events[2].Sequence != 8 {
		t.Errorf("the newest number is %d, want 8", events[2].Sequence)
	}
	f.wantEvents(other.ID, 1)
}
