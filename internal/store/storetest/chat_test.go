// What chats must do on both databases.

package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

const (
	ana    = gateway.JID("5511999990000@s.whatsapp.net")
	anaLID = gateway.JID("77@lid")
	bia    = gateway.JID("5511888880000@s.whatsapp.net")
	family = gateway.JID("1-2@g.us")
)

// came makes a message that somebody wrote in a chat, n seconds after the start.
func (f *fixture) came(instance gateway.Instance, n int, chat gateway.Party, text string) gateway.Message {
	message := f.message(instance, n)
	message.Chat, message.Text, message.FromMe, message.Source = chat, text, false, gateway.SourcePeer
	message.Sender = gateway.Party{JID: chat.JID, LID: chat.LID, Name: chat.Name}
	message.Chat.Name, message.WireKey, message.Status = "", message.ID, gateway.MessageDelivered
	return message
}

// chat returns the chat of a party, which must be there.
func (f *fixture) chat(instance gateway.Instance, party gateway.Party) gateway.Chat {
	f.t.Helper()
	chat, found, err := f.Chats.FindChat(f.ctx(), instance.ID, party)
	f.check(err)
	if !found {
		f.t.Fatalf("there is no chat of %+v", party)
	}
	return chat
}

// read returns the places of the messages of a chat in a list.
func (f *fixture) read(all []gateway.Message, chat gateway.Chat, filter gateway.MessageFilter, page gateway.PageRequest) ([]int, int) {
	f.t.Helper()
	filter.ChatID = chat.ID
	found, err := f.Chats.ListMessages(f.ctx(), chat.InstanceID, filter, page)
	f.check(err)
	return placesOf(all, found.Items), found.Total
}

func allOf() gateway.PageRequest { return gateway.PageRequest{Page: 1, Limit: 100} }

func testChats(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	f.add(f.came(other, 9, gateway.Party{JID: ana, Name: "Elsewhere"}, "x"), true)
	first := f.came(instance, 1, gateway.Party{JID: ana, LID: anaLID, Name: "Ana"}, "one")
	f.add(first, true)
	second := first
	second.ID = newID()
	f.add(second, false) // the same delivery
	sent := f.message(instance, 2)
	sent.Chat = gateway.Party{LID: anaLID}
	f.check(f.accept(sent, nil))
	for name, party := range cases.Sorted(map[string]gateway.Party{
		"by number": {JID: ana}, "by LID": {LID: anaLID}, "by both": {JID: ana, LID: anaLID}, "by one of them": {JID: ana, LID: "99@lid"},
	}) {
		want := gateway.Chat{
			InstanceID: instance.ID, Party: gateway.Party{JID: ana, LID: anaLID, Name: "Ana"}, LastID: sent.ID, LastAt: after(2), Unread: 1,
		}
		got := f.chat(instance, party)
		if want.ID = got.ID; !reflect.DeepEqual(got, want) || got.ID == "" {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if chat, found, err := f.Chats.FindChat(f.ctx(), instance.ID, gateway.Party{JID: bia}); found || err != nil {
		t.Errorf("a chat without messages is %+v, %v", chat, err)
	}

	past := f.message(instance, -100)
	past.Chat, past.Source = gateway.Party{JID: ana, Name: "Old"}, gateway.SourceDevice
	f.check(f.AddHistory(f.ctx(), instance.ID, []gateway.Message{past}))
	if chat := f.chat(instance, gateway.Party{JID: ana}); chat.LastID != sent.ID || chat.Party.Name != "Ana" || chat.Unread != 1 {
		t.Errorf("after a history the chat is %+v", chat)
	}
	record := gateway.Idempotency{KeyID: newID(), Key: "one", InstanceID: instance.ID, MessageID: sent.ID, CreatedAt: after(3)}
	for n := range 2 {
		again := f.message(instance, 3+n)
		again.Chat, record.MessageID = gateway.Party{JID: ana}, again.ID
		if err := f.accept(again, &record); (err == nil) != (n == 0) {
			t.Errorf("request %d: %v", n, err)
		}
	}
	if chat := f.chat(instance, gateway.Party{JID: ana}); chat.LastAt != after(3) {
		t.Errorf("a message that was refused is the newest of %+v", chat)
	}
	f.check(f.DeleteInstance(f.ctx(), instance.ID))
	if chat, found, err := f.Chats.FindChat(f.ctx(), instance.ID, gateway.Party{JID: ana}); found || err != nil {
		t.Errorf("the chat of an instance that is gone is %+v, %v", chat, err)
	}
}

// Somebody who wrote under a number and under a LID has one chat as soon as it is known that
// both are one person, by whatever message that becomes known.
func testChatsAreJoined(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	for name, learn := range cases.Sorted(map[string]func(instance gateway.Instance, message gateway.Message){
		"by a message that comes": func(_ gateway.Instance, message gateway.Message) { f.add(message, true) },
		"by an acknowledgement": func(instance gateway.Instance, message gateway.Message) {
			both := message.Chat
			message.Chat, message.FromMe, message.Source, message.WireKey = gateway.Party{JID: ana}, true, gateway.SourceAPI, ""
			f.check(f.accept(message, nil))
			f.check(f.UpdateMessages(f.ctx(), instance.ID, []string{message.PlatformID},
				func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
					found[0].Chat, found[0].Status = both, gateway.MessageSent
					return found, nil, nil
				}))
		},
	}) {
		instance := f.instance(account.ID, 1)
		messages := []gateway.Message{
			f.came(instance, 1, gateway.Party{JID: ana, Name: "Ana"}, "first words"),
			f.came(instance, 2, gateway.Party{LID: anaLID}, "second words"),
			f.came(instance, 3, gateway.Party{JID: ana}, "third words"),
			f.came(instance, 4, gateway.Party{JID: ana, LID: anaLID}, "fourth words"),
			f.came(instance, 5, gateway.Party{LID: anaLID}, "fifth words"),
			f.came(instance, 6, gateway.Party{JID: ana}, "sixth words"),
		}
		f.add(messages[0], true)
		f.add(messages[1], true)
		f.check(f.Chats.CatchUp(f.ctx()))
		f.changeChat(instance, gateway.ChatUpdate{Chat: gateway.Party{JID: ana}, ChatChange: gateway.ChatChange{Disappearing: new(time.Hour)}})
		f.add(messages[2], true) // both chats are remembered
		f.disappearAfter(instance, gateway.Party{JID: ana}, time.Hour)
		f.disappearAfter(instance, gateway.Party{LID: anaLID}, 0)
		if one, other := f.chat(instance, gateway.Party{JID: ana}), f.chat(instance, gateway.Party{LID: anaLID}); one.ID == other.ID {
			t.Errorf("%s: two strangers have one chat", name)
		}
		learn(instance, messages[3])
		f.disappearAfter(instance, gateway.Party{JID: ana, LID: anaLID}, time.Hour)
		f.add(messages[4], true)
		f.add(messages[5], true)
		f.check(f.Chats.CatchUp(f.ctx()))
		chat := f.chat(instance, gateway.Party{JID: ana})
		if other := f.chat(instance, gateway.Party{LID: anaLID}); !reflect.DeepEqual(chat, other) {
			t.Errorf("%s: there are two chats, %+v and %+v", name, chat, other)
		}
		if chat.Party != (gateway.Party{JID: ana, LID: anaLID, Name: "Ana"}) || chat.LastID != messages[5].ID || chat.Unread < 5 {
			t.Errorf("%s: the chat is %+v", name, chat)
		}
		if got, total := f.read(messages, chat, gateway.MessageFilter{}, allOf()); !slices.Equal(got, []int{5, 4, 3, 2, 1, 0}) || total != 6 {
			t.Errorf("%s: the chat has %v of %d", name, got, total)
		}
		if got, _ := f.read(messages, chat, gateway.MessageFilter{Search: "words"}, allOf()); !slices.Equal(got, []int{5, 4, 3, 2, 1, 0}) {
			t.Errorf("%s: the search finds %v", name, got)
		}
		if page, err := f.Chats.ListChats(f.ctx(), instance.ID, gateway.ChatFilter{}, allOf()); err != nil || page.Total != 1 {
			t.Errorf("%s: there are %d chats, %v", name, page.Total, err)
		}
	}
}

func testListChats(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	f.add(f.came(other, 9, gateway.Party{JID: ana, Name: "Ana"}, "x"), true)
	f.add(f.came(instance, 1, gateway.Party{JID: ana, Name: "Ana Conceição"}, "x"), true)
	f.add(f.came(instance, 2, gateway.Party{JID: bia, Name: "BIA 100%"}, "x"), true)
	sent := f.message(instance, 3)
	sent.Chat = gateway.Party{JID: family, Name: "Família"}
	f.check(f.accept(sent, nil))
	f.add(f.came(instance, 4, gateway.Party{JID: ana, Name: "Ana Conceição"}, "x"), true)
	f.add(f.came(instance, 5, gateway.Party{JID: gateway.StatusChat}, "a status post is in no chat"), true)
	for name, test := range cases.Sorted(map[string]struct {
		filter gateway.ChatFilter
		page   gateway.PageRequest
		want   []gateway.JID
		total  int
	}{
		"all":             {gateway.ChatFilter{}, allOf(), []gateway.JID{ana, family, bia}, 3},
		"first page":      {gateway.ChatFilter{}, gateway.PageRequest{Page: 1, Limit: 2}, []gateway.JID{ana, family}, 3},
		"last page":       {gateway.ChatFilter{}, gateway.PageRequest{Page: 2, Limit: 2}, []gateway.JID{bia}, 3},
		"beyond":          {gateway.ChatFilter{}, gateway.PageRequest{Page: 3, Limit: 2}, nil, 3},
		"unread":          {gateway.ChatFilter{Unread: new(true)}, allOf(), []gateway.JID{ana, bia}, 2},
		"read":            {gateway.ChatFilter{Unread: new(false)}, allOf(), []gateway.JID{family}, 1},
		"by name":         {gateway.ChatFilter{Search: "conceicao"}, allOf(), []gateway.JID{ana}, 1},
		"in any case":     {gateway.ChatFilter{Search: "FAMÍLIA"}, allOf(), []gateway.JID{family}, 1},
		"by number":       {gateway.ChatFilter{Search: "+55 (11) 8888"}, allOf(), []gateway.JID{bia}, 1},
		"in part":         {gateway.ChatFilter{Search: "i"}, gateway.PageRequest{Page: 2, Limit: 2}, []gateway.JID{bia}, 3},
		"as it stands":    {gateway.ChatFilter{Search: "%"}, allOf(), []gateway.JID{bia}, 1},
		"search, unread":  {gateway.ChatFilter{Search: "i", Unread: new(true)}, allOf(), []gateway.JID{ana, bia}, 2},
		"nothing":         {gateway.ChatFilter{Search: "' OR 1=1 --"}, allOf(), nil, 0},
		"search, no page": {gateway.ChatFilter{Search: "i"}, gateway.PageRequest{Page: 9, Limit: 2}, nil, 3},
	}) {
		page, err := f.Chats.ListChats(f.ctx(), instance.ID, test.filter, test.page)
		f.check(err)
		var got []gateway.JID
		for _, chat := range page.Items {
			got = append(got, chat.Party.JID)
		}
		if !slices.Equal(got, test.want) || page.Total != test.total {
			t.Errorf("%s: got %v of %d, want %v of %d", name, got, page.Total, test.want, test.total)
		}
	}
}

// changeChat changes a chat, and returns what is different then.
func (f *fixture) changeChat(instance gateway.Instance, update gateway.ChatUpdate) (changed []gateway.ChatAspect) {
	f.t.Helper()
	f.check(f.UpdateChat(f.ctx(), instance.ID, update, func(chat gateway.Chat, aspects []gateway.ChatAspect) (eventlog.Event, error) {
		changed = aspects
		return eventlog.NewEvent(instance.ID, chat.Party.Key(), "", after(0), eventlog.NewChatUpdated(chat, aspects))
	}))
	return changed
}

// markRead notes that messages were read, up to one.
func (f *fixture) markRead(message gateway.Message) {
	f.t.Helper()
	f.changeChat(gateway.Instance{ID: message.InstanceID}, gateway.ChatUpdate{Chat: message.Chat, ReadIDs: []string{message.PlatformID}})
}

// disappearAfter fails the test unless a message to a chat disappears after that time, whichever
// of its addresses it is sent to.
func (f *fixture) disappearAfter(instance gateway.Instance, party gateway.Party, want time.Duration) {
	f.t.Helper()
	for _, one := range []gateway.Party{party, {JID: party.JID}, {LID: party.LID}} {
		if one == (gateway.Party{}) && party != one {
			continue // the address that is not known
		}
		after, err := f.Chats.DisappearsAfter(f.ctx(), instance.ID, one)
		f.check(err)
		if after != want {
			f.t.Errorf("messages to %+v disappear after %s, not %s", one, after, want)
		}
	}
}

// How a chat is arranged is kept, and what is different is told once.
func testArrangedChats(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	party := gateway.Party{JID: ana, LID: anaLID}
	var messages []gateway.Message
	for n := range 3 {
		messages = append(messages, f.came(instance, n, party, "x"))
		f.add(messages[n], true)
	}
	noon := after(1000)
	for _, step := range []struct {
		name   string
		change gateway.ChatUpdate
		want   []gateway.ChatAspect
		chat   gateway.Arrangement
		unread int
	}{
		{"archived", gateway.ChatUpdate{ChatChange: gateway.ChatChange{Archived: new(true)}}, []gateway.ChatAspect{gateway.ChatArchived}, gateway.Arrangement{Archived: true}, 3},
		{"archived again", gateway.ChatUpdate{ChatChange: gateway.ChatChange{Archived: new(true)}}, nil, gateway.Arrangement{Archived: true}, 3},
		{
			"several",
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{Archived: new(false), Pinned: new(true), MutedUntil: &noon}},
			[]gateway.ChatAspect{gateway.ChatArchived, gateway.ChatPinned, gateway.ChatMuted},
			gateway.Arrangement{Pinned: true, MutedUntil: noon},
			3,
		},
		{
			"for ever",
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{MutedUntil: new(gateway.MutedForever()), Disappearing: new(24 * time.Hour)}},
			[]gateway.ChatAspect{gateway.ChatMuted, gateway.ChatDisappearing},
			gateway.Arrangement{Pinned: true, MutedUntil: gateway.MutedForever(), Disappearing: 24 * time.Hour},
			3,
		},
		{
			"no longer",
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{MutedUntil: &time.Time{}, Pinned: new(false), Disappearing: new(time.Duration(0))}},
			[]gateway.ChatAspect{gateway.ChatPinned, gateway.ChatMuted, gateway.ChatDisappearing},
			gateway.Arrangement{},
			3,
		},
		{"one is read elsewhere", gateway.ChatUpdate{ReadIDs: []string{messages[0].PlatformID, "unknown"}}, []gateway.ChatAspect{gateway.ChatRead}, gateway.Arrangement{}, 2},
		{"read until a time", gateway.ChatUpdate{ChatChange: gateway.ChatChange{Read: new(true)}, Through: messages[1].SentAt}, []gateway.ChatAspect{gateway.ChatRead}, gateway.Arrangement{}, 1},
		{"marked as unread", gateway.ChatUpdate{ChatChange: gateway.ChatChange{Read: new(false)}}, []gateway.ChatAspect{gateway.ChatRead}, gateway.Arrangement{MarkedUnread: true}, 1},
		{"an old one is read", gateway.ChatUpdate{ReadIDs: []string{messages[0].PlatformID}}, nil, gateway.Arrangement{MarkedUnread: true}, 1},
		{"the last is read", gateway.ChatUpdate{ReadIDs: []string{messages[2].PlatformID}}, []gateway.ChatAspect{gateway.ChatRead}, gateway.Arrangement{}, 0},
	} {
		step.change.Chat = gateway.Party{LID: anaLID}
		changed := f.changeChat(instance, step.change)
		chat := f.chat(instance, party)
		if !slices.Equal(changed, step.want) || chat.Arrangement != step.chat || chat.Unread != step.unread {
			t.Errorf("%s: changed %v to %+v with %d unread", step.name, changed, chat.Arrangement, chat.Unread)
		}
		f.disappearAfter(instance, party, step.chat.Disappearing)
	}

	f.disappearAfter(instance, gateway.Party{}, 0)
	f.disappearAfter(instance, gateway.Party{JID: bia}, 0)

	// A chat without a message is remembered, and not shown before there is one.
	f.check(f.ArrangeChats(f.ctx(), instance.ID, []gateway.ChatUpdate{
		{Chat: gateway.Party{JID: bia}, ChatChange: gateway.ChatChange{Archived: new(true), Disappearing: new(time.Hour)}},
		{Chat: gateway.Party{JID: family}, ReadIDs: []string{"nothing"}},
	}))
	f.disappearAfter(instance, gateway.Party{JID: bia}, time.Hour)
	for _, archived := range []bool{true, false} {
		page, err := f.Chats.ListChats(f.ctx(), instance.ID, gateway.ChatFilter{Archived: &archived}, allOf())
		f.check(err)
		if page.Total != map[bool]int{true: 0, false: 1}[archived] {
			t.Errorf("%d chats are archived: %t", page.Total, archived)
		}
	}
	f.add(f.came(instance, 5, gateway.Party{JID: bia}, "x"), true)
	if chat := f.chat(instance, gateway.Party{JID: bia}); !chat.Archived {
		t.Errorf("with a message the chat is %+v", chat)
	}

	// A chat is gone with its last message, and begins anew.
	until, err := f.Chats.ChatMessagesUntil(f.ctx(), f.chat(instance, party).ID, messages[1].SentAt, true, 10)
	f.check(err)
	if !slices.Equal(until, []string{messages[0].ID, messages[1].ID}) {
		t.Errorf("until the second there are %v", until)
	}
	gone := func() (gone bool) {
		f.check(f.RemoveChat(f.ctx(), instance.ID, party, func(chat gateway.Chat, changed []gateway.ChatAspect) (eventlog.Event, error) {
			gone = slices.Equal(changed, []gateway.ChatAspect{gateway.ChatDeleted})
			return eventlog.NewEvent(instance.ID, chat.Party.Key(), "", after(0), eventlog.NewChatUpdated(chat, changed))
		}))
		return gone
	}
	f.check(f.DeleteMessages(f.ctx(), instance.ID, until))
	if gone() {
		t.Error("a chat with a message was removed")
	}
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{messages[2].ID}))
	if !gone() || gone() {
		t.Error("a chat without a message was not removed once")
	}
	f.add(f.came(instance, 6, party, "again"), true)
	if chat := f.chat(instance, party); chat.Unread != 1 || chat.Arrangement != (gateway.Arrangement{}) {
		t.Errorf("anew the chat is %+v", chat)
	}
}

func testUnread(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	party := gateway.Party{JID: ana}
	var messages []gateway.Message
	for n := range 6 {
		messages = append(messages, f.came(instance, n, party, "x"))
		if n == 2 {
			messages[n].FromMe, messages[n].Source, messages[n].WireKey = true, gateway.SourceAPI, ""
		}
		f.add(messages[n], true)
	}
	unread := func(step string, want int) {
		t.Helper()
		if got := f.chat(instance, party).Unread; got != want {
			t.Errorf("%s: %d messages are unread, want %d", step, got, want)
		}
	}
	unread("all", 5)
	f.markRead(messages[1])
	unread("two are read", 3)
	f.markRead(messages[0])
	unread("an older one is read", 3)
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{messages[0].ID, messages[3].ID}))
	unread("one of each was removed", 2)
	f.markRead(messages[5])
	unread("all are read", 0)
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{messages[4].ID, messages[5].ID}))
	unread("those that were read are gone", 0)
	f.add(f.came(instance, 10, party, "x"), true)
	unread("one more", 1)
	answer := f.came(instance, 11, party, "x")
	answer.FromMe, answer.Source = true, gateway.SourceDevice
	f.add(answer, true)
	unread("somebody answered on the phone", 0)
}

func testChatMessages(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	var messages []gateway.Message // oldest first; two at the same time
	for n, at := range []int{1, 2, 2, 3, 4, 5} {
		message := f.came(instance, at, gateway.Party{JID: ana}, "x")
		message.Type = []gateway.MessageType{gateway.TypeText, gateway.TypeImage, gateway.TypeVideo}[n%3]
		messages = append(messages, message)
		f.add(message, true)
		f.add(f.came(instance, at, gateway.Party{JID: bia}, "x"), true)
	}
	page := func(number, limit int) gateway.PageRequest { return gateway.PageRequest{Page: number, Limit: limit} }
	for name, test := range cases.Sorted(map[string]struct {
		filter gateway.MessageFilter
		page   gateway.PageRequest
		want   []int
		total  int
	}{
		"all":           {gateway.MessageFilter{}, allOf(), []int{5, 4, 3, 2, 1, 0}, 6},
		"oldest first":  {gateway.MessageFilter{OldestFirst: true}, allOf(), []int{0, 1, 2, 3, 4, 5}, 6},
		"second page":   {gateway.MessageFilter{}, page(2, 4), []int{1, 0}, 6},
		"before":        {gateway.MessageFilter{Before: messages[2].Position()}, allOf(), []int{1, 0}, 2},
		"after":         {gateway.MessageFilter{After: messages[1].Position()}, allOf(), []int{5, 4, 3, 2}, 4},
		"between":       {gateway.MessageFilter{After: messages[0].Position(), Before: messages[4].Position()}, page(1, 2), []int{3, 2}, 3},
		"before a time": {gateway.MessageFilter{Before: gateway.Position{At: after(2)}}, allOf(), []int{0}, 1},
		"types":         {gateway.MessageFilter{Types: []gateway.MessageType{gateway.TypeImage, gateway.TypeVideo}}, allOf(), []int{5, 4, 2, 1}, 4},
		"one type":      {gateway.MessageFilter{Types: []gateway.MessageType{gateway.TypeText}, Before: messages[3].Position()}, allOf(), []int{0}, 1},
		"none":          {gateway.MessageFilter{Before: messages[0].Position()}, allOf(), nil, 0},
	}) {
		if got, total := f.read(messages, f.chat(instance, gateway.Party{JID: ana}), test.filter, test.page); !slices.Equal(got, test.want) || total != test.total {
			t.Errorf("%s: got %v of %d, want %v of %d", name, got, total, test.want, test.total)
		}
	}
	f.check(f.UpdateMessages(f.ctx(), instance.ID, []string{messages[1].ID, messages[4].ID}, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		for n := range found {
			found[n].Starred = true
		}
		return found, nil, nil
	}))
	messages[1].Starred, messages[4].Starred = true, true
	for _, starred := range []bool{true, false} {
		want := []int{5, 3, 2, 0}
		if starred {
			want = []int{4, 1}
		}
		filter := gateway.MessageFilter{Starred: &starred}
		if got, total := f.read(messages, f.chat(instance, gateway.Party{JID: ana}), filter, allOf()); !slices.Equal(got, want) || total != len(want) {
			t.Errorf("starred %v: got %v of %d, want %v", starred, got, total, want)
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
