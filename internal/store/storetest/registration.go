// What look-ups of numbers must do on both databases.

package storetest

import (
	"maps"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

func testRegistrations(t *testing.T, f *fixture) {
	t.Helper()
	ana := gateway.Registration{Number: "5511999990000", Exists: true, JID: "551199990000@s.whatsapp.net", LID: "77@lid"}
	bia := gateway.Registration{Number: "5511999990001", Exists: true, JID: "551199990001@s.whatsapp.net"}
	f.check(f.SaveRegistrations(f.ctx(), []gateway.Registration{ana, {Number: "5511999990002"}}, after(10)))
	f.check(f.SaveRegistrations(f.ctx(), []gateway.Registration{bia}, after(20)))
	f.check(f.SaveRegistrations(f.ctx(), nil, after(20)))
	numbers := []string{ana.Number, bia.Number, "5511999990002", "1"}
	want := map[string]gateway.Registration{ana.Number: ana, bia.Number: bia}
	f.wantRegistrations(numbers, 10, want)
	f.wantRegistrations(numbers[:1], 10, map[string]gateway.Registration{ana.Number: ana})
	f.wantRegistrations(nil, 10, nil)
	f.wantRegistrations(numbers, 11, map[string]gateway.Registration{bia.Number: bia})

	// An answer without LID renews what is known of the same account.
	renewed := ana
	renewed.LID = ""
	f.check(f.SaveRegistrations(f.ctx(), []gateway.Registration{renewed}, after(30)))
	f.wantRegistrations(numbers, 11, want)

	// The number has gone to another account.
	ana.JID, ana.LID = "5511999990000@s.whatsapp.net", ""
	f.check(f.SaveRegistrations(f.ctx(), []gateway.Registration{ana}, after(40)))
	f.wantRegistrations(numbers, 31, map[string]gateway.Registration{ana.Number: ana})
}

func (f *fixture) wantRegistrations(numbers []string, since int, want map[string]gateway.Registration) {
	f.t.Helper()
	got, err := f.FindRegistrations(f.ctx(), numbers, after(since))
	f.check(err)
	if !maps.Equal(got, want) {
		f.t.Errorf("found %v, want %v", got, want)
	}
}
