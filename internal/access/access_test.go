package access_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
)

// clock is a wall clock that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newStore(t *testing.T) *store.Store {
	t.Helper()
	opened, err := store.Open(t.Context(), store.Config{
		Path: database.File(t), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

func newService(t *testing.T) (*access.Service, gateway.Account, *clock) {
	t.Helper()
	opened := newStore(t)
	c := &clock{now: time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)}
	service, err := access.New(access.Config{Store: opened, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	account, err := service.EnsureAccount(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	return service, account, c
}

// late is a store in which others make an account after somebody has looked for it.
type late struct {
	access.Store
	looked bool
}

func (l *late) FindAccount(ctx context.Context, name string) (gateway.Account, bool, error) {
	if !l.looked {
		l.looked = true
		return gateway.Account{}, false, nil
	}
	return l.Store.FindAccount(ctx, name)
}

// Nodes that start at the same time on an empty database end up with one account.
func TestAccountIsMadeOnce(t *testing.T) {
	t.Parallel()
	opened := newStore(t)
	var accounts []gateway.Account
	for range 2 {
		service, err := access.New(access.Config{Store: &late{Store: opened}})
		if err != nil {
			t.Fatal(err)
		}
		account, err := service.EnsureAccount(t.Context(), "shop")
		if err != nil {
			t.Fatal(err)
		}
		accounts = append(accounts, account)
	}
	if accounts[0].ID == "" || accounts[0].ID != accounts[1].ID {
		t.Errorf("the accounts are %+v", accounts)
	}
}

func refused(err error) bool { return gateway.KindOf(err) == gateway.Unauthorized }

func TestAuthenticateFollowsTheLifeOfAKey(t *testing.T) {
	t.Parallel()
	service, account, clock := newService(t)
	made, secret, err := service.CreateKey(t.Context(), access.KeyParams{
		AccountID: account.ID, Name: "till", ExpiresAt: clock.now.Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := service.Authenticate(t.Context(), secret)
	if err != nil || got.ID != made.ID {
		t.Fatalf("answered %+v (%v)", got, err)
	}
	for name, wrong := range cases.Sorted(map[string]string{
		"none": "", "mistyped": secret[:len(secret)-1] + "!", "unknown": "some-other-secret",
	}) {
		if _, err := service.Authenticate(t.Context(), wrong); !refused(err) {
			t.Errorf("%s: answered %v", name, err)
		}
	}
	clock.now = clock.now.Add(time.Hour)
	if _, err := service.Authenticate(t.Context(), secret); !refused(err) {
		t.Errorf("expired: answered %v", err)
	}
	clock.now = clock.now.Add(-time.Hour)
	if err := service.RevokeKey(t.Context(), account.ID, made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Authenticate(t.Context(), secret); !refused(err) {
		t.Errorf("revoked: answered %v", err)
	}
}

func TestKeyOfAnotherAccountCannotBeRevoked(t *testing.T) {
	t.Parallel()
	service, account, _ := newService(t)
	other, err := service.EnsureAccount(t.Context(), "clinic")
	if err != nil {
		t.Fatal(err)
	}
	made, secret, err := service.CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "till"})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.RevokeKey(t.Context(), other.ID, made.ID); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("answered %v", err)
	}
	if _, err := service.Authenticate(t.Context(), secret); err != nil {
		t.Errorf("the key no longer works: %v", err)
	}
}

func TestLastUseIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	service, account, clock := newService(t)
	_, secret, err := service.CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "till"})
	if err != nil {
		t.Fatal(err)
	}
	first := clock.now
	for _, step := range []struct{ after, want time.Duration }{{0, 0}, {30 * time.Second, 0}, {61 * time.Second, 61 * time.Second}} {
		clock.now = first.Add(step.after)
		if _, err := service.Authenticate(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		if got := lastUsed(t, service, account.ID); !got.Equal(first.Add(step.want)) {
			t.Errorf("after %s: last used %s", step.after, got)
		}
	}
}

func lastUsed(t *testing.T, service *access.Service, accountID string) time.Time {
	t.Helper()
	page, err := service.ListKeys(context.Background(), accountID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("listed %+v (%v)", page, err)
	}
	return page.Items[0].LastUsedAt
}

func TestOwnSecretIsCheckedAndWorks(t *testing.T) {
	t.Parallel()
	service, account, _ := newService(t)
	const own = "a-key-for-continuous-integration"
	if _, _, err := service.CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "CI", Secret: own}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Authenticate(t.Context(), own); err != nil {
		t.Error(err)
	}
	if _, _, err := service.CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "CI", Secret: own}); gateway.KindOf(err) != gateway.Conflict || !strings.Contains(err.Error(), gateway.CodeKeyValueTaken) {
		t.Errorf("one that there is already is answered %v", err)
	}
	if _, _, err := service.CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "CI", Secret: "short"}); gateway.KindOf(err) != gateway.Invalid {
		t.Errorf("a short one is answered %v", err)
	}
}
