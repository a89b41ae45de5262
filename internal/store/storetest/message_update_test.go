// What changes of messages must do on both databases.

package storetest

import (
	"errors"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func testUpdateMessages(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	first, second, elsewhere := f.message(instance, 1), f.message(instance, 2), f.message(other, 3)
	first.ClientData = "order 17" // nothing changes it
	for _, message := range []gateway.Message{first, second, elsewhere} {
		f.add(message, true)
	}
	want := first
	want.Status, want.StatusAt, want.SentAt = gateway.MessageRead, after(7), after(6)
	want.Chat = gateway.Party{JID: "1@s.whatsapp.net", LID: "2@lid"}
	want.Text, want.Payload, want.EditedAt, want.DeletedAt = "better", []byte("new"), after(8), after(9)
	want.PinnedUntil, want.Starred = after(10), true
	// One by its platform identifier, one by its own; those of another instance
	// and those that don't exist are not found.
	ids := []string{second.ID, first.PlatformID, elsewhere.ID, elsewhere.PlatformID, "3EB0UNKNOWN"}
	f.check(f.UpdateMessages(f.ctx(), instance.ID, ids, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		if !reflect.DeepEqual(found, []gateway.Message{first, second}) {
			t.Errorf("was asked to change %+v", found)
		}
		return []gateway.Message{want}, []eventlog.Event{f.event(instance, 1)}, nil
	}))
	if got := f.get(instance, first.ID); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := f.get(instance, second.ID); !reflect.DeepEqual(got, second) {
		t.Errorf("the other one became %+v", got)
	}

	refused := errors.New("refused")
	err := f.UpdateMessages(f.ctx(), instance.ID, ids, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		found[0].Text = "never"
		return found[:1], []eventlog.Event{f.event(instance, 2)}, refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("answered %v, want the error of the change", err)
	}
	if got := f.get(instance, first.ID); got.Text != want.Text {
		t.Errorf("a refused change wrote %q", got.Text)
	}
	f.wantEvents(instance.ID, 1)
	f.check(f.UpdateMessages(f.ctx(), instance.ID, nil, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		if len(found) > 0 {
			t.Errorf("no identifiers found %+v", found)
		}
		return nil, nil, nil
	}))
}

// What changes of a message is written, whichever field it is, and the rest stays.
func testUpdateEachField(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	want := f.message(instance, 1)
	f.add(want, true)
	for name, change := range cases.Sorted(map[string]func(m *gateway.Message){
		"nothing":     func(*gateway.Message) {},
		"status":      func(m *gateway.Message) { m.Status = gateway.MessageDelivered },
		"status time": func(m *gateway.Message) { m.StatusAt = after(2) },
		"sent":        func(m *gateway.Message) { m.SentAt = after(3) },
		"JID":         func(m *gateway.Message) { m.Chat.JID = "1@s.whatsapp.net" },
		"LID":         func(m *gateway.Message) { m.Chat.LID = "2@lid" },
		"edited":      func(m *gateway.Message) { m.EditedAt = after(4) },
		"deleted":     func(m *gateway.Message) { m.DeletedAt = after(5) },
		"text":        func(m *gateway.Message) { m.Text = "better" },
		"payload":     func(m *gateway.Message) { m.Payload = []byte("other") },
	}) {
		f.check(f.UpdateMessages(f.ctx(), instance.ID, []string{want.ID},
			func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
				change(&found[0])
				return found, nil, nil
			}))
		change(&want)
		if got := f.get(instance, want.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

// No update is lost where many change the same messages at the same time, in
// lists that overlap in any order.
func testUpdateMessagesAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	const updates = 40
	instance := f.instance(f.account().ID, 1)
	one, two := f.message(instance, 1), f.message(instance, 2)
	one.Text, two.Text = "0", "0"
	f.add(one, true)
	f.add(two, true)
	var group sync.WaitGroup
	for n := range updates {
		ids := []string{one.ID, two.PlatformID}
		if n%2 == 0 {
			ids = []string{two.ID, one.PlatformID}
		}
		group.Go(func() {
			err := f.UpdateMessages(f.ctx(), instance.ID, ids, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
				for i := range found {
					count, err := strconv.Atoi(found[i].Text)
					if err != nil {
						return nil, nil, err
					}
					found[i].Text = strconv.Itoa(count + 1)
				}
				return found, []eventlog.Event{f.event(instance, n)}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, message := range []gateway.Message{one, two} {
		if got := f.get(instance, message.ID).Text; got != strconv.Itoa(updates) {
			t.Errorf("counted to %s in %d updates", got, updates)
		}
	}
	if _, newest, err := f.EventBounds(f.ctx(), instance.ID); newest != updates || err != nil {
		t.Errorf("%d updates appended %d events (%v)", updates, newest, err)
	}
}

func testAddHistory(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	known, unknown := f.message(instance, 1), f.message(instance, 2)
	known.WireKey = "known"
	f.add(known, true)
	past := known
	past.ID, past.WireKey, past.Text = newID(), "", "from the past"
	f.check(f.AddHistory(f.ctx(), instance.ID, []gateway.Message{past, unknown}))
	f.check(f.AddHistory(f.ctx(), instance.ID, []gateway.Message{unknown}))
	if got := f.get(instance, known.PlatformID); got.Text != known.Text {
		t.Errorf("history changed a message to %q", got.Text)
	}
	f.get(instance, unknown.PlatformID)
	f.wantEvents(instance.ID)
	// It may still arrive by itself, and then has to be reported.
	unknown.ID, unknown.WireKey = newID(), "arrived"
	f.add(unknown, true)
	err := f.AddHistory(f.ctx(), newID(), []gateway.Message{f.message(gateway.Instance{ID: newID()}, 1)})
	wantKind(t, err, gateway.NotFound, gateway.CodeInstanceNotFound)
}

func testPendingMessages(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	old, older, young, sent := f.message(instance, 2), f.message(instance, 1), f.message(instance, 5), f.message(instance, 1)
	sent.Status = gateway.MessageSent
	for _, message := range []gateway.Message{old, older, young, sent} {
		f.add(message, true)
	}
	for limit, want := range cases.Sorted(map[int][]gateway.Message{10: {older, old}, 1: {older}}) {
		got, err := f.PendingMessages(f.ctx(), gateway.Position{}, after(5), limit)
		f.check(err)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if next, err := f.PendingMessages(f.ctx(), older.Position(), after(5), 10); err != nil || !reflect.DeepEqual(next, []gateway.Message{old}) {
		t.Errorf("after the oldest come %+v, %v", next, err)
	}
}
