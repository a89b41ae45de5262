// What updates must find of messages that were sent just now, which the store remembers.

package storetest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Whatever happens to a message that was sent just now, the next update finds what is
// stored.
func testRecentMessages(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	update := func(change func(m *gateway.Message)) func(gateway.Message) {
		return func(m gateway.Message) { f.change(m.InstanceID, []string{m.PlatformID}, change) }
	}
	echo := func(m gateway.Message) {
		m.ID, m.WireKey, m.Source = newID(), "echo", gateway.SourceDevice
		f.add(m, true)
	}
	for name, then := range cases.Sorted(map[string]func(m gateway.Message){
		"nothing":        func(gateway.Message) {},
		"sent":           update(func(m *gateway.Message) { m.Status, m.SentAt = gateway.MessageSent, after(2).Add(1) }),
		"edited":         update(func(m *gateway.Message) { m.Text, m.Payload, m.EditedAt = "better", []byte("new"), after(3) }),
		"deleted":        update(func(m *gateway.Message) { m.Text, m.Payload, m.DeletedAt = "", nil, after(4) }),
		"in place":       update(func(m *gateway.Message) { m.Status, m.Payload[0] = gateway.MessageSent, 'x' }),
		"grown long":     update(func(m *gateway.Message) { m.Text = strings.Repeat("long ", 2_000) }),
		"another name":   update(func(m *gateway.Message) { m.Status, m.Sender.Name = gateway.MessageSent, "is not written" }),
		"another source": update(func(m *gateway.Message) { m.Status, m.Source = gateway.MessageSent, "is not written" }),
		"refused": func(m gateway.Message) {
			refused := errors.New("refused")
			err := f.UpdateMessages(f.ctx(), m.InstanceID, []string{m.PlatformID},
				func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
					found[0].Text, found[0].Payload[0] = "never", 'x'
					return found, nil, refused
				})
			if !errors.Is(err, refused) {
				t.Errorf("answered %v", err)
			}
		},
		"twice in one update": func(m gateway.Message) {
			f.check(f.UpdateMessages(f.ctx(), m.InstanceID, []string{m.PlatformID},
				func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
					better := found[0]
					better.Text = "better"
					return []gateway.Message{better, found[0]}, nil, nil
				}))
		},
		"one that was not found": func(m gateway.Message) {
			f.check(f.UpdateMessages(f.ctx(), m.InstanceID, []string{"3EB0UNKNOWN"},
				func([]gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
					m.Text = "not asked for"
					return []gateway.Message{m}, nil, nil
				}))
		},
		"a failure": func(m gateway.Message) {
			m.PlatformID = "3EB0" + newID()
			if f.accept(m, nil) == nil {
				t.Error("two messages have one internal identifier")
			}
		},
		"one whose Idempotency-Key is new, and one whose is taken": func(m gateway.Message) {
			record := gateway.Idempotency{KeyID: newID(), Key: "order", RequestHash: []byte("hash"), InstanceID: m.InstanceID, CreatedAt: after(1)}
			first, second := m, m
			first.ID, first.PlatformID = newID(), "3EB0FIRST"
			second.ID, second.PlatformID = newID(), "3EB0SECOND"
			f.check(f.accept(first, &record))
			wantKind(t, f.accept(second, &record), gateway.Conflict, gateway.CodeIdempotencyConflict)
			f.wantFound("whose key is new", m.InstanceID, first.PlatformID)
			f.wantFound("whose key is taken", m.InstanceID, second.PlatformID)
		},
		"an echo": echo,
		"an echo, and sent by the internal identifier": func(m gateway.Message) {
			echo(m)
			f.change(m.InstanceID, []string{m.ID}, func(m *gateway.Message) { m.Status = gateway.MessageSent })
		},
		"from the past": func(m gateway.Message) {
			m.ID = newID()
			f.check(f.AddHistory(f.ctx(), m.InstanceID, []gateway.Message{m}))
		},
		"edited by a change of ours": func(m gateway.Message) {
			change := gateway.SentChange{PlatformID: "3EB0CHANGE", InstanceID: m.InstanceID, MessageID: m.ID, At: after(2)}
			f.check(f.AcceptChange(f.ctx(), change))
			known, err := f.ConfirmChange(f.ctx(), m.InstanceID, change.PlatformID,
				func(_ gateway.SentChange, m gateway.Message) (gateway.Message, []eventlog.Event, error) {
					m.Text = "better"
					return m, nil, nil
				})
			if !known || err != nil {
				t.Errorf("the change is known: %v (%v)", known, err)
			}
		},
		"removed": func(m gateway.Message) { f.check(f.DeleteMessages(f.ctx(), m.InstanceID, []string{m.ID})) },
		"its instance removed, and made anew": func(m gateway.Message) {
			instance, err := f.GetInstance(f.ctx(), m.InstanceID)
			f.check(err)
			f.check(f.DeleteInstance(f.ctx(), m.InstanceID))
			f.check(f.CreateInstance(f.ctx(), instance))
		},
	}) {
		instance := f.instance(account.ID, 1)
		message, other := f.message(instance, 1), f.message(instance, 1)
		f.check(f.accept(message, nil))
		f.check(f.accept(other, nil))
		then(message)
		f.wantFound(name, message.InstanceID, message.PlatformID)
		f.wantFound(name, message.InstanceID, message.PlatformID, other.PlatformID, message.PlatformID)
		f.change(message.InstanceID, []string{message.PlatformID}, func(m *gateway.Message) { m.Status = gateway.MessageRead })
		f.wantFound(name+", and read", message.InstanceID, message.PlatformID)
	}
}

// change changes each message that has one of the identifiers.
func (f *fixture) change(instanceID string, ids []string, change func(m *gateway.Message)) {
	f.t.Helper()
	f.check(f.UpdateMessages(f.ctx(), instanceID, ids, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		for n := range found {
			change(&found[n])
		}
		return found, nil, nil
	}))
}

// wantFound checks that an update finds what is stored, in order.
func (f *fixture) wantFound(name, instanceID string, platformIDs ...string) {
	f.t.Helper()
	page, err := f.Chats.ListMessages(f.ctx(), instanceID, gateway.MessageFilter{OldestFirst: true}, gateway.PageRequest{Page: 1, Limit: 100})
	f.check(err)
	var want []gateway.Message
	for _, message := range page.Items {
		if slices.Contains(platformIDs, message.PlatformID) {
			want = append(want, message)
		}
	}
	f.check(f.UpdateMessages(f.ctx(), instanceID, platformIDs, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		if !reflect.DeepEqual(found, want) {
			f.t.Errorf("%s: an update found %+v, and stored is %+v", name, found, want)
		}
		return nil, nil, nil
	}))
}
