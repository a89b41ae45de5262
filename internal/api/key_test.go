package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A restricted key creates, sees and revokes only keys within its own scope and time.
func TestRestrictedPartnerKeyStaysWithinItself(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id, other := f.newInstance(t), f.newInstance(t)
	until := now().Add(time.Hour)
	restricted := f.newKey(t, access.KeyParams{
		AccountID: f.account.ID, Name: "restricted", Partner: true, InstanceIDs: []string{id}, ExpiresAt: until,
	})
	within := `"instanceIds":["` + id + `"]`
	for _, test := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"name":"a",` + within + `,"expiresAt":"2026-11-20T15:22:10.123Z"}`, 201, ""},
		{`{"name":"a",` + within + `,"expiresAt":"2026-11-20T15:00:00Z","partner":true}`, 201, ""},
		{`{"name":"a",` + within + `,"expiresAt":"2026-11-20T15:22:10.124Z"}`, 403, "set expiresAt to 2026-11-20T15:22:10.123Z at the latest"},
		{`{"name":"a",` + within + `}`, 403, "ends later than itself"},
		{`{"name":"a",` + within + `,"expiresAt":null}`, 403, "ends later than itself"},
		{`{"name":"a","expiresAt":"2026-11-20T15:00:00Z"}`, 403, "a wider scope than its own"},
		{`{"name":"a","instanceIds":["` + id + `","` + other + `"],"expiresAt":"2026-11-20T15:00:00Z"}`, 403, "a wider scope than its own"},
	} {
		r := request{method: post, path: "/api/partner/api-keys", key: restricted, body: test.body}
		got := f.do(t, r)
		if got.Code != test.status {
			t.Errorf("%s: answered %d %s", test.body, got.Code, got.Body)
		} else if got.Code == http.StatusForbidden {
			if body := wantRefusal(t, r, got, 403, gateway.CodeForbidden); !strings.Contains(body.Message, test.says) {
				t.Errorf("%s: it says %q", test.body, body.Message)
			}
		}
	}
	listed := f.do(t, request{path: "/api/partner/api-keys", key: restricted}).Body.String()
	if !strings.Contains(listed, `"totalCount":3`) || strings.Contains(listed, `"name":"partner"`) {
		t.Errorf("it sees %s", listed)
	}
	page, err := f.access.ListKeys(t.Context(), f.account.ID, gateway.PageRequest{Page: 1, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range page.Items {
		r := request{method: destroy, path: "/api/partner/api-keys/" + key.ID, key: restricted}
		switch key.Name {
		case "a":
			if got := f.do(t, r); got.Code != http.StatusNoContent {
				t.Errorf("its own is not revoked: %d", got.Code)
			}
		case "all", "partner":
			wantRefusal(t, r, f.do(t, r), http.StatusNotFound, gateway.CodeNotFound)
		}
	}
	if got := f.do(t, request{path: "/api/partner/api-keys", key: f.partner}); got.Code != http.StatusOK {
		t.Errorf("the partner key of the account opens nothing any more: %d", got.Code)
	}
	r := request{method: post, path: "/api/partner/instances", key: restricted, body: `{"name":"a"}`}
	wantRefusal(t, r, f.do(t, r), http.StatusForbidden, gateway.CodeForbidden)
}

// A list of instances that is null by mistake does not grant access to all.
func TestNullIsNotAllInstances(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	const says = "instanceIds must not be null: leave it out for all instances of the account"
	for _, body := range []string{
		`{"name":"a","instanceIds":null}`,
		`{"name":"a","instanceIds":["` + id + `"],"instanceIds":null}`,
		`{"instanceIds":["` + id + `"],"name":"a","instanceId\u0073":null}`,
	} {
		r := request{method: post, path: "/api/partner/api-keys", key: f.partner, body: body}
		if refused := wantRefusal(t, r, f.do(t, r), http.StatusBadRequest, gateway.CodeValidation); refused.Message != says {
			t.Errorf("%s: it says %q", body, refused.Message)
		}
	}
	r := request{method: post, path: "/api/partner/api-keys", key: f.partner, body: `{"name":"a","instanceIds":null,"instanceIds":["` + id + `"]}`}
	if got := f.do(t, r); got.Code != http.StatusCreated || !strings.Contains(got.Body.String(), `"instanceIds":["`+id+`"]`) {
		t.Errorf("answered %d %s", got.Code, got.Body)
	}
}

// A misspelt restriction must not grant access to everything.
func TestMisspeltRestrictionIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for given, meant := range cases.Sorted(map[string]string{
		`"instanceids":["x"]`: "instanceIds", `"instanceId":"x"`: "instanceIds", `"instance_ids":["x"]`: "instanceIds",
		`"instanceIds ":["x"]`: "instanceIds", `"expires":"2030-01-01T00:00:00Z"`: "expiresAt", `"expires_at":1`: "expiresAt",
	}) {
		r := request{method: post, path: "/api/partner/api-keys", key: f.partner, body: `{"name":"a",` + given + `}`}
		refused := wantRefusal(t, r, f.do(t, r), http.StatusBadRequest, gateway.CodeValidation)
		if !strings.HasSuffix(refused.Message, "is not a field of this operation; did you mean "+meant+"?") {
			t.Errorf("%s: it says %q", given, refused.Message)
		}
	}
	r := request{method: post, path: "/api/partner/api-keys", key: f.partner, body: `{"name":"a","team":"sales"}`}
	if got := f.do(t, r); got.Code != http.StatusCreated {
		t.Errorf("a field that is only unknown: %d %s", got.Code, got.Body)
	}
}

func TestMissingPartnerKeySaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	r := request{method: post, path: "/api/partner/instances", key: f.key, body: `{"name":"a"}`}
	if body := wantRefusal(t, r, f.do(t, r), http.StatusForbidden, gateway.CodeForbidden); !strings.Contains(body.Message, "recado keys create --name NAME --partner") {
		t.Errorf("it says %q", body.Message)
	}
}
