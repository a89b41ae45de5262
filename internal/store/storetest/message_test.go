// What messages must do on both databases.

package storetest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func testAddMessage(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	message := f.message(instance, 1)
	message.FromMe, message.Source, message.Status = false, gateway.SourcePeer, gateway.MessageDelivered
	message.Chat = gateway.Party{JID: "1-2@g.us", Name: "Group"}
	message.Sender = gateway.Party{JID: "55119@s.whatsapp.net", LID: "77@lid", Name: "Ana"}
	message.Text, message.QuotedID, message.WireKey = "olá\n\U0001F44B", "3EB0AA", "key"
	message.Payload, message.ClientData = []byte{0, 1, 0xff}, "{\"order\": 17}\n"
	f.add(message, true)
	if got := f.get(instance, message.ID); !reflect.DeepEqual(got, message) {
		t.Errorf("got %+v, want %+v", got, message)
	}

	again := message
	again.ID, again.Text = newID(), "the same delivery"
	f.add(again, false)
	if got := f.get(instance, message.PlatformID); got.Text != message.Text {
		t.Errorf("the second delivery changed the message to %q", got.Text)
	}

	namesake := message
	namesake.ID, namesake.WireKey = newID(), "the same identifier in another chat"
	f.add(namesake, true)
	namesake.ID = newID()
	f.add(namesake, false)

	elsewhere := f.message(other, 1)
	elsewhere.PlatformID, elsewhere.WireKey = message.PlatformID, message.WireKey
	f.add(elsewhere, true)
	f.add(f.message(instance, 2), true) // without a wire key
	f.add(f.message(instance, 2), true)

	_, err := f.AddMessage(f.ctx(), f.message(gateway.Instance{ID: newID()}, 1))
	wantKind(t, err, gateway.NotFound, gateway.CodeInstanceNotFound)
}

// A message that is not new has no events, even if they are.
func testAddMessageWithEvents(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	for n := range 3 {
		message := f.message(instance, 1)
		message.PlatformID, message.WireKey = "3EB0AA", "key"
		added, err := f.AddMessage(f.ctx(), message, f.event(instance, 10*n), f.event(instance, 10*n+1))
		f.check(err)
		if first := n == 0; added != first {
			t.Errorf("message %d: added is %v", n, added)
		}
	}
	f.add(f.message(instance, 2), true)
	f.wantEvents(instance.ID, 0, 1)
}

func (f *fixture) add(message gateway.Message, want bool) {
	f.t.Helper()
	added, err := f.AddMessage(f.ctx(), message)
	f.check(err)
	if added != want {
		f.t.Errorf("added is %v, want %v", added, want)
	}
}

func testAcceptMessage(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	plain := f.message(instance, 1)
	plain.Payload = nil
	f.check(f.accept(plain, nil))
	if got := f.get(instance, plain.ID); !reflect.DeepEqual(got, plain) {
		t.Errorf("got %+v, want %+v", got, plain)
	}

	first, second := f.message(instance, 2), f.message(instance, 3)
	record := gateway.Idempotency{
		KeyID: newID(), Key: "order 1", RequestHash: []byte("hash"),
		InstanceID: instance.ID, MessageID: first.ID, CreatedAt: after(2),
	}
	f.check(f.accept(first, &record))
	wantKind(t, f.accept(second, &record), gateway.Conflict, gateway.CodeIdempotencyConflict)
	f.get(instance, first.ID)
	if found, err := f.FindMessages(f.ctx(), instance.ID, second.ID); len(found) != 0 || err != nil {
		t.Errorf("the refused message is there: %v, %v", found, err)
	}

	orphan := f.message(gateway.Instance{ID: newID()}, 1)
	wantKind(t, f.accept(orphan, nil), gateway.NotFound, gateway.CodeInstanceNotFound)
	record.Key = "order 2"
	wantKind(t, f.accept(orphan, &record), gateway.NotFound, gateway.CodeInstanceNotFound)
	if _, found, err := f.FindIdempotency(f.ctx(), record.KeyID, record.Key); found || err != nil {
		t.Errorf("a record without its message is there: %v, %v", found, err)
	}
}

func testFindMessages(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	var want []string
	for n := range 12 { // in twelve chats, the youngest first
		message := f.message(instance, 20-n)
		message.PlatformID = "3EB0SAME"
		f.add(message, true)
		want = append(want, message.ID)
	}
	slices.Reverse(want)
	found, err := f.FindMessages(f.ctx(), instance.ID, "3EB0SAME")
	f.check(err)
	var got []string
	for _, message := range found {
		got = append(got, message.ID)
	}
	if !slices.Equal(got, want[:10]) {
		t.Errorf("found %v, want the ten oldest of %v", got, want)
	}
	for _, id := range []string{"3EB0SAME", want[0]} {
		if found, err := f.FindMessages(f.ctx(), other.ID, id); len(found) != 0 || err != nil {
			t.Errorf("another instance finds %v, %v", found, err)
		}
	}
}

func testListMessages(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	var messages []gateway.Message
	for n, with := range []gateway.Party{{JID: ana, LID: anaLID, Name: "Ana"}, {JID: bia}, {JID: family}, {JID: ana}, {JID: gateway.StatusChat}} {
		message := f.came(instance, n, with, "Olá, você 100%")
		message.SentAt = after(10 - n) // in another order than they came in
		messages = append(messages, message)
	}
	messages[1].Type, messages[2].FromMe, messages[3].Text = gateway.TypeImage, true, "voce\\"
	messages[1].PlatformID, messages[3].PlatformID = "3EB0SAME", "3EB0SAME"
	for _, message := range messages {
		f.add(message, true)
	}
	f.add(f.came(other, 9, gateway.Party{JID: ana}, "Olá, você"), true)
	inChat, posts := f.chat(instance, gateway.Party{JID: ana}).ID, f.chat(instance, gateway.Party{JID: gateway.StatusChat}).ID
	for name, test := range cases.Sorted(map[string]struct {
		filter gateway.MessageFilter
		page   gateway.PageRequest
		want   []int
		total  int
	}{
		"all":                  {gateway.MessageFilter{}, allOf(), []int{3, 2, 1, 0}, 4},
		"oldest first":         {gateway.MessageFilter{OldestFirst: true}, allOf(), []int{0, 1, 2, 3}, 4},
		"second page":          {gateway.MessageFilter{CountAll: true}, gateway.PageRequest{Page: 2, Limit: 3}, []int{0}, 4},
		"first page":           {gateway.MessageFilter{CountAll: true}, gateway.PageRequest{Page: 1, Limit: 3}, []int{3, 2, 1}, 4},
		"past the end":         {gateway.MessageFilter{}, gateway.PageRequest{Page: 3, Limit: 3}, nil, 4},
		"of a chat":            {gateway.MessageFilter{ChatID: inChat}, allOf(), []int{3, 0}, 2},
		"status posts":         {gateway.MessageFilter{ChatID: posts}, allOf(), []int{4}, 1},
		"before":               {gateway.MessageFilter{Before: messages[2].Position()}, allOf(), []int{1, 0}, 2},
		"after":                {gateway.MessageFilter{After: messages[2].Position()}, allOf(), []int{3}, 1},
		"of a type":            {gateway.MessageFilter{Types: []gateway.MessageType{gateway.TypeImage, gateway.TypeVideo}}, allOf(), []int{1}, 1},
		"sent":                 {gateway.MessageFilter{FromMe: new(true)}, allOf(), []int{2}, 1},
		"received":             {gateway.MessageFilter{FromMe: new(false)}, allOf(), []int{3, 1, 0}, 3},
		"sent from":            {gateway.MessageFilter{SentFrom: messages[1].SentAt}, allOf(), []int{1, 0}, 2},
		"sent between":         {gateway.MessageFilter{SentFrom: messages[2].SentAt, SentUntil: messages[1].SentAt}, allOf(), []int{2, 1}, 2},
		"by its identifier":    {gateway.MessageFilter{MessageID: "3EB0SAME"}, allOf(), []int{3, 1}, 2},
		"and chat":             {gateway.MessageFilter{MessageID: "3EB0SAME", ChatID: inChat}, allOf(), []int{3}, 1},
		"search":               {gateway.MessageFilter{Search: "VOCE ol"}, allOf(), []int{2, 1, 0}, 3},
		"search, oldest first": {gateway.MessageFilter{Search: "você", OldestFirst: true}, gateway.PageRequest{Page: 2, Limit: 3}, []int{3}, 4},
		"search, second page":  {gateway.MessageFilter{Search: "você"}, gateway.PageRequest{Page: 2, Limit: 1}, []int{2}, 4},
		"search, past the end": {gateway.MessageFilter{Search: "você"}, gateway.PageRequest{Page: 9, Limit: 1}, nil, 4},
		"search, before":       {gateway.MessageFilter{Search: "você", Before: messages[1].Position()}, allOf(), []int{0}, 1},
		"search, received":     {gateway.MessageFilter{Search: "ola", FromMe: new(false), SentUntil: messages[1].SentAt}, allOf(), []int{1}, 1},
		"part of a word":       {gateway.MessageFilter{Search: "oce"}, allOf(), nil, 0},
		"no words":             {gateway.MessageFilter{Search: "%_"}, allOf(), nil, 0},
		"wildcards":            {gateway.MessageFilter{Search: "v%e"}, allOf(), nil, 0},
	}) {
		page, err := f.Chats.ListMessages(f.ctx(), instance.ID, test.filter, test.page)
		f.check(err)
		if got := placesOf(messages, page.Items); !slices.Equal(got, test.want) || page.Total != test.total {
			t.Errorf("%s: %v of %d, want %v of %d", name, got, page.Total, test.want, test.total)
		}
	}

	chats, err := f.Chats.ChatsOfMessages(f.ctx(), instance.ID, []string{messages[3].ID, messages[2].ID, newID()})
	f.check(err)
	if len(chats) != 2 || chats[messages[3].ID].Party != (gateway.Party{JID: ana, LID: anaLID, Name: "Ana"}) || chats[messages[2].ID].Party.JID != family {
		t.Errorf("their chats are %+v", chats)
	}
	if chats, err = f.Chats.ChatsOfMessages(f.ctx(), other.ID, []string{messages[3].ID}); len(chats) != 0 || err != nil {
		t.Errorf("another instance has the chats %+v, %v", chats, err)
	}
}
