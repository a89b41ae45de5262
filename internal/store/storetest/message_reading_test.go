// What reading messages for people must do on both databases.

package storetest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Only what the platform has taken, or brought, makes a chat known.
func testChatKnown(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	number, lid := gateway.JID("55119@s.whatsapp.net"), gateway.JID("77@lid")
	known := func(chat gateway.Party) bool {
		t.Helper()
		known, err := f.ChatKnown(f.ctx(), instance.ID, chat)
		f.check(err)
		return known
	}
	keep := func(of gateway.Instance, chat gateway.Party, fromMe bool, status gateway.MessageStatus) {
		message := f.message(of, 1)
		message.Chat, message.FromMe, message.Status = chat, fromMe, status
		f.add(message, true)
	}
	keep(other, gateway.Party{JID: number, LID: lid}, false, gateway.MessageDelivered)
	keep(instance, gateway.Party{JID: number, LID: lid}, true, gateway.MessageFailed)
	keep(instance, gateway.Party{JID: number, LID: lid}, true, gateway.MessagePending)
	keep(instance, gateway.Party{JID: "8@s.whatsapp.net"}, true, gateway.MessageSent)
	if known(gateway.Party{JID: number, LID: lid}) {
		t.Error("a chat is known by what failed, by what is on its way, or to another instance")
	}
	keep(instance, gateway.Party{LID: lid}, false, gateway.MessageDelivered)
	for name, test := range cases.Sorted(map[string]struct {
		chat gateway.Party
		want bool
	}{
		"by LID":           {gateway.Party{LID: lid}, true},
		"by both":          {gateway.Party{JID: number, LID: lid}, true},
		"by the other one": {gateway.Party{JID: number}, false},
		"one that we sent": {gateway.Party{JID: "8@s.whatsapp.net"}, true},
		"of nobody":        {gateway.Party{JID: "9@s.whatsapp.net", LID: "99@lid"}, false},
	}) {
		if got := known(test.chat); got != test.want {
			t.Errorf("%s: known is %v", name, got)
		}
	}
}

func testListCorrespondence(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	ana, bia := gateway.Party{JID: "1@s.whatsapp.net", LID: "11@lid"}, gateway.Party{LID: "22@lid"}
	keep := func(of gateway.Instance, n int, chat gateway.Party, source gateway.Source, status gateway.MessageStatus) {
		message := f.message(of, n)
		message.Chat, message.Source, message.Status = chat, source, status
		message.FromMe, message.SentAt = source != gateway.SourcePeer, after(n)
		if source != gateway.SourceAPI {
			message.WireKey = newID()
		}
		f.add(message, true)
	}
	keep(instance, 1, ana, gateway.SourceAPI, gateway.MessageSent) // too old
	keep(instance, 10, ana, gateway.SourcePeer, gateway.MessageDelivered)
	keep(instance, 12, ana, gateway.SourceAPI, gateway.MessageRead)
	keep(instance, 14, ana, gateway.SourceDevice, gateway.MessageSent)
	keep(instance, 16, bia, gateway.SourceAPI, gateway.MessageFailed)
	keep(instance, 18, bia, gateway.SourcePeer, gateway.MessageDelivered)
	keep(instance, 20, gateway.Party{JID: "1-2@g.us"}, gateway.SourceAPI, gateway.MessageSent)
	keep(instance, 21, gateway.Party{JID: gateway.StatusChat}, gateway.SourceAPI, gateway.MessageSent)
	keep(other, 20, ana, gateway.SourceAPI, gateway.MessageSent)
	got, err := f.ListCorrespondence(f.ctx(), instance.ID, after(10))
	f.check(err)
	slices.SortFunc(got, func(a, b gateway.Correspondence) int { return b.Written - a.Written })
	want := []gateway.Correspondence{
		{Chat: ana, Written: 2, FirstWritten: after(12), LastReceived: after(10)},
		{Chat: bia, LastReceived: after(18)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func testCountTraffic(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	const minute = 60 // the start is at 14:22
	for _, message := range []struct {
		of     gateway.Instance
		at     int
		status gateway.MessageStatus
		source gateway.Source
		key    string
	}{
		{instance, 0, gateway.MessageSent, gateway.SourceAPI, ""},
		{instance, 1, gateway.MessageDelivered, gateway.SourcePeer, "in 1"},
		{instance, 2, gateway.MessageDelivered, gateway.SourcePeer, "in 2"},
		{instance, 3, gateway.MessageSent, gateway.SourceDevice, "phone"},
		{instance, 4, gateway.MessagePending, gateway.SourceAPI, ""},
		{instance, 5, gateway.MessageFailed, gateway.SourceAPI, ""},
		{instance, 6, gateway.MessageRead, gateway.SourcePeer, ""}, // of the history
		{instance, 80 * minute, gateway.MessageRead, gateway.SourceAPI, ""},
		{instance, 300 * minute, gateway.MessageRead, gateway.SourceAPI, ""},
		{other, 0, gateway.MessageSent, gateway.SourceAPI, ""},
	} {
		m := f.message(message.of, message.at)
		m.Status, m.Source, m.WireKey, m.FromMe = message.status, message.source, message.key, message.source != gateway.SourcePeer
		f.add(m, true)
	}
	hour := start().Truncate(time.Hour)
	for name, test := range cases.Sorted(map[string]struct {
		from, until time.Time
		want        []gateway.Traffic
	}{
		"some":   {start(), after(300 * minute), []gateway.Traffic{{Hour: hour, Received: 2, Sent: 2}, {Hour: hour.Add(time.Hour), Sent: 1}}},
		"from":   {after(2), after(80 * minute), []gateway.Traffic{{Hour: hour, Received: 1, Sent: 1}}},
		"none":   {after(100 * minute), after(200 * minute), nil},
		"before": {start().Add(-time.Hour), start(), nil},
	}) {
		got, err := f.CountTraffic(f.ctx(), instance.ID, test.from, test.until)
		f.check(err)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func testDueReads(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	wantDue := func(when string, limit int, want ...string) {
		t.Helper()
		due, err := f.DueReads(f.ctx(), instance.ID, limit)
		f.check(err)
		var got []string
		for _, message := range due {
			got = append(got, message.PlatformID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q are due, want %q", when, got, want)
		}
	}
	var messages []gateway.Message
	for n := range 4 {
		message := f.message(instance, n+1)
		message.WireKey, message.ReadDue = "in "+strconv.Itoa(n), n != 1
		f.add(message, true)
		messages = append(messages, message)
	}
	elsewhere := f.message(other, 9)
	elsewhere.ReadDue = true
	f.add(elsewhere, true)
	first, third, fourth := messages[0], messages[2], messages[3]
	wantDue("all", 10, first.PlatformID, third.PlatformID, fourth.PlatformID)
	wantDue("two at most", 2, first.PlatformID, third.PlatformID)
	f.check(f.EndDueReads(f.ctx(), instance.ID, []string{first.ID, elsewhere.ID, newID()}))
	again := first
	again.ID = newID()
	f.add(again, false)
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{third.ID}))
	wantDue("one has ended, came again, and one is deleted", 10, fourth.PlatformID)
	if due, err := f.DueReads(f.ctx(), other.ID, 10); err != nil || len(due) != 1 {
		t.Errorf("of the other instance %+v are due (%v)", due, err)
	}
	f.check(f.DeleteInstance(f.ctx(), instance.ID))
	wantDue("the instance is deleted", 10)
}
