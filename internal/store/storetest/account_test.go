// What accounts must do on both databases.

package storetest

import (
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

func testAccounts(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	got, found, err := f.FindAccount(f.ctx(), account.Name)
	f.check(err)
	if !found || got != account {
		t.Errorf("found %v %+v, want %+v", found, got, account)
	}
	if _, found, err := f.FindAccount(f.ctx(), "nobody"); found || err != nil {
		t.Errorf("found %v, %v for a name without account", found, err)
	}
	double := gateway.Account{ID: newID(), Name: account.Name, CreatedAt: start()}
	wantKind(t, f.CreateAccount(f.ctx(), double), gateway.Conflict, "ALREADY_EXISTS")
	f.check(f.Ping(f.ctx()))
}

func testSize(t *testing.T, f *fixture) {
	t.Helper()
	if size, err := f.Size(f.ctx()); size < 10_000 || err != nil {
		t.Errorf("the %s database takes %d bytes (%v)", f.Kind(), size, err)
	}
}
