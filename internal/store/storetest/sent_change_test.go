package storetest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// sentChange makes a change of a message, asked for n seconds after the start. It
// is not added.
func (f *fixture) sentChange(message gateway.Message, n int) gateway.SentChange {
	return gateway.SentChange{
		PlatformID: "3EB0" + newID(), InstanceID: message.InstanceID, MessageID: message.ID, Kind: gateway.ChangeReaction,
		By: gateway.Party{JID: "1@s.whatsapp.net", LID: "2@lid", Name: "Ana"}, Text: "👍", Payload: []byte("encoded"), At: after(n),
	}
}

// wantChange compares the change with an identifier; nil where there is to be none.
func (f *fixture) wantChange(instanceID, platformID string, want *gateway.SentChange) {
	f.t.Helper()
	got, found, err := f.FindChange(f.ctx(), instanceID, platformID)
	f.check(err)
	if found != (want != nil) || found && !reflect.DeepEqual(got, *want) {
		f.t.Errorf("got %+v, want %+v", got, want)
	}
}

func testConfirmChange(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	message := f.message(instance, 1)
	f.add(message, true)
	change := f.sentChange(message, 5)
	f.check(f.AcceptChange(f.ctx(), change))
	f.wantChange(instance.ID, change.PlatformID, &change)
	f.wantChange(other.ID, change.PlatformID, nil)

	confirm := func(instanceID, platformID string, answer error) (known, asked bool) {
		t.Helper()
		known, err := f.ConfirmChange(f.ctx(), instanceID, platformID,
			func(got gateway.SentChange, of gateway.Message) (gateway.Message, []eventlog.Event, error) {
				asked = true
				if !reflect.DeepEqual(got, change) || !reflect.DeepEqual(of, message) {
					t.Errorf("was asked to confirm %+v of %+v", got, of)
				}
				of.Text, of.EditedAt = "better", after(5)
				return of, []eventlog.Event{f.event(instance, 1)}, answer
			})
		if !errors.Is(err, answer) {
			t.Errorf("answered %v, want %v", err, answer)
		}
		return known, asked
	}
	for name, step := range cases.Sorted(map[string]struct{ instance, platformID string }{
		"unknown": {instance.ID, "3EB0UNKNOWN"}, "of another instance": {other.ID, change.PlatformID}, "a message": {instance.ID, message.PlatformID},
	}) {
		if known, asked := confirm(step.instance, step.platformID, nil); known || asked {
			t.Errorf("%s: known %v, asked %v", name, known, asked)
		}
	}
	if known, asked := confirm(instance.ID, change.PlatformID, errors.New("refused")); !known || !asked {
		t.Errorf("refused: known %v, asked %v", known, asked)
	}
	f.wantEvents(instance.ID)
	f.wantChange(instance.ID, change.PlatformID, &change)
	if known, asked := confirm(instance.ID, change.PlatformID, nil); !known || !asked {
		t.Errorf("first: known %v, asked %v", known, asked)
	}
	if known, asked := confirm(instance.ID, change.PlatformID, nil); !known || asked {
		t.Errorf("again: known %v, asked %v", known, asked)
	}
	f.wantEvents(instance.ID, 1)
	if got := f.get(instance, message.ID); got.Text != "better" || !got.EditedAt.Equal(after(5)) {
		t.Errorf("the message is %+v", got)
	}
	change.Confirmed = true
	f.wantChange(instance.ID, change.PlatformID, &change)
}

func testRemoveChanges(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	message := f.message(instance, 1)
	f.add(message, true)
	refused, confirmed, young := f.sentChange(message, 1), f.sentChange(message, 2), f.sentChange(message, 3)
	confirmed.Confirmed = true
	for _, change := range []gateway.SentChange{refused, confirmed, young} {
		f.check(f.AcceptChange(f.ctx(), change))
		f.check(f.DropChange(f.ctx(), instance.ID, "3EB0UNKNOWN"))
	}
	f.check(f.DropChange(f.ctx(), instance.ID, refused.PlatformID))
	f.check(f.DropChange(f.ctx(), instance.ID, confirmed.PlatformID))
	f.wantChange(instance.ID, refused.PlatformID, nil)
	f.wantChange(instance.ID, confirmed.PlatformID, &confirmed)

	if removed, err := f.DeleteChanges(f.ctx(), young.At); err != nil || removed != 1 {
		t.Errorf("removed %d (%v), want 1", removed, err)
	}
	f.wantChange(instance.ID, confirmed.PlatformID, nil)
	f.wantChange(instance.ID, young.PlatformID, &young)

	f.check(f.DeleteInstance(f.ctx(), instance.ID))
	f.wantChange(instance.ID, young.PlatformID, nil)
	err := f.AcceptChange(f.ctx(), young)
	if refusal, ok := gateway.AsError(err); !ok || refusal.Kind != gateway.NotFound {
		t.Errorf("of an instance that is gone: %v", err)
	}
}
