package user_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

// Only owners work with users, and nobody with those of another account.
func TestOnlyOwnersWorkWithUsers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, bia := r.add("ana", gateway.RoleOwner), r.add("bia", gateway.RoleOperator)
	r.check(r.store.CreateAccount(t.Context(), gateway.Account{ID: "other", Name: "other", CreatedAt: r.clock()}))
	stranger := user.Actor{AccountID: "other", Name: "eva", Role: gateway.RoleOwner}
	for name, do := range cases.Sorted(map[string]func(actor user.Actor) error{
		"SetRole": func(actor user.Actor) error {
			return r.SetRole(t.Context(), actor, bia.UserID, gateway.RoleOwner)
		},
		"Delete":            func(actor user.Actor) error { return r.Delete(t.Context(), actor, bia.UserID) },
		"SignOutEverywhere": func(actor user.Actor) error { return r.SignOutEverywhere(t.Context(), actor, ana.UserID) },
		"NewLink": func(actor user.Actor) error {
			_, err := r.NewLink(t.Context(), actor, bia.UserID)
			return err
		},
	}) {
		t.Log(name)
		wantKind(t, do(bia), gateway.Forbidden, gateway.CodeForbidden)
		wantKind(t, do(stranger), gateway.NotFound, gateway.CodeNotFound)
	}
	for name, do := range cases.Sorted(map[string]func() error{
		"Invite": func() error { _, err := r.Invite(t.Context(), bia, "caio", gateway.RoleViewer); return err },
		"List":   func() error { _, err := r.List(t.Context(), bia, gateway.PageRequest{Page: 1, Limit: 9}); return err },
		"ListAudit": func() error {
			_, err := r.ListAudit(t.Context(), bia, gateway.PageRequest{Page: 1, Limit: 9})
			return err
		},
	}) {
		t.Log(name)
		wantKind(t, do(), gateway.Forbidden, gateway.CodeForbidden)
	}
	page, err := r.List(t.Context(), ana, gateway.PageRequest{Page: 1, Limit: 9})
	if err != nil || page.Total != 2 || page.Items[1].Role != gateway.RoleOperator {
		t.Errorf("listed %+v (%v)", page, err)
	}
}

func TestRolesAndDeletion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, bia := r.add("ana", gateway.RoleOwner), r.add("bia", gateway.RoleOperator)
	wantKind(t, r.SetRole(t.Context(), ana, ana.UserID, gateway.RoleViewer), gateway.Conflict, user.CodeLastOwner)
	wantKind(t, r.Delete(t.Context(), ana, ana.UserID), gateway.Conflict, user.CodeLastOwner)
	wantKind(t, r.SetRole(t.Context(), ana, bia.UserID, "admin"), gateway.Invalid, gateway.CodeValidation)
	r.check(r.SetRole(t.Context(), ana, bia.UserID, gateway.RoleOwner))
	r.check(r.Delete(t.Context(), ana, ana.UserID))
	_, err := r.SignIn(t.Context(), "ana", goodWord, home)
	wantKind(t, err, gateway.Unauthorized, user.CodeWrongPassword)
	_, err = r.Get(t.Context(), ana.UserID)
	wantKind(t, err, gateway.NotFound, gateway.CodeNotFound)
	if got, err := r.Get(t.Context(), bia.UserID); err != nil || got.Role != gateway.RoleOwner {
		t.Errorf("the user is %+v (%v)", got, err)
	}
}

// What was done is in the list, newest first, clean, and for as long as it is kept.
func TestAuditList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleOwner)
	r.wait(time.Minute)
	r.Record(t.Context(), ana, user.ActionInstanceDeleted, "sh\u202eop\n", strings.Repeat("x", 1000))
	r.check(r.SetRole(t.Context(), ana, r.add("bia", gateway.RoleViewer).UserID, gateway.RoleOperator))
	page, err := r.ListAudit(t.Context(), ana, gateway.PageRequest{Page: 1, Limit: 100})
	r.check(err)
	var got []string
	for _, entry := range page.Items {
		got = append(got, fmt.Sprintf("%s %s %s %.10s", entry.UserName, entry.Action, entry.Subject, entry.Detail))
	}
	const want = `ana role_changed bia operator
bia signed_in  link
bia password_set  
command line user_invited bia viewer
ana instance_deleted shop xxxxxxxxxx
ana signed_in  link
ana password_set  
command line user_invited ana owner`
	if strings.Join(got, "\n") != want {
		t.Errorf("the list is\n%s", strings.Join(got, "\n"))
	}
	if entry := page.Items[4]; len(entry.Detail) != gateway.MaxName || entry.Address != home || !entry.At.Equal(r.clock()) {
		t.Errorf("the entry is %+v", entry)
	}
	r.wait(400*24*time.Hour - time.Second)
	r.check(r.Sweep(t.Context()))
	if page, err = r.ListAudit(t.Context(), ana, gateway.PageRequest{Page: 1, Limit: 1}); err != nil || page.Total != 5 {
		t.Errorf("after 400 days %d entries are left (%v)", page.Total, err)
	}
}
