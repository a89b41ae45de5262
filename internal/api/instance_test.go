package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestChangeRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	path := "/api/instances/" + f.newInstance(t)
	const proxy = `{"name":"other","proxy":"socks5://ana:segredo@`
	for body, want := range cases.Sorted(map[string][2]string{
		`{"name":""}`:         {gateway.CodeValidation, "name"},
		`{"name":null}`:       {gateway.CodeValidation, "name must not be null"},
		`{"name":"a\u0007b"}`: {gateway.CodeValidation, "control"},
		`{"name":"` + strings.Repeat("n", 256) + `"}`:           {gateway.CodeValidation, "name"},
		`{"name":"other","label":"x"}`:                          {gateway.CodeValidation, "label is not a field"},
		`{"Proxy":"socks5://h"}`:                                {gateway.CodeValidation, "did you mean proxy"},
		`{"name":"other","device":{"title":"x"}}`:               {gateway.CodeValidation, "device.title is not a field"},
		`{"device":"x"}`:                                        {gateway.CodeValidation, "device"},
		`{"device":{"name":""}}`:                                {gateway.CodeValidation, "device.name"},
		`{"device":{"name":"a\u202eb"}}`:                        {gateway.CodeValidation, "device.name"},
		`{"device":{"kind":"fridge"}}`:                          {gateway.CodeValidation, "device.kind"},
		`{"device":{"name":"` + strings.Repeat("é", 51) + `"}}`: {gateway.CodeValidation, "device.name"},
		`{"pace":7}`:                          {gateway.CodeValidation, "pace"},
		`{"pace":{"gap":7}}`:                  {gateway.CodeValidation, "pace.gap is not a field"},
		`{"pace":{"gapSeconds":3600.5}}`:      {gateway.CodeValidation, "pace.gapSeconds"},
		`{"pace":{"gapSeconds":-1}}`:          {gateway.CodeValidation, "pace.gapSeconds"},
		`{"pace":{"jitterSeconds":"4"}}`:      {gateway.CodeValidation, "pace.jitterSeconds"},
		`{"pace":{"perMinute":601}}`:          {gateway.CodeValidation, "pace.perMinute"},
		`{"pace":{"perMinute":1.5}}`:          {gateway.CodeValidation, "pace.perMinute"},
		`{"pace":{"newChatsPerHour":100001}}`: {gateway.CodeValidation, "pace.newChatsPerHour"},
		`{"numberChecks":{"perDay":-1}}`:      {gateway.CodeValidation, "numberChecks.perDay"},
		`{"numberchecks":{"perDay":1}}`:       {gateway.CodeValidation, "did you mean numberChecks"},
		`{"typing":"yes"}`:                    {gateway.CodeValidation, "typing"},
		`{"proxy":7}`:                         {gateway.CodeValidation, "proxy"},
		`{"proxy":""}`:                        {gateway.CodeValidation, "proxy"},
		`{"proxy":"ftp://ana:segredo@h"}`:     {gateway.CodeValidation, "socks5h://"},
		`{"proxy":"http://ana:***@h:3128"}`:   {gateway.CodeValidation, "itself"},
		proxy + `h:99999"}`:                   {gateway.CodeValidation, "port"},
		proxy + `private.example"}`:           {gateway.CodeValidation, "private address"},
		proxy + `gone.example"}`:              {gateway.CodeProxyUnreachable, "can't be reached"},
		proxy + `locked.example"}`:            {gateway.CodeProxyAuthFailed, "user name"},
		proxy + `lonely.example"}`:            {gateway.CodeProxyPlatform, "does not reach the platform"},
	}) {
		r := request{method: http.MethodPatch, path: path, key: f.key, body: body}
		got := f.do(t, r)
		if said := wantRefusal(t, r, got, http.StatusBadRequest, want[0]); !strings.Contains(said.Message, want[1]) {
			t.Errorf("%s: it says %q, which does not say %s", body, said.Message, want[1])
		}
		if strings.Contains(got.Body.String(), "segredo") {
			t.Errorf("%s: the answer has the password: %s", body, got.Body)
		}
	}
	// Nothing of a refused change is done.
	if got := f.do(t, request{path: path, key: f.key}); strings.Contains(got.Body.String(), "other") || strings.Contains(got.Body.String(), "proxy") {
		t.Errorf("after the refusals it is %s", got.Body)
	}
	if strings.Contains(f.log.String(), "segredo") {
		t.Errorf("the log has the password: %s", f.log)
	}
}

// A change is a merge patch: what is absent stays, what is null goes.
func TestChangeIsAMergePatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	path := "/api/instances/" + f.newInstance(t)
	const masked = `"proxy":"http://ana:***@proxy.example:3128"`
	for _, step := range []struct{ body, has, hasNot string }{
		{`{}`, `"name":"phone"`, `"proxy"`},
		{`{"proxy":"http://ana:segredo@proxy.example:3128"}`, masked, `"device"`},
		{`{"device":{"name":"Caixa 1","kind":"edge"}}`, masked + `,"device":{"name":"Caixa 1","kind":"edge"}`, "proxyProblem"},
		{`{` + masked + `,"name":"loja"}`, `"name":"loja"`, "segredo"},
		{`{"device":{"kind":null}}`, `"device":{"name":"Caixa 1"}`, "edge"},
		{`{"device":{"kind":"ipad"}}`, `"device":{"name":"Caixa 1","kind":"ipad"}`, "segredo"},
		{`{"device":{"name":null},"device":{"name":"Caixa 2"}}`, `"device":{"name":"Caixa 2","kind":"ipad"}`, "Caixa 1"}, // the last one counts
		{`{"device":null}`, masked, `"device"`},
		{`{"proxy":null}`, `"name":"loja"`, `"proxy"`},
		{`{"pace":{"gapSeconds":2.0504,"perMinute":9}}`, `"pace":{"gapSeconds":2.05,"perMinute":9},"createdAt"`, "typing"},
		{`{"pace":{"jitterSeconds":1,"newChatsPerHour":3,"newChatsPerDay":20}}`, `"pace":{"gapSeconds":2.05,"jitterSeconds":1,"perMinute":9,"newChatsPerHour":3,"newChatsPerDay":20}`, "numberChecks"},
		{`{"pace":{"gapSeconds":null,"jitterSeconds":0},"typing":true}`, `"pace":{"perMinute":9,"newChatsPerHour":3,"newChatsPerDay":20},"typing":true`, "Seconds"},
		{`{"numberChecks":{"perHour":100}}`, `"typing":true,"numberChecks":{"perHour":100}`, "perDay"},
		{`{"numberChecks":{"perHour":null,"perDay":500}}`, `"numberChecks":{"perDay":500}`, "perHour\":100"},
		{`{"pace":null,"typing":null,"numberChecks":null}`, `"messengerProfilePicUrl":"","createdAt"`, "typing"},
	} {
		got := f.do(t, request{method: http.MethodPatch, path: path, key: f.key, body: step.body})
		if body := got.Body.String(); got.Code != http.StatusOK || !strings.Contains(body, step.has) || strings.Contains(body, step.hasNot) {
			t.Errorf("%s: %d %s, want %s and not %s", step.body, got.Code, body, step.has, step.hasNot)
		}
		if shown := f.do(t, request{path: path, key: f.key}); shown.Body.String() != got.Body.String() {
			t.Errorf("%s: it was answered %s, and is shown as %s", step.body, got.Body, shown.Body)
		}
		if step.body == `{`+masked+`,"name":"loja"}` {
			kept, err := f.instances.Get(t.Context(), strings.TrimPrefix(path, "/api/instances/"))
			if err != nil || string(kept.Proxy) != "http://ana:segredo@proxy.example:3128" {
				t.Errorf("the masked URL changed the password (%v)", err)
			}
		}
	}
	stranger := request{method: http.MethodPatch, path: path, body: `{"name":"x"}`}
	wantRefusal(t, stranger, f.do(t, stranger), http.StatusUnauthorized, gateway.CodeUnauthorized)
}
