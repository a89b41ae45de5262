// The reactions to messages.

package storetest

import (
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// The last reaction of everybody is kept, whatever address they had and in whatever order they come.
func testReactions(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance := f.instance(account.ID, 1)
	message := f.message(instance, 1)
	f.add(message, true)
	ana, ben := gateway.Party{JID: "1@s.whatsapp.net", Name: "Ana"}, gateway.Party{LID: "22@lid", Name: "Ben"}
	n := 0
	react := func(by gateway.Party, reaction string, at int, want ...gateway.StoredReaction) {
		t.Helper()
		n++
		given := gateway.StoredReaction{MessageID: message.ID, By: by, Reaction: reaction, At: after(at)}
		f.check(f.KeepReaction(f.ctx(), instance.ID, given, f.event(instance, n)))
		kept, err := f.ListReactions(f.ctx(), []string{message.ID, newID()})
		f.check(err)
		if len(kept) != len(want) || len(want) > 0 && !reflect.DeepEqual(kept, want) {
			t.Errorf("%s reacts with %q: kept %+v, want %+v", by.Name, reaction, kept, want)
		}
	}
	kept := func(by gateway.Party, reaction string, at int) gateway.StoredReaction {
		return gateway.StoredReaction{MessageID: message.ID, By: by, Reaction: reaction, At: after(at)}
	}
	react(ana, "👍", 1, kept(ana, "👍", 1))
	react(ben, "❤️", 2, kept(ana, "👍", 1), kept(ben, "❤️", 2))
	// Her LID is known by now, and it is her reaction all the same.
	both := gateway.Party{JID: ana.JID, LID: "11@lid", Name: "Ana"}
	react(both, "🎉", 3, kept(ben, "❤️", 2), kept(both, "🎉", 3))
	react(ana, "👍", 2, kept(ben, "❤️", 2), kept(both, "🎉", 3)) // an older one that comes late
	react(ben, "", 5, kept(both, "🎉", 3))
	react(ben, "❤️", 4, kept(both, "🎉", 3)) // from before it was taken back

	n++ // to a message that is gone
	f.check(f.KeepReaction(f.ctx(), instance.ID, gateway.StoredReaction{MessageID: newID(), By: ben, Reaction: "👍", At: after(6)}, f.event(instance, n)))
	f.wantEvents(instance.ID, 1, 2, 3, 4, 5, 6, 7)

	// One's own counts once the platform has it.
	f.check(f.AcceptChange(f.ctx(), gateway.SentChange{
		InstanceID: instance.ID, PlatformID: "C", MessageID: message.ID, Kind: gateway.ChangeReaction, By: ben, Text: "😮", At: after(7),
	}))
	if all, err := f.ListReactions(f.ctx(), []string{message.ID}); err != nil || len(all) != 1 {
		t.Errorf("before it is confirmed: %+v (%v)", all, err)
	}
	_, err := f.ConfirmChange(f.ctx(), instance.ID, "C", func(_ gateway.SentChange, m gateway.Message) (gateway.Message, []eventlog.Event, error) {
		return m, []eventlog.Event{f.event(instance, 8)}, nil
	})
	f.check(err)
	all, err := f.ListReactions(f.ctx(), []string{message.ID})
	if want := []gateway.StoredReaction{kept(both, "🎉", 3), kept(ben, "😮", 7)}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("kept %+v (%v), want %+v", all, err, want)
	}
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{message.ID}))
	if all, err := f.ListReactions(f.ctx(), []string{message.ID}); err != nil || len(all) > 0 {
		t.Errorf("reactions to a message that is gone: %+v (%v)", all, err)
	}
}
