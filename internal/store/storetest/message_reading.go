// What reading messages for people must do on both databases.

package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

func testNewestMessages(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	f.add(f.message(other, 9), true)
	var messages []gateway.Message // oldest first; the middle two at the same time
	for _, n := range []int{1, 2, 2, 3} {
		messages = append(messages, f.message(instance, n))
		f.add(messages[len(messages)-1], true)
	}
	for name, test := range map[string]struct {
		before gateway.Position
		limit  int
		want   []int
	}{
		"all":                {gateway.Position{}, 10, []int{3, 2, 1, 0}},
		"some":               {gateway.Position{}, 2, []int{3, 2}},
		"before a position":  {messages[2].Position(), 10, []int{1, 0}},
		"between":            {messages[3].Position(), 1, []int{2}},
		"before the first":   {messages[0].Position(), 10, nil},
		"before one that is": {gateway.Position{At: after(3), ID: "0"}, 10, []int{2, 1, 0}},
	} {
		heads, err := f.NewestMessages(f.ctx(), instance.ID, test.before, test.limit)
		f.check(err)
		if got := placesOf(messages, heads); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	heads, err := f.NewestMessages(f.ctx(), instance.ID, gateway.Position{}, 1)
	f.check(err)
	if len(heads) != 1 || heads[0].Chat != messages[3].Chat || !heads[0].FromMe || heads[0].Position() != messages[3].Position() {
		t.Errorf("the newest is %+v", heads)
	}

	ids := []string{messages[3].ID, messages[0].ID, newID(), messages[1].PlatformID}
	found, err := f.MessagesByID(f.ctx(), instance.ID, ids)
	f.check(err)
	if got := placesOf(messages, found); !slices.Equal(got, []int{0, 3}) || found[0].Text != messages[0].Text {
		t.Errorf("found %v by their ids: %+v", got, found)
	}
	if found, err := f.MessagesByID(f.ctx(), other.ID, ids); len(found) != 0 || err != nil {
		t.Errorf("another instance finds %v, %v", found, err)
	}
}

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
	for name, test := range map[string]struct {
		chat gateway.Party
		want bool
	}{
		"by LID":           {gateway.Party{LID: lid}, true},
		"by both":          {gateway.Party{JID: number, LID: lid}, true},
		"by the other one": {gateway.Party{JID: number}, false},
		"one that we sent": {gateway.Party{JID: "8@s.whatsapp.net"}, true},
		"of nobody":        {gateway.Party{JID: "9@s.whatsapp.net", LID: "99@lid"}, false},
	} {
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

func testNewestOfChat(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	number, lid := gateway.JID("55119@s.whatsapp.net"), gateway.JID("77@lid")
	var messages []gateway.Message // oldest first
	for n, chat := range []gateway.Party{{JID: number}, {LID: lid}, {JID: number, LID: lid}, {JID: "1-2@g.us"}, {JID: number}, {JID: "1-2@g.us"}} {
		message := f.message(instance, n)
		message.Chat = chat
		messages = append(messages, message)
		f.add(message, true)
	}
	for name, test := range map[string]struct {
		chat          gateway.Party
		before        gateway.Position
		window, limit int
		want          []int
		end           gateway.Position
	}{
		"both addresses":     {gateway.Party{JID: number, LID: lid}, gateway.Position{}, 10, 10, []int{4, 2, 1, 0}, gateway.Position{}},
		"by number":          {gateway.Party{JID: number}, gateway.Position{}, 10, 10, []int{4, 2, 0}, gateway.Position{}},
		"by LID":             {gateway.Party{LID: lid}, gateway.Position{}, 10, 10, []int{2, 1}, gateway.Position{}},
		"of a group":         {gateway.Party{JID: "1-2@g.us"}, gateway.Position{}, 10, 10, []int{5, 3}, gateway.Position{}},
		"of nobody":          {gateway.Party{JID: "9@s.whatsapp.net"}, gateway.Position{}, 10, 10, nil, gateway.Position{}},
		"limit":              {gateway.Party{JID: number}, gateway.Position{}, 10, 2, []int{4, 2}, gateway.Position{}},
		"before":             {gateway.Party{JID: number}, messages[4].Position(), 10, 10, []int{2, 0}, gateway.Position{}},
		"window":             {gateway.Party{JID: number}, gateway.Position{}, 3, 10, []int{4}, messages[3].Position()},
		"empty window":       {gateway.Party{LID: lid}, gateway.Position{}, 3, 10, nil, messages[3].Position()},
		"window to the end":  {gateway.Party{JID: number}, messages[3].Position(), 3, 10, []int{2, 0}, messages[0].Position()},
		"nothing any more":   {gateway.Party{JID: number}, messages[0].Position(), 3, 10, nil, gateway.Position{}},
		"window, then limit": {gateway.Party{JID: number}, gateway.Position{}, 4, 2, []int{4, 2}, gateway.Position{}},
	} {
		found, end, err := f.NewestOfChat(f.ctx(), instance.ID, test.chat, test.before, test.window, test.limit)
		f.check(err)
		if got := placesOf(messages, found); !slices.Equal(got, test.want) || end != test.end {
			t.Errorf("%s: got %v and %v, want %v and %v", name, got, end, test.want, test.end)
		}
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
	for name, test := range map[string]struct {
		from, until time.Time
		want        []gateway.Traffic
	}{
		"some":   {start(), after(300 * minute), []gateway.Traffic{{Hour: hour, Received: 2, Sent: 2}, {Hour: hour.Add(time.Hour), Sent: 1}}},
		"from":   {after(2), after(80 * minute), []gateway.Traffic{{Hour: hour, Received: 1, Sent: 1}}},
		"none":   {after(100 * minute), after(200 * minute), nil},
		"before": {start().Add(-time.Hour), start(), nil},
	} {
		got, err := f.CountTraffic(f.ctx(), instance.ID, test.from, test.until)
		f.check(err)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// placesOf says where messages are in a list, by their internal identifiers.
func placesOf(all, found []gateway.Message) []int {
	var places []int
	for _, message := range found {
		places = append(places, slices.IndexFunc(all, func(m gateway.Message) bool { return m.ID == message.ID }))
	}
	return places
}
