// What look-ups of numbers must do on both databases.

package storetest

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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

func testNumberChecks(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	take := func(of gateway.Instance, at, numbers int, permit func([]gateway.NumberChecks) error) error {
		return f.TakeNumberChecks(f.ctx(), of.ID, gateway.NumberChecks{At: after(at), Numbers: numbers}, after(at-100), permit)
	}
	permitted := func([]gateway.NumberChecks) error { return nil }
	wants := func(since int, want ...gateway.NumberChecks) {
		t.Helper()
		got, err := f.ListNumberChecks(f.ctx(), instance.ID, after(since))
		f.check(err)
		if !slices.Equal(got, want) {
			t.Errorf("since %d it is %v, want %v", since, got, want)
		}
	}
	f.check(take(other, 60, 7, permitted))
	f.check(take(instance, 120, 3, permitted))
	f.check(take(instance, 60, 1, permitted))
	f.check(take(instance, 60, 2, permitted)) // in the same minute
	wants(0, gateway.NumberChecks{At: after(60), Numbers: 3}, gateway.NumberChecks{At: after(120), Numbers: 3})
	wants(60, gateway.NumberChecks{At: after(120), Numbers: 3})

	refused := errors.New("refused")
	if err := take(instance, 121, 5, func(spent []gateway.NumberChecks) error {
		if len(spent) != 2 {
			t.Errorf("asked for a permit with %v", spent)
		}
		return refused
	}); !errors.Is(err, refused) {
		t.Errorf("answered %v, want the error of the permit", err)
	}
	wants(0, gateway.NumberChecks{At: after(60), Numbers: 3}, gateway.NumberChecks{At: after(120), Numbers: 3})
	f.check(take(instance, 180, 1, permitted)) // what is old is forgotten
	wants(0, gateway.NumberChecks{At: after(120), Numbers: 3}, gateway.NumberChecks{At: after(180), Numbers: 1})

	f.check(f.DeleteInstance(f.ctx(), instance.ID))
	wants(0)
	wantKind(t, take(instance, 200, 1, permitted), gateway.NotFound, gateway.CodeInstanceNotFound)
}

// Requests that come at once do not take the last of a budget twice.
func testNumberChecksAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	const budget = 10
	instance := f.instance(f.account().ID, 1)
	full := errors.New("full")
	var taken atomic.Int64
	var group sync.WaitGroup
	for range 4 * budget {
		group.Go(func() {
			err := f.TakeNumberChecks(f.ctx(), instance.ID, gateway.NumberChecks{At: after(60), Numbers: 1}, after(0),
				func(spent []gateway.NumberChecks) error {
					if len(spent) > 0 && spent[0].Numbers >= budget {
						return full
					}
					return nil
				})
			switch {
			case err == nil:
				taken.Add(1)
			case !errors.Is(err, full):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != budget {
		t.Errorf("%d were taken of a budget of %d", taken.Load(), budget)
	}
}
