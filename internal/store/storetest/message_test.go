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
	message.Payload = []byte{0, 1, 0xff}
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
	instance := f.instance(f.account().ID, 1)
	group, person := f.message(instance, 1), f.message(instance, 2)
	group.Chat = gateway.Party{JID: "1-2@g.us"}
	person.Chat = gateway.Party{JID: "55119@s.whatsapp.net", LID: "77@lid"}
	f.add(person, true)
	f.add(group, true)
	for name, test := range cases.Sorted(map[string]struct {
		chat        gateway.JID
		page, limit int
		want        []string
		total       int
	}{
		"all":          {"", 1, 10, []string{group.ID, person.ID}, 2},
		"second page":  {"", 2, 1, []string{person.ID}, 2},
		"by number":    {person.Chat.JID, 1, 10, []string{person.ID}, 1},
		"by LID":       {person.Chat.LID, 1, 10, []string{person.ID}, 1},
		"group":        {group.Chat.JID, 1, 10, []string{group.ID}, 1},
		"past the end": {group.Chat.JID, 2, 10, nil, 1},
		"unknown chat": {"9@lid", 1, 10, nil, 0},
	}) {
		page, err := f.ListMessages(f.ctx(), instance.ID, test.chat, gateway.PageRequest{Page: test.page, Limit: test.limit})
		f.check(err)
		var got []string
		for _, message := range page.Items {
			got = append(got, message.ID)
		}
		if !slices.Equal(got, test.want) || page.Total != test.total {
			t.Errorf("%s: %v of %d, want %v of %d", name, got, page.Total, test.want, test.total)
		}
	}
}
