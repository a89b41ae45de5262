// What instances must do on both databases.

package storetest

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func testInstances(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	second, first := f.instance(account.ID, 2), f.instance(account.ID, 1)
	got, err := f.GetInstance(f.ctx(), second.ID)
	f.check(err)
	if got != second {
		t.Errorf("got %+v, want %+v", got, second)
	}
	_, err = f.GetInstance(f.ctx(), newID())
	wantKind(t, err, gateway.NotFound, gateway.CodeInstanceNotFound)
	wantKind(t, f.CreateInstance(f.ctx(), second), gateway.Conflict, "ALREADY_EXISTS")
	all, err := f.AllInstances(f.ctx())
	f.check(err)
	if want := []gateway.Instance{first, second}; !slices.Equal(all, want) {
		t.Errorf("all are %+v, want %+v", all, want)
	}
}

func testListInstances(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	var own []string
	for n := range 5 {
		own = append(own, f.instance(account.ID, n).ID)
	}
	foreign := f.instance(other.ID, 0).ID
	for name, test := range cases.Sorted(map[string]struct {
		ids         []string
		page, limit int
		want        []string
		total       int
	}{
		"all":                        {nil, 1, 100, own, 5},
		"first page":                 {nil, 1, 2, own[:2], 5},
		"last page":                  {nil, 3, 2, own[4:], 5},
		"past the end":               {nil, 4, 2, nil, 5},
		"some":                       {[]string{own[3], own[1]}, 1, 100, []string{own[1], own[3]}, 2},
		"some, second page":          {[]string{own[3], own[1]}, 2, 1, []string{own[3]}, 2},
		"none of another account":    {[]string{foreign}, 1, 100, nil, 0},
		"one that is gone, and more": {[]string{own[0], newID()}, 1, 100, own[:1], 1},
	}) {
		page, err := f.ListInstances(f.ctx(), account.ID, test.ids, gateway.PageRequest{Page: test.page, Limit: test.limit})
		if outlined, failed := f.InstanceOutlines(f.ctx(), account.ID, test.ids, test.page*test.limit); failed != nil || len(outlined) != min(page.Total, test.page*test.limit) {
			t.Errorf("page %d of %v: outlined %d (%v)", test.page, test.ids, len(outlined), failed)
		} else {
			for n, one := range page.Items {
				if of := outlined[(test.page-1)*test.limit+n]; of.ID != one.ID || of.Name != one.Name || of.Status != one.Status || !of.UpdatedAt.Equal(one.UpdatedAt) || of.Profile.JID != one.Profile.JID {
					t.Errorf("%s is outlined as %+v", one.ID, of)
				}
			}
		}
		f.check(err)
		var got []string
		for _, instance := range page.Items {
			got = append(got, instance.ID)
		}
		if !slices.Equal(got, test.want) || page.Total != test.total {
			t.Errorf("%s: %v of %d, want %v of %d", name, got, page.Total, test.want, test.total)
		}
	}
}

func testExternalNames(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	first, second, foreign, nameless := f.instance(account.ID, 1), f.instance(account.ID, 2), f.instance(other.ID, 1), f.instance(account.ID, 3)
	named := func(of gateway.Instance, name string) error {
		t.Helper()
		_, err := f.UpdateInstance(f.ctx(), of.ID, func(i *gateway.Instance) ([]eventlog.Event, error) {
			i.ExternalName = name
			return nil, nil
		})
		return err
	}
	wants := func(accountID, name, id string) {
		t.Helper()
		if got, found, err := f.FindInstance(f.ctx(), accountID, name); err != nil || got.ID != id || found != (id != "") {
			t.Errorf("%q is %s, %t (%v), want %s", name, got.ID, found, err, id)
		}
	}
	f.check(named(first, "loja 7"))
	f.check(named(foreign, "loja 7")) // another account's names are its own
	wants(account.ID, "loja 7", first.ID)
	wants(other.ID, "loja 7", foreign.ID)
	wants(account.ID, "Loja 7", "")
	wants(account.ID, "", "")
	wantKind(t, named(second, "loja 7"), gateway.Conflict, gateway.CodeExternalNameTaken)
	made := nameless
	made.ID, made.ExternalName = newID(), "loja 7"
	wantKind(t, f.CreateInstance(f.ctx(), made), gateway.Conflict, gateway.CodeExternalNameTaken)
	f.check(named(first, "loja 7"))
	f.check(named(first, ""))
	f.check(named(second, "loja 7"))
	wants(account.ID, "loja 7", second.ID)
	f.check(f.DeleteInstance(f.ctx(), second.ID))
	f.check(f.CreateInstance(f.ctx(), made))
	wants(account.ID, "loja 7", made.ID)
}

func testUpdateInstance(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	want := instance
	want.Name, want.Status, want.Reason, want.Device = "other", gateway.StatusError, gateway.ReasonBanned, "keys"
	want.Profile = gateway.Profile{JID: "55119@s.whatsapp.net", LID: "77@lid", Name: "Ana", PictureURL: "https://example.org/a.jpg"}
	want.Proxy, want.Label = "http://proxy.example.org:3128", gateway.DeviceLabel{Kind: gateway.DeviceTablet}
	want.Sending = gateway.SendingRules{
		Pace: gateway.Pace{
			Gap: 1500 * time.Millisecond, Jitter: 2 * time.Second, PerMinute: 3, NewChats: gateway.Budget{PerHour: 4, PerDay: 5},
		},
		Typing: true, NumberChecks: gateway.Budget{PerHour: 6, PerDay: 7}, Calls: gateway.CallRule{Reject: true, Text: "No calls"}, RefuseButtons: true,
	}
	want.Restricted = gateway.Restricted{Since: after(1), Until: after(30), Reported: after(2)}
	want.Switches = gateway.Switches{ReadMessages: true, ReadStatuses: true, AlwaysOnline: true, IgnoreGroups: true}
	want.ExternalName = "loja 7"
	want.UpdatedAt = after(7)
	got, err := f.UpdateInstance(f.ctx(), instance.ID, func(i *gateway.Instance) ([]eventlog.Event, error) {
		if *i != instance {
			t.Errorf("was asked to change %+v, want %+v", *i, instance)
		}
		*i = want
		return []eventlog.Event{f.event(instance, 1)}, nil
	})
	f.check(err)
	if got != want {
		t.Errorf("answered %+v, want %+v", got, want)
	}

	refused := errors.New("refused")
	if _, err := f.UpdateInstance(f.ctx(), instance.ID, func(i *gateway.Instance) ([]eventlog.Event, error) {
		i.Name = "never"
		return []eventlog.Event{f.event(instance, 2)}, refused
	}); !errors.Is(err, refused) {
		t.Errorf("answered %v, want the error of the change", err)
	}
	got, err = f.GetInstance(f.ctx(), instance.ID)
	f.check(err)
	if got != want {
		t.Errorf("after the refusal it is %+v, want %+v", got, want)
	}
	f.wantEvents(instance.ID, 1)

	_, err = f.UpdateInstance(f.ctx(), newID(), func(*gateway.Instance) ([]eventlog.Event, error) {
		t.Error("asked to change an instance that does not exist")
		return nil, nil
	})
	wantKind(t, err, gateway.NotFound, gateway.CodeInstanceNotFound)
}

// No update is lost where many change one instance at the same time.
func testUpdateInstanceAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	const updates = 60
	instance := f.instance(f.account().ID, 1)
	f.rename(instance.ID, func(string) string { return "0" })
	var group sync.WaitGroup
	for range updates {
		group.Go(func() {
			f.rename(instance.ID, func(name string) string {
				n, err := strconv.Atoi(name)
				if err != nil {
					t.Error(err)
				}
				return strconv.Itoa(n + 1)
			})
		})
	}
	group.Wait()
	got, err := f.GetInstance(f.ctx(), instance.ID)
	f.check(err)
	if got.Name != strconv.Itoa(updates) {
		t.Errorf("counted to %s in %d updates", got.Name, updates)
	}
}

func (f *fixture) rename(id string, change func(name string) string) {
	f.t.Helper()
	if _, err := f.UpdateInstance(f.ctx(), id, func(i *gateway.Instance) ([]eventlog.Event, error) {
		i.Name = change(i.Name)
		return nil, nil
	}); err != nil {
		f.t.Error(err)
	}
}

func testDeleteInstance(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	doomed, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	gone, stays := f.message(doomed, 1), f.message(other, 1)
	f.check(f.accept(gone, nil))
	f.check(f.accept(stays, nil))
	f.check(f.AppendEvents(f.ctx(), doomed.ID, f.event(doomed, 1)))
	f.check(f.AppendEvents(f.ctx(), other.ID, f.event(other, 1)))
	f.check(f.DeleteInstance(f.ctx(), doomed.ID))
	f.wantEvents(doomed.ID)
	f.wantEvents(other.ID, 1)
	wantKind(t, f.DeleteInstance(f.ctx(), doomed.ID), gateway.NotFound, gateway.CodeInstanceNotFound)
	left, err := f.FindMessages(f.ctx(), doomed.ID, gone.ID)
	f.check(err)
	if len(left) != 0 {
		t.Error("its message is still there")
	}
	f.get(other, stays.ID)
}
