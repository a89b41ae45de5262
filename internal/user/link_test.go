package user_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

// A link sets a password once, within a day, and ends what was signed in.
func TestLinkWorksOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	link, err := r.Invite(t.Context(), r.machine(), "bia", gateway.RoleViewer)
	r.check(err)
	if link.Path() != "/welcome?token="+link.Token {
		t.Errorf("the path is %s", link.Path())
	}
	if got, err := r.FindLink(t.Context(), user.HashOf(link.Token)); err != nil || got.Name != "bia" {
		t.Errorf("the link is of %+v (%v)", got, err)
	}
	_, err = r.SetPassword(t.Context(), user.HashOf(link.Token), "short", home)
	wantKind(t, err, gateway.Invalid, user.CodePassword)
	for _, wrong := range []string{"", "x", link.Token[1:], strings.ToLower(link.Token)} {
		_, err = r.SetPassword(t.Context(), user.HashOf(wrong), goodWord, home)
		wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	}
	r.wait(24*time.Hour - time.Millisecond)
	bia, err := r.SetPassword(t.Context(), user.HashOf(link.Token), goodWord, home)
	r.check(err)
	if bia.Epoch != 1 || bia.Role != gateway.RoleViewer {
		t.Errorf("signed in is %+v", bia)
	}
	_, err = r.SetPassword(t.Context(), user.HashOf(link.Token), "another good one", home)
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	_, err = r.SignIn(t.Context(), "bia", goodWord, home)
	r.check(err)
}

func TestLinkEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleOwner)
	bia := r.add("bia", gateway.RoleOperator)
	_, err := r.NewLink(t.Context(), bia, bia.UserID)
	wantKind(t, err, gateway.Forbidden, gateway.CodeForbidden)
	old, err := r.NewLink(t.Context(), ana, bia.UserID)
	r.check(err)
	replaced, err := r.NewLink(t.Context(), ana, bia.UserID)
	r.check(err)
	if _, err := r.SignIn(t.Context(), "bia", goodWord, home); err != nil {
		t.Errorf("the password ended with the link: %v", err)
	}
	_, err = r.FindLink(t.Context(), user.HashOf(old.Token))
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	r.wait(24 * time.Hour)
	_, err = r.FindLink(t.Context(), user.HashOf(replaced.Token))
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	_, err = r.SetPassword(t.Context(), user.HashOf(replaced.Token), goodWord, home)
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	again, err := r.NewLink(t.Context(), ana, bia.UserID)
	r.check(err)
	_, err = r.ChangePassword(t.Context(), bia, goodWord, "another good one")
	r.check(err)
	_, err = r.FindLink(t.Context(), user.HashOf(again.Token))
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
}

func TestInviteRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleOwner)
	for what, test := range cases.Sorted(map[string]struct {
		name string
		role gateway.Role
		kind gateway.Kind
		code string
	}{
		"a name that is taken": {"ANA", gateway.RoleViewer, gateway.Conflict, user.CodeNameTaken},
		"no name":              {"", gateway.RoleViewer, gateway.Invalid, user.CodeName},
		"a long name":          {strings.Repeat("a", 65), gateway.RoleViewer, gateway.Invalid, user.CodeName},
		"a look-alike":         {"аna", gateway.RoleViewer, gateway.Invalid, user.CodeName}, // the first letter is Cyrillic
		"a space":              {"ana b", gateway.RoleViewer, gateway.Invalid, user.CodeName},
		"a tag":                {"<b>ana", gateway.RoleViewer, gateway.Invalid, user.CodeName},
		"no role":              {"bia", "", gateway.Invalid, gateway.CodeValidation},
		"an unknown role":      {"bia", "admin", gateway.Invalid, gateway.CodeValidation},
	}) {
		_, err := r.Invite(t.Context(), ana, test.name, test.role)
		t.Log(what)
		wantKind(t, err, test.kind, test.code)
	}
	for _, name := range []string{"b", "bia@example.org", "bia.b_c-d+e", strings.Repeat("a", 64)} {
		if _, err := r.Invite(t.Context(), ana, name, gateway.RoleViewer); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// late is a store in which others make users after somebody has looked for them.
type late struct {
	user.Store
	looked bool
}

func (l *late) ListUsers(ctx context.Context, accountID string, request gateway.PageRequest) (gateway.Page[gateway.User], error) {
	if !l.looked {
		l.looked = true
		return gateway.Page[gateway.User]{}, nil
	}
	return l.Store.ListUsers(ctx, accountID, request)
}

// Nodes that start at the same time on an empty database end up with one owner.
func TestFirstOwnerIsMadeOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var names []string
	for range 2 {
		service, err := user.New(user.Config{Store: &late{Store: r.store.Users}, Now: r.clock})
		if err != nil {
			t.Fatal(err)
		}
		link, found, err := service.FirstLink(t.Context(), r.account.ID)
		if err != nil || !found {
			t.Fatalf("there is no link: %v", err)
		}
		names = append(names, link.User.Name)
	}
	if names[0] != names[1] {
		t.Errorf("the owners are %q", names)
	}
}

// At the first start there is a link for the owner, until somebody has a password. Each
// start makes a new one.
func TestFirstLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, found, err := r.FirstLink(t.Context(), r.account.ID)
	if err != nil || !found || first.User.Name != "owner" || first.User.Role != gateway.RoleOwner {
		t.Fatalf("answered %+v, %t (%v)", first, found, err)
	}
	second, found, err := r.FirstLink(t.Context(), r.account.ID)
	if err != nil || !found || second.User.ID != first.User.ID {
		t.Fatalf("the second time answered %+v, %t (%v)", second, found, err)
	}
	_, err = r.FindLink(t.Context(), user.HashOf(first.Token))
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	if started, err := r.Started(t.Context()); err != nil || started {
		t.Errorf("somebody has a password (%v)", err)
	}
	_, err = r.SetPassword(t.Context(), user.HashOf(second.Token), goodWord, home)
	r.check(err)
	if link, found, err := r.FirstLink(t.Context(), r.account.ID); err != nil || found {
		t.Errorf("with a password answered %+v, %t (%v)", link, found, err)
	}
	if started, err := r.Started(t.Context()); err != nil || !started {
		t.Errorf("nobody has a password (%v)", err)
	}
	other := gateway.Account{ID: "other", Name: "other", CreatedAt: r.clock()}
	r.check(r.store.CreateAccount(t.Context(), other))
	if link, found, err := r.FirstLink(t.Context(), other.ID); err != nil || !found || link.User.Name != "owner2" {
		t.Errorf("of another account answered %+v, %t (%v)", link, found, err)
	}
}

// The link of dev signs in as often as one likes, in this process only, and never on
// real data.
func TestDevLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path, err := r.DevLink(t.Context(), r.account.ID)
	r.check(err)
	token, ok := strings.CutPrefix(path, "/welcome?dev=")
	if !ok {
		t.Fatalf("the path is %s", path)
	}
	for range 2 {
		if got, err := r.UseDevLink(t.Context(), token, home); err != nil || got.Role != gateway.RoleOwner || got.AccountID != r.account.ID {
			t.Errorf("signed in is %+v (%v)", got, err)
		}
	}
	_, err = r.UseDevLink(t.Context(), "x"+token, home)
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	_, err = r.another(true).UseDevLink(t.Context(), token, home)
	wantKind(t, err, gateway.Gone, user.CodeLinkEnded)
	if _, err := r.another(false).DevLink(t.Context(), r.account.ID); err == nil {
		t.Error("there is such a link on real data")
	}
}
