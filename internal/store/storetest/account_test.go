// What accounts must do on both databases.

package storetest

import (
	"testing"
	"time"

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

	other := f.account()
	f.check(f.SetAppSecret(f.ctx(), other.ID, "of another", start()))
	for _, want := range []string{"", "first", "second", ""} {
		at := time.Time{}
		if want != "" {
			at = after(len(want))
		}
		f.check(f.SetAppSecret(f.ctx(), account.ID, want, at))
		if got, since, err := f.AppSecret(f.ctx(), account.ID); got != want || !since.Equal(at) || err != nil {
			t.Errorf("the app secret is %q since %v (%v), want %q since %v", got, since, err, want, at)
		}
	}
	if got, _, err := f.AppSecret(f.ctx(), other.ID); got != "of another" || err != nil {
		t.Errorf("that of another account is %q (%v)", got, err)
	}
	wantKind(t, f.SetAppSecret(f.ctx(), newID(), "x", start()), gateway.NotFound, gateway.CodeNotFound)
	if got, _, err := f.AppSecret(f.ctx(), newID()); got != "" || err != nil {
		t.Errorf("that of no account is %q (%v)", got, err)
	}
}

func testSize(t *testing.T, f *fixture) {
	t.Helper()
	if size, err := f.Size(f.ctx()); size < 10_000 || err != nil {
		t.Errorf("the %s database takes %d bytes (%v)", f.Kind(), size, err)
	}
}
