package user_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("Ana", gateway.RoleOwner)
	if _, err := r.Invite(t.Context(), r.machine(), "invited", gateway.RoleViewer); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Ana", "ana", " ANA "} {
		got, err := r.SignIn(t.Context(), name, goodWord, home)
		if err != nil || got.Name != "Ana" {
			t.Errorf("%q: answered %+v (%v)", name, got, err)
		}
	}
	for what, try := range cases.Sorted(map[string][2]string{
		"a wrong password":                  {"ana", "correct horse batterz"},
		"no password":                       {"ana", ""},
		"a huge password":                   {"ana", strings.Repeat(goodWord, 10_000)},
		"an unknown name":                   {"bia", goodWord},
		"no name":                           {"", goodWord},
		"an impossible name":                {strings.Repeat("\x00ana", 10_000), goodWord},
		"one who has no password, with one": {"invited", goodWord},
		"one who has no password":           {"invited", ""},
	}) {
		_, err := r.SignIn(t.Context(), try[0], try[1], "")
		wantKind(t, err, gateway.Unauthorized, user.CodeWrongPassword)
		if _, err := r.SignIn(t.Context(), "ana", goodWord, home); err != nil {
			t.Errorf("after %s: answered %v", what, err)
		}
	}
}

// After five wrong passwords even the right one has to wait, longer each time.
func TestSignInMustWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	wrong := func() error {
		_, err := r.SignIn(t.Context(), "ANA", "wrong", "")
		return err
	}
	for range 5 {
		wantKind(t, wrong(), gateway.Unauthorized, user.CodeWrongPassword)
	}
	for _, wait := range []time.Duration{
		30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute,
	} {
		_, err := r.SignIn(t.Context(), "ana", goodWord, home)
		wantKind(t, err, gateway.RateLimited, user.CodeTooManyTries)
		if failure, _ := gateway.AsError(err); failure.RetryAfter != wait {
			t.Errorf("the wait is %s, want %s", failure.RetryAfter, wait)
		}
		r.wait(wait - time.Millisecond)
		wantKind(t, wrong(), gateway.RateLimited, user.CodeTooManyTries)
		r.wait(time.Millisecond)
		wantKind(t, wrong(), gateway.Unauthorized, user.CodeWrongPassword)
	}
	r.wait(15 * time.Minute)
	if _, err := r.SignIn(t.Context(), "ana", goodWord, home); err != nil {
		t.Fatal(err)
	}
	for range 5 { // all is forgotten
		wantKind(t, wrong(), gateway.Unauthorized, user.CodeWrongPassword)
	}
	page, err := r.ListAudit(t.Context(), r.machine(), gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil || page.Items[0].Action != string(user.ActionSignInBlocked) || page.Items[0].UserName != "ana" {
		t.Errorf("the audit list begins with %+v (%v)", page.Items, err)
	}
}

// Many names from one address wait too; another network does not.
func TestAddressMustWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	for i := range 20 {
		_, err := r.SignIn(t.Context(), "name"+strings.Repeat("x", i), "wrong", "2001:db8::1")
		wantKind(t, err, gateway.Unauthorized, user.CodeWrongPassword)
	}
	_, err := r.SignIn(t.Context(), "ana", goodWord, "2001:db8::2")
	wantKind(t, err, gateway.RateLimited, user.CodeTooManyTries)
	if _, err := r.SignIn(t.Context(), "ana", goodWord, "2001:db8:0:1::1"); err != nil {
		t.Error(err)
	}
}

// Made-up names, however many, end nobody's wait, and who tries them is told to those who run the
// program: once for each wait, not for each try.
func TestAFloodOfNamesEndsNoWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	for range 5 {
		_, err := r.SignIn(t.Context(), "ana", "wrong", "127.0.0.2")
		wantKind(t, err, gateway.Unauthorized, user.CodeWrongPassword)
	}
	refused := 0
	for i := range 10_100 {
		if _, err := r.SignIn(t.Context(), fmt.Sprintf("nob%d", i), "wrong", "127.0.0.4"); gateway.KindOf(err) == gateway.RateLimited {
			refused++
		}
	}
	_, err := r.SignIn(t.Context(), "ana", "wrong", "127.0.0.5")
	wantKind(t, err, gateway.RateLimited, user.CodeTooManyTries)
	if r.outcomes[user.OutcomeWrong] != 25 || r.outcomes[user.OutcomeHeldUp] != refused+1 || refused != 10_080 {
		t.Errorf("%d were refused, and told were %v", refused, r.outcomes)
	}
	if names, addresses := r.lines("a user has to wait"), r.lines("an address has to wait"); names != 1 || addresses != 1 || r.lines("client=127.0.0.4") != 1 {
		t.Errorf("the log tells of %d names and %d addresses, want one of each: %s", names, addresses, &r.log)
	}
	page, err := r.ListAudit(t.Context(), r.machine(), gateway.PageRequest{Page: 1, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var waits []string
	for _, entry := range page.Items {
		if entry.Action == string(user.ActionSignInBlocked) || entry.Action == string(user.ActionAddressBlocked) {
			waits = append(waits, entry.Action+" "+entry.Address)
		}
	}
	if want := []string{"address_blocked 127.0.0.4", "sign_in_blocked 127.0.0.2"}; !slices.Equal(waits, want) {
		t.Errorf("the audit list has %v, want %v", waits, want)
	}
}

// Tries at the same time are no way around the limit, and no way to fill the memory.
func TestTriesAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	var group sync.WaitGroup
	var mu sync.Mutex
	counted := map[gateway.Kind]int{}
	for range 50 {
		group.Go(func() {
			_, err := r.SignIn(t.Context(), "ana", "wrong", home)
			mu.Lock()
			defer mu.Unlock()
			counted[gateway.KindOf(err)]++
		})
	}
	group.Wait()
	if counted[gateway.Unauthorized] > 5 || counted[gateway.RateLimited] < 45 {
		t.Errorf("answered %v", counted)
	}
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleViewer)
	_, err := r.ChangePassword(t.Context(), ana, "wrong", "another good one")
	wantKind(t, err, gateway.Unauthorized, user.CodeWrongPassword)
	_, err = r.ChangePassword(t.Context(), ana, goodWord, "short")
	wantKind(t, err, gateway.Invalid, user.CodePassword)
	before, err := r.Get(t.Context(), ana.UserID)
	r.check(err)
	after, err := r.ChangePassword(t.Context(), ana, goodWord, "another good one")
	r.check(err)
	if after.Epoch <= before.Epoch {
		t.Error("the sign-ins did not end")
	}
	_, err = r.SignIn(t.Context(), "ana", goodWord, home)
	wantKind(t, err, gateway.Unauthorized, user.CodeWrongPassword)
	_, err = r.SignIn(t.Context(), "ana", "another good one", home)
	r.check(err)
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, bia := r.add("ana", gateway.RoleOwner), r.add("bia", gateway.RoleOperator)
	wantKind(t, r.SignOutEverywhere(t.Context(), bia, ana.UserID), gateway.Forbidden, gateway.CodeForbidden)
	for _, actor := range []user.Actor{bia, ana} {
		before, err := r.Get(t.Context(), bia.UserID)
		r.check(err)
		r.check(r.SignOutEverywhere(t.Context(), actor, bia.UserID))
		if after, err := r.Get(t.Context(), bia.UserID); err != nil || after.Epoch <= before.Epoch {
			t.Errorf("by %s: the sign-ins did not end (%v)", actor.Name, err)
		}
	}
}

func TestUnfitPassword(t *testing.T) {
	t.Parallel()
	for password, fit := range cases.Sorted(map[string]bool{
		goodWord: true, "açúcar é doce": true, "correto-cavalo": true, strings.Repeat("abcde", 40): true,
		"short": false, strings.Repeat("abcde", 41): false, "aaaaaaaaaaaa": false, "abababababab": false,
		"1234567890": false, "Password123": false, "Joana12joana": false, "joana-e-o-cavalo": true, "bad\xff\xfe utf-8!": false,
		"null\x00 in here": false, "çççççççççç": false,
	}) {
		if why := user.UnfitPassword("joana", password); (why == "") != fit {
			t.Errorf("%.30q: %q", password, why)
		}
	}
	if why := user.UnfitPassword("a", "a banana da ana"); why != "" {
		t.Errorf("a name of one letter: %s", why)
	}
}
