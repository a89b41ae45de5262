// What users, sign-ins, passkeys and the audit list must do on both databases.

package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// user adds a user of the account with a password, made n seconds after the start.
func (f *fixture) user(accountID, name string, role gateway.Role, n int) gateway.User {
	f.t.Helper()
	user := gateway.User{ID: newID(), AccountID: accountID, Name: name, Role: role, Password: "hash", CreatedAt: after(n)}
	f.check(f.Users.CreateUser(f.ctx(), user))
	return user
}

func (f *fixture) wantUser(want gateway.User) {
	f.t.Helper()
	got, found, err := f.Users.FindUser(f.ctx(), want.ID)
	f.check(err)
	if !found || !reflect.DeepEqual(got, want) {
		f.t.Errorf("found %v %+v, want %+v", found, got, want)
	}
}

func testUsers(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	ana := f.user(account.ID, "Ana", gateway.RoleOwner, 0)
	bia := gateway.User{
		ID: newID(), AccountID: account.ID, Name: "bia@example.org", Role: gateway.RoleViewer,
		LinkHash: []byte("link"), LinkUntil: after(60), CreatedAt: after(1),
	}
	f.check(f.Users.CreateUser(f.ctx(), bia))
	caio := f.user(other.ID, "caio", gateway.RoleOwner, 2)
	double := gateway.User{ID: newID(), AccountID: other.ID, Name: "ANA", Role: gateway.RoleViewer, CreatedAt: start()}
	wantKind(t, f.Users.CreateUser(f.ctx(), double), gateway.Conflict, "ALREADY_EXISTS")

	for _, want := range []gateway.User{ana, bia, caio} {
		f.wantUser(want)
	}
	got, found, err := f.Users.FindUserByName(f.ctx(), "aNA")
	f.check(err)
	if !found || got.ID != ana.ID {
		t.Errorf("by name found %v %+v", found, got)
	}
	for name, missing := range cases.Sorted(map[string]func() (gateway.User, bool, error){
		"id":            func() (gateway.User, bool, error) { return f.Users.FindUser(f.ctx(), newID()) },
		"name":          func() (gateway.User, bool, error) { return f.Users.FindUserByName(f.ctx(), "dora") },
		"link":          func() (gateway.User, bool, error) { return f.Users.FindUserByLink(f.ctx(), []byte("other")) },
		"an empty link": func() (gateway.User, bool, error) { return f.Users.FindUserByLink(f.ctx(), nil) },
	}) {
		if got, found, err := missing(); found || err != nil {
			t.Errorf("by %s found %+v, %v", name, got, err)
		}
	}
	page, err := f.Users.ListUsers(f.ctx(), account.ID, gateway.PageRequest{Page: 1, Limit: 10})
	f.check(err)
	if want := (gateway.Page[gateway.User]{Items: []gateway.User{ana, bia}, Total: 2}); !reflect.DeepEqual(page, want) {
		t.Errorf("listed %+v, want %+v", page, want)
	}
	if all, err := f.Users.AllUsers(f.ctx()); err != nil || len(all) != 3 {
		t.Errorf("all users are %+v, %v", all, err)
	}
	f.check(f.Users.TouchUser(f.ctx(), ana.ID, after(9)))
	ana.SignedInAt = after(9)
	f.wantUser(ana)
	wantKind(t, f.Users.TouchUser(f.ctx(), newID(), after(9)), gateway.NotFound, gateway.CodeNotFound)
}

// A link sets a password once, in its time, and ends what was signed in before.
func testUserLink(t *testing.T, f *fixture) {
	t.Helper()
	ana := f.user(f.account().ID, "ana", gateway.RoleOwner, 0)
	f.check(f.Users.CreateSignIn(f.ctx(), gateway.SignIn{TokenHash: "t", UserID: ana.ID, ExpiresAt: after(99)}))
	f.check(f.Users.SetUserLink(f.ctx(), ana.ID, []byte("first"), after(60)))
	f.check(f.Users.SetUserLink(f.ctx(), ana.ID, []byte("second"), after(60)))
	wantKind(t, f.Users.SetUserLink(f.ctx(), newID(), []byte("x"), after(60)), gateway.NotFound, gateway.CodeNotFound)
	use := func(hash string, n int, want bool) {
		t.Helper()
		used, err := f.Users.UseUserLink(f.ctx(), []byte(hash), after(n), "new")
		f.check(err)
		if used != want {
			t.Errorf("%q after %d s: used %v", hash, n, used)
		}
	}
	use("first", 1, false)
	use("second", 60, false)
	use("", 1, false)
	if got, found, err := f.Users.FindUserByLink(f.ctx(), []byte("second")); !found || err != nil || got.ID != ana.ID {
		t.Errorf("found %v %+v, %v", found, got, err)
	}
	use("second", 59, true)
	use("second", 59, false)
	use("", 1, false)
	ana.Password, ana.Epoch = "new", 1
	f.wantUser(ana)
	f.wantNoSignIn("t")
}

func (f *fixture) wantNoSignIn(token string) {
	f.t.Helper()
	if got, found, err := f.Users.FindSignIn(f.ctx(), token); found || err != nil {
		f.t.Errorf("the sign-in is there: %+v, %v", got, err)
	}
}

func testSignIns(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	ana, bia := f.user(account.ID, "ana", gateway.RoleOwner, 0), f.user(account.ID, "bia", gateway.RoleViewer, 0)
	for _, signIn := range []gateway.SignIn{
		{TokenHash: "nobody", Data: []byte("{}"), ExpiresAt: after(5)},
		{TokenHash: "a1", UserID: "", Data: []byte("old"), ExpiresAt: after(5)},
		{TokenHash: "a2", UserID: ana.ID, Data: []byte("new"), ExpiresAt: after(50)},
		{TokenHash: "b1", UserID: bia.ID, Data: []byte("new"), ExpiresAt: after(50)},
		{TokenHash: "b2", UserID: bia.ID, Data: []byte("new"), ExpiresAt: after(50)},
	} {
		f.check(f.Users.CreateSignIn(f.ctx(), signIn))
	}
	for _, token := range []string{"a1", "gone"} {
		f.check(f.Users.UpdateSignIn(f.ctx(), gateway.SignIn{TokenHash: token, UserID: ana.ID, Data: []byte("new"), ExpiresAt: after(50)}))
	}
	f.wantNoSignIn("gone")
	got, found, err := f.Users.FindSignIn(f.ctx(), "a1")
	f.check(err)
	if want := (gateway.SignIn{TokenHash: "a1", UserID: ana.ID, Data: []byte("new"), ExpiresAt: after(50)}); !found || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v %+v, want %+v", found, got, want)
	}
	f.check(f.Users.DeleteExpiredSignIns(f.ctx(), after(5)))
	f.wantNoSignIn("nobody")
	f.check(f.Users.DeleteSignIn(f.ctx(), "b1"))
	f.check(f.Users.DeleteSignIn(f.ctx(), "b1"))
	f.wantNoSignIn("b1")

	epoch, err := f.Users.EndSignIns(f.ctx(), ana.ID)
	f.check(err)
	if epoch != 1 {
		t.Errorf("the epoch is %d", epoch)
	}
	f.wantNoSignIn("a1")
	f.wantNoSignIn("a2")
	epoch, err = f.Users.SetUserPassword(f.ctx(), ana.ID, "another")
	f.check(err)
	ana.Epoch, ana.Password = 2, "another"
	f.wantUser(ana)
	if epoch != 2 {
		t.Errorf("the epoch is %d", epoch)
	}
	if _, found, err := f.Users.FindSignIn(f.ctx(), "b2"); !found || err != nil {
		t.Errorf("the sign-in of another user is gone: %v", err)
	}
	_, err = f.Users.EndSignIns(f.ctx(), newID())
	wantKind(t, err, gateway.NotFound, gateway.CodeNotFound)
	_, err = f.Users.SetUserPassword(f.ctx(), newID(), "x")
	wantKind(t, err, gateway.NotFound, gateway.CodeNotFound)
	f.check(f.Users.DeleteUser(f.ctx(), account.ID, bia.ID))
	f.wantNoSignIn("b2")
}

// An account keeps an owner who can sign in.
func testLastOwner(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	ana, bia := f.user(account.ID, "ana", gateway.RoleOwner, 0), f.user(account.ID, "bia", gateway.RoleViewer, 0)
	stranger := f.user(other.ID, "caio", gateway.RoleOwner, 0)
	invited := gateway.User{ID: newID(), AccountID: account.ID, Name: "dora", Role: gateway.RoleOwner, CreatedAt: start()}
	f.check(f.Users.CreateUser(f.ctx(), invited))

	wantKind(t, f.Users.SetUserRole(f.ctx(), account.ID, ana.ID, gateway.RoleViewer), gateway.Conflict, "LAST_OWNER")
	wantKind(t, f.Users.DeleteUser(f.ctx(), account.ID, ana.ID), gateway.Conflict, "LAST_OWNER")
	f.check(f.Users.SetUserRole(f.ctx(), account.ID, ana.ID, gateway.RoleOwner))
	wantKind(t, f.Users.SetUserRole(f.ctx(), account.ID, stranger.ID, gateway.RoleViewer), gateway.NotFound, gateway.CodeNotFound)
	wantKind(t, f.Users.DeleteUser(f.ctx(), account.ID, stranger.ID), gateway.NotFound, gateway.CodeNotFound)
	f.check(f.Users.DeleteUser(f.ctx(), account.ID, invited.ID))

	f.check(f.Users.SetUserRole(f.ctx(), account.ID, bia.ID, gateway.RoleOwner))
	var group sync.WaitGroup
	failures := make([]error, 2)
	for i, id := range []string{ana.ID, bia.ID} {
		group.Go(func() { failures[i] = f.Users.SetUserRole(f.ctx(), account.ID, id, gateway.RoleOperator) })
	}
	group.Wait()
	if (failures[0] == nil) == (failures[1] == nil) {
		t.Errorf("of two owners at once, answered %v and %v", failures[0], failures[1])
	}
	wantKind(t, errors.Join(failures...), gateway.Conflict, "LAST_OWNER")
}

func testPasskeys(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	ana, bia := f.user(account.ID, "ana", gateway.RoleOwner, 0), f.user(account.ID, "bia", gateway.RoleViewer, 0)
	laptop := gateway.Passkey{ID: []byte{0, 1}, UserID: ana.ID, Name: "laptop", Credential: []byte("{}"), CreatedAt: after(1)}
	phone := gateway.Passkey{ID: []byte{0, 2}, UserID: ana.ID, Name: "phone", Credential: []byte("{}"), CreatedAt: after(0)}
	f.check(f.Users.CreatePasskey(f.ctx(), laptop))
	f.check(f.Users.CreatePasskey(f.ctx(), phone))
	wantKind(t, f.Users.CreatePasskey(f.ctx(), gateway.Passkey{ID: laptop.ID, UserID: bia.ID, Credential: []byte("{}")}), gateway.Conflict, "ALREADY_EXISTS")
	wantKind(t, f.Users.CreatePasskey(f.ctx(), gateway.Passkey{ID: []byte("x"), UserID: newID(), Credential: []byte("{}")}), gateway.NotFound, gateway.CodeNotFound)

	f.check(f.Users.TouchPasskey(f.ctx(), bia.ID, laptop.ID, []byte("wrong"), after(7)))
	f.check(f.Users.TouchPasskey(f.ctx(), ana.ID, laptop.ID, []byte(`{"n":1}`), after(8)))
	laptop.Credential, laptop.LastUsedAt = []byte(`{"n":1}`), after(8)
	got, err := f.Users.ListPasskeys(f.ctx(), ana.ID)
	f.check(err)
	if want := []gateway.Passkey{phone, laptop}; !reflect.DeepEqual(got, want) {
		t.Errorf("listed %+v, want %+v", got, want)
	}
	wantKind(t, f.Users.DeletePasskey(f.ctx(), bia.ID, phone.ID), gateway.NotFound, gateway.CodeNotFound)
	f.check(f.Users.DeletePasskey(f.ctx(), ana.ID, phone.ID))
	f.check(f.Users.SetUserRole(f.ctx(), account.ID, bia.ID, gateway.RoleOwner))
	f.check(f.Users.DeleteUser(f.ctx(), account.ID, ana.ID))
	if got, err := f.Users.ListPasskeys(f.ctx(), ana.ID); err != nil || len(got) != 0 {
		t.Errorf("after the deletion listed %+v, %v", got, err)
	}
}

func testAudit(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	add := func(accountID string, n int) gateway.AuditEntry {
		t.Helper()
		entry := gateway.AuditEntry{
			ID: newID(), AccountID: accountID, UserID: newID(), UserName: "ana", Action: "instance.created",
			Subject: fmt.Sprint(n), Detail: "shop", Address: "192.0.2.1", At: after(n),
		}
		f.check(f.Users.AddAudit(f.ctx(), entry))
		return entry
	}
	want := func(accountID string, page, total int, entries ...gateway.AuditEntry) {
		t.Helper()
		got, err := f.Users.ListAudit(f.ctx(), accountID, gateway.PageRequest{Page: page, Limit: 2})
		f.check(err)
		if want := (gateway.Page[gateway.AuditEntry]{Items: entries, Total: total}); !reflect.DeepEqual(got, want) {
			t.Errorf("listed %+v, want %+v", got, want)
		}
	}
	first, second, third := add(account.ID, 1), add(account.ID, 2), add(account.ID, 2)
	others := add(other.ID, 1)
	want(account.ID, 1, 3, third, second)
	want(account.ID, 2, 3, first)
	f.check(f.Users.TrimAudit(f.ctx(), after(1), 2))
	want(account.ID, 1, 2, third, second)
	want(other.ID, 1, 1, others)
	f.check(f.Users.TrimAudit(f.ctx(), after(2), 2))
	want(account.ID, 1, 2, third, second)
	want(other.ID, 1, 0)
}
