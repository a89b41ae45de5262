// The subscriptions to the presence of contacts.

package storetest

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

func testPresence(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	subscribe := func(contact gateway.Party, from, until int) (gateway.PresenceSubscription, error) {
		return f.Presences.SubscribePresence(f.ctx(), gateway.PresenceSubscription{
			InstanceID: instance.ID, Contact: contact, CreatedAt: after(from), EndsAt: after(until),
		}, after(from), 2)
	}
	want := func(at int, contacts ...gateway.Party) {
		t.Helper()
		kept, err := f.Presences.ListPresenceSubscriptions(f.ctx(), instance.ID, after(at))
		f.check(err)
		if len(kept) != len(contacts) {
			t.Fatalf("kept %+v", kept)
		}
		for n, contact := range contacts {
			if kept[n].Contact != contact {
				t.Errorf("subscription %d is to %+v", n, kept[n].Contact)
			}
		}
	}
	ana, ben, eva := gateway.Party{JID: "1@s.whatsapp.net"}, gateway.Party{LID: "22@lid"}, gateway.Party{LID: "33@lid"}
	_, err := subscribe(ana, 1, 10)
	f.check(err)
	_, err = subscribe(ben, 2, 5)
	f.check(err)
	_, err = subscribe(eva, 3, 10)
	wantKind(t, err, gateway.Conflict, gateway.CodeSubscriptionLimit)
	want(3, ana, ben)

	// What she shows is noted, and stays when she is known by her LID as well.
	said := gateway.ContactPresence{From: ana, Chat: ana, Presence: gateway.PresenceUnavailable, LastSeen: after(3), At: after(4)}
	f.check(f.Presences.KeepPresence(f.ctx(), instance.ID, said, f.event(instance, 1)))
	said.Presence, said.LastSeen, said.At = gateway.PresenceComposing, time.Time{}, after(5)
	f.check(f.Presences.KeepPresence(f.ctx(), instance.ID, said, f.event(instance, 2)))
	said.Chat, said.Presence = gateway.Party{JID: "1-2@g.us"}, gateway.PresenceRecording
	f.check(f.Presences.KeepPresence(f.ctx(), instance.ID, said, f.event(instance, 3)))
	f.check(f.Presences.KeepPresence(f.ctx(), other.ID, gateway.ContactPresence{From: ana, Chat: ana, Presence: gateway.PresencePaused, At: after(5)}, f.event(other, 1)))
	f.wantEvents(instance.ID, 1, 2, 3)
	ended, err := f.Presences.EndedPresenceSubscriptions(f.ctx(), after(5), 10)
	f.check(err)
	if len(ended) != 1 || ended[0].Contact != ben || ended[0].InstanceID != instance.ID {
		t.Errorf("ended are %+v", ended)
	}
	ana.LID = "11@lid"
	prolonged, err := subscribe(ana, 5, 20)
	f.check(err)
	if prolonged.Presence != gateway.PresenceComposing || !prolonged.ShownAt.Equal(after(5)) || !prolonged.LastSeen.Equal(after(3)) ||
		!prolonged.CreatedAt.Equal(after(1)) || !prolonged.EndsAt.Equal(after(20)) {
		t.Errorf("prolonged is %+v", prolonged)
	}
	if found, ok, err := f.Presences.FindPresenceSubscription(f.ctx(), instance.ID, gateway.Party{LID: "11@lid"}, after(5)); err != nil || !ok || found != prolonged {
		t.Errorf("found %+v, %t, %v", found, ok, err)
	}

	want(5, ana) // Ben's has ended, and makes room
	_, err = subscribe(eva, 6, 10)
	f.check(err)
	want(6, ana, eva)

	// One that was prolonged meanwhile stays.
	late := prolonged
	late.EndsAt = after(19)
	if removed, err := f.Presences.UnsubscribePresence(f.ctx(), late); err != nil || removed {
		t.Errorf("a prolonged one is removed: %t, %v", removed, err)
	}
	if removed, err := f.Presences.UnsubscribePresence(f.ctx(), prolonged); err != nil || !removed {
		t.Errorf("it is not removed: %t, %v", removed, err)
	}
	want(6, eva)
	f.check(f.DeleteInstance(f.ctx(), instance.ID))
	want(6)
}
