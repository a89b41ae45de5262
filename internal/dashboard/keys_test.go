package dashboard_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

var shownSecret = regexp.MustCompile(`rcd_[0-9A-Za-z]+`)

func TestKeyIsMadeUsedAndRevoked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	desk, till := r.instance("Desk"), r.instance("Till")
	r.has(r.show(gateway.RoleOwner, "/keys"), "No API keys yet")
	r.has(r.show(gateway.RoleOwner, "/keys/new"), desk, till, "Till")

	got := r.ask(gateway.RoleOwner, http.MethodPost, "/keys", url.Values{
		"name": {"Shop <1>"}, "scope": {"some"}, "instance": {till, desk, till}, "days": {"30"}, "partner": {"yes"},
	}, false)
	secret := shownSecret.FindString(got.body)
	key, err := r.access.Authenticate(t.Context(), secret)
	if got.status != http.StatusOK || err != nil || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("answered %+v, and the key is %+v (%v)", got, key, err)
	}
	if left := time.Until(key.ExpiresAt); !key.Partner || len(key.InstanceIDs) != 2 || left < 29*24*time.Hour || left > 30*24*time.Hour {
		t.Errorf("the key is %+v", key)
	}
	if entries := r.recorded(); entries != "key_created Shop <1>" {
		t.Errorf("recorded %q", entries)
	}
	page := r.show(gateway.RoleOwner, "/keys")
	r.has(page, "Shop &lt;1&gt;", "Valid", "partner", ">Desk</li>", ">Till</li>")
	r.hasNot(page, secret, "Cloud API", "operation refused")
	for _, refused := range []gateway.RefusedOperation{{}, {Operation: "rabbitmq/set", Reason: "use a <webhook>"}} {
		if err := r.access.Spoke(t.Context(), secret, "evolution", refused); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.access.Spoke(t.Context(), secret, "cloud", gateway.RefusedOperation{}); err != nil {
		t.Fatal(err)
	}
	r.has(r.show(gateway.RoleOwner, "/keys"), "Evolution API", "one operation refused", "rabbitmq/set", "use a &lt;webhook&gt;", "Cloud API")

	got = r.post(gateway.RoleOwner, "/keys/"+key.ID+"/revoke", nil)
	if got.status != http.StatusNoContent || got.header.Get("Hx-Redirect") != "/keys" {
		t.Errorf("answered %+v", got)
	}
	if _, err := r.access.Authenticate(t.Context(), secret); gateway.KindOf(err) != gateway.Unauthorized {
		t.Errorf("the revoked key works: %v", err)
	}
	page = r.show(gateway.RoleOwner, "/keys")
	r.has(page, "Revoked")
	r.hasNot(page, "/revoke")
	if got := r.post(gateway.RoleOwner, "/keys/"+uuid.NewString()+"/revoke", nil); got.status != http.StatusNotFound {
		t.Errorf("a key that is not there: answered %d", got.status)
	}
}

func TestNewKeyIsChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	other := gateway.Account{ID: uuid.NewString(), Name: "other"}
	r.check(r.store.CreateAccount(t.Context(), other))
	foreign := uuid.NewString()
	r.check(r.store.CreateInstance(t.Context(), gateway.Instance{ID: foreign, AccountID: other.ID, Name: "Foreign"}))
	for name, form := range cases.Sorted(map[string]url.Values{
		"no name":          {"scope": {"all"}},
		"a blank name":     {"scope": {"all"}, "name": {"  "}},
		"a long name":      {"scope": {"all"}, "name": {strings.Repeat("x", 256)}},
		"no instance":      {"name": {"Shop"}, "scope": {"some"}},
		"no scope":         {"name": {"Shop"}},
		"a foreign one":    {"name": {"Shop"}, "scope": {"some"}, "instance": {id, foreign}},
		"no days":          {"name": {"Shop"}, "scope": {"all"}, "days": {"x"}},
		"days of the past": {"name": {"Shop"}, "scope": {"all"}, "days": {"-1"}},
	}) {
		if got := r.post(gateway.RoleOwner, "/keys", form); got.status != http.StatusBadRequest || shownSecret.MatchString(got.body) {
			t.Errorf("%s: answered %d %s", name, got.status, got.body)
		}
	}
	keys, err := r.access.ListKeys(t.Context(), r.account.ID, gateway.PageRequest{Page: 1, Limit: 1})
	if err != nil || keys.Total != 0 {
		t.Errorf("there are %d keys (%v)", keys.Total, err)
	}
}

// All keys are reached from page to page, the newest first.
func TestAllKeysAreReached(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const all = 1_002
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range all {
		r.check(r.store.CreateKey(t.Context(), gateway.Key{
			ID: uuid.NewString(), AccountID: r.account.ID, Name: fmt.Sprintf("key %04d", n), Hash: access.Hash(fmt.Sprint(n)),
			CreatedAt: start.Add(time.Duration(n) * time.Second),
		}))
	}
	next := regexp.MustCompile(`href="(/keys\?page=\d+)"`)
	var names []string
	for path := "/keys"; path != ""; {
		page := r.show(gateway.RoleOwner, path)
		found := regexp.MustCompile(`class="name"[^>]*>(key \d+)<`).FindAllStringSubmatch(page, -1)
		if len(names)+len(found) < all && len(found) != 50 {
			t.Errorf("%s has %d rows", path, len(found))
		}
		for _, name := range found {
			names = append(names, name[1])
		}
		path = ""
		if link := next.FindStringSubmatch(page); link != nil {
			path = link[1]
		}
	}
	for n, name := range names {
		if want := fmt.Sprintf("key %04d", all-1-n); name != want {
			t.Fatalf("%s is at place %d, want %s", name, n, want)
		}
	}
	if len(names) != all {
		t.Errorf("the pages have %d keys", len(names))
	}
	r.has(r.show(gateway.RoleOwner, "/keys?page=99"), "No more keys")
}
