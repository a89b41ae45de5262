package docpages_test

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/dashboard/docpages"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

// described is an API of three operations.
func described() *reference.Reference {
	instance := reference.Field{Name: "instanceId", Type: "string", Where: "path", Required: true, Example: "019aa1f4"}
	refused := reference.Code{Name: "VALIDATION_ERROR", Status: 400, Text: "Bad Request", Meaning: "A field is wrong."}
	return &reference.Reference{
		About: []reference.Text{"An API.", "Refusals have an `error`."},
		Groups: []reference.Group{
			{Name: "Messages", Anchor: "messages", Description: "About `them`.", Operations: []reference.Operation{{
				ID: "sendText", Method: "POST", Path: "/api/message/{instanceId}/text", Summary: "Send a text", Description: "It is `formatted` & <sent>.",
				Parameters: []reference.Field{instance, {Name: "Prefer", Type: "string", Where: "header"}},
				Body:       []reference.Field{{Name: "to", Type: "string", Required: true, Rules: []reference.Text{"not blank"}, Description: "A number."}, {Name: "contact.fullName", Type: "string"}},
				Request:    "{\n  \"to\": \"5511988887766\"\n}", Status: 201, StatusText: "Created", Answer: []reference.Field{{Name: "id", Type: "string"}}, Example: "{}",
				Refusals: []reference.Code{refused},
			}}},
			{Name: "Chats", Anchor: "chats", Operations: []reference.Operation{
				{ID: "deleteChat", Method: "DELETE", Path: "/api/chats/{instanceId}", Summary: "Delete a chat", Parameters: []reference.Field{instance}, Audience: reference.Partners, Destructive: true, Status: 204},
				{ID: "getHealth", Method: "GET", Path: "/healthz", Summary: "Get the health", Audience: reference.Everybody, Status: 200, Stream: true},
			}},
		},
		Codes: []reference.Code{refused},
	}
}

// The list has every operation and leads to its page, also from where it was on the page of all.
func TestListOfOperations(t *testing.T) {
	t.Parallel()
	page := newRig(t, nil).page(t, "/docs/api")
	for _, want := range []string{
		`<li id="sendText" data-words="sendText instanceId Prefer to fullName id"><a href="/docs/api/sendText"><span class="method POST">POST</span>Send a text</a><code>/api/message/{instanceId}/text</code>`,
		`<section class="stack api-group" id="messages" lang="en">`, "About <code>them</code>.", `href="/docs/api/deleteChat"`, `href="/docs/api/getHealth"`,
		`<li id="message.received" data-words=""><a href="/docs/events#messagereceived">`, `id="errors"`, `href="/openapi.yaml"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if errs := newRig(t, nil).page(t, "/docs/api/errors"); !strings.Contains(errs, `<div id="VALIDATION_ERROR"><dt><code>VALIDATION_ERROR</code> <span class="muted small">400 Bad Request</span></dt><dd>A field is wrong.</dd>`) {
		t.Error("the page of all errors does not explain one")
	}
}

func TestPageOfAnOperation(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	page := r.page(t, "/docs/api/sendText")
	for _, want := range []string{
		`<h1 lang="en">Send a text</h1>`, "It is <code>formatted</code> &amp; &lt;sent&gt;.", `<code>contact.fullName</code>`, "not blank", "201 Created",
		`<a href="/docs/api/errors#VALIDATION_ERROR">`, `<a class="button" href="/docs/api/deleteChat" rel="next">`, `aria-current="page">Send a text</a>`, `<a href="/docs/api#chats">Chats</a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if strings.Contains(page, `rel="prev"`) || strings.Contains(page, `id="try"`) {
		t.Error("it leads before the first, or can be tried by nobody")
	}
	code := html.UnescapeString(regexp.MustCompile(`</?span[^>]*>`).ReplaceAllString(page, ""))
	for _, want := range []string{
		"curl 'http://example.com/api/message/019aa1f4/text' \\\n  -H 'x-api-key: YOUR_API_KEY'", `await fetch("http://example.com/api/message/019aa1f4/text"`,
		"urllib.request.Request(\n    \"http://example.com/api/", "stream_context_create", `http.NewRequest("POST", "http://example.com/api/`,
	} {
		if !strings.Contains(code, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if last := r.page(t, "/docs/api/getHealth"); strings.Contains(last, `rel="next"`) || strings.Contains(last, "<span data-key>") {
		t.Error("something is behind the last, or what everybody may ask for needs a key")
	}
}

// oneAccount has instances, and makes keys.
type oneAccount struct {
	instances []gateway.Instance
	made      []access.KeyParams
}

func (a *oneAccount) Search(context.Context, gateway.Key, string, gateway.PageRequest) (gateway.Page[gateway.Instance], error) {
	return gateway.Page[gateway.Instance]{Items: a.instances, Total: len(a.instances)}, nil
}

func (a *oneAccount) CreateKey(_ context.Context, params access.KeyParams) (gateway.Key, string, error) {
	a.made = append(a.made, params)
	return gateway.Key{Name: params.Name}, "rcd_secret", nil
}

func now() time.Time { return time.Date(2026, 11, 20, 14, 22, 10, 0, time.UTC) }

// ask makes a request as a user of a role; empty: as a stranger.
func (r *rig) ask(t *testing.T, role gateway.Role, method, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	ctx := t.Context()
	if role != "" {
		ctx = frame.WithVisitor(ctx, frame.Visitor{Actor: user.Actor{UserID: "1", Role: role}, Key: gateway.Key{AccountID: "a"}})
	}
	request := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept-Encoding", "gzip")
	request.Header.Set("HX-Request", "true")
	answer := httptest.NewRecorder()
	r.pages.ServeHTTP(answer, request)
	return answer
}

// The form begins with an instance of one's own, and offers what one may do.
func TestFormOfARequest(t *testing.T) {
	t.Parallel()
	account := &oneAccount{instances: []gateway.Instance{{ID: "0a", Name: "old"}, {ID: "0b", Name: "shop <1>", Status: gateway.StatusConnected}}}
	for name, c := range cases.Sorted(map[string]struct {
		role    gateway.Role
		path    string
		sandbox bool
		want    []string
		never   []string
	}{
		"an owner": {
			gateway.RoleOwner, "/docs/api/sendText", true,
			[]string{`<option value="0b" selected>`, "shop &lt;1&gt;", `hx-post="/docs/api/key"`, "/api/message/0b/text", `data-needs=""`, "&#34;5511988887766&#34;", "it reaches no people"},
			[]string{"019aa1f4", "Sign in to"},
		},
		"an operator":            {gateway.RoleOperator, "/docs/api/sendText", true, []string{`<option value="0b" selected>`, "Ask an owner for one."}, []string{"/docs/api/key"}},
		"a stranger":             {"", "/docs/api/sendText", true, []string{`value="019aa1f4"`, "Sign in to choose"}, []string{"shop", "/docs/api/key"}},
		"where people are":       {gateway.RoleOwner, "/docs/api/sendText", false, []string{`data-needs="another-body"`, "messages reach people"}, nil},
		"what can't be undone":   {gateway.RoleOwner, "/docs/api/deleteChat", true, []string{`data-needs="a-word"`, "Partner key"}, []string{`id="try-body"`}},
		"what everybody may ask": {gateway.RoleOwner, "/docs/api/getHealth", false, []string{`data-needs=""`}, []string{`id="try-key"`}},
	}) {
		r := newTrying(t, nil, &docpages.Try{Instances: account, Keys: account, Sandbox: c.sandbox, Now: now})
		answer := r.ask(t, c.role, http.MethodGet, c.path, nil)
		page := answer.Body.String()
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s: it lacks %s", name, want)
			}
		}
		for _, never := range c.never {
			if strings.Contains(page, never) {
				t.Errorf("%s: it has %s", name, never)
			}
		}
	}
}

// The samples are those of what was filled in.
func TestSamplesOfTheForm(t *testing.T) {
	t.Parallel()
	account := new(oneAccount)
	r := newTrying(t, nil, &docpages.Try{Instances: account, Keys: account, Now: now})
	answer := r.ask(t, "", http.MethodPost, "/docs/api/sendText/samples", url.Values{"path.instanceId": {"a'b"}, "header.Prefer": {"respond-async"}, "body": {`{"to": "</pre><script>"}`}})
	shown := answer.Body.String()
	if answer.Code != http.StatusOK || strings.Contains(shown, "<script>") || strings.Contains(shown, "<html") {
		t.Fatalf("%d: %s", answer.Code, shown)
	}
	for _, want := range []string{"/api/message/a%27b/text", "Prefer: respond-async", "</pre><script>"} {
		if !strings.Contains(html.UnescapeString(shown), want) {
			t.Errorf("they lack %s: %s", want, shown)
		}
	}
	for path, form := range cases.Sorted(map[string]url.Values{"/docs/api/nothing/samples": nil, "/docs/api/key": {"operation": {"sendText"}}}) {
		if got := r.ask(t, "", http.MethodPost, path, form); got.Code < 400 {
			t.Errorf("%s: status %d", path, got.Code)
		}
	}
	if got := r.ask(t, "", http.MethodPost, "/docs/api/sendText/samples", url.Values{"body": {strings.Repeat("x", 300<<10)}}); got.Code < 400 {
		t.Errorf("a large body: status %d", got.Code)
	}
}

// A key for the page works for a day, may do no more than the operation needs, and is shown to owners alone.
func TestKeyForThePage(t *testing.T) {
	t.Parallel()
	account := new(oneAccount)
	r := newTrying(t, nil, &docpages.Try{Instances: account, Keys: account, Now: now})
	for _, role := range []gateway.Role{"", gateway.RoleViewer, gateway.RoleOperator} {
		if got := r.ask(t, role, http.MethodPost, "/docs/api/key", url.Values{"operation": {"sendText"}}); got.Code < 400 || len(account.made) > 0 {
			t.Errorf("%q: status %d", role, got.Code)
		}
	}
	for operation, partner := range cases.Sorted(map[string]bool{"sendText": false, "deleteChat": true}) {
		account.made = nil
		got := r.ask(t, gateway.RoleOwner, http.MethodPost, "/docs/api/key", url.Values{"operation": {operation}})
		if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `value="rcd_secret"`) || got.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d, %v: %s", got.Code, got.Header(), got.Body)
		}
		want := access.KeyParams{AccountID: "a", Name: "API reference", Partner: partner, ExpiresAt: now().Add(24 * time.Hour)}
		if len(account.made) != 1 || account.made[0].Partner != want.Partner || account.made[0].ExpiresAt != want.ExpiresAt || account.made[0].AccountID != want.AccountID || account.made[0].Name != want.Name {
			t.Errorf("%s: %+v", operation, account.made)
		}
	}
	if got := r.ask(t, gateway.RoleOwner, http.MethodPost, "/docs/api/key", url.Values{"operation": {"nothing"}}); got.Code != http.StatusNotFound {
		t.Errorf("for no operation: status %d", got.Code)
	}
}
