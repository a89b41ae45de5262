package dashboard_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// endpoint answers with a status that a test sets, and a text that wants to be HTML.
func endpoint(t *testing.T, status int) (address string, answer *atomic.Int64) {
	t.Helper()
	answer = new(atomic.Int64)
	answer.Store(int64(status))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(answer.Load()))
		_, _ = w.Write([]byte("<script>alert(1)</script>"))
	}))
	t.Cleanup(server.Close)
	return server.URL, answer
}

// awaitDelivered waits until no event of an instance waits for its delivery.
func (r *rig) awaitDelivered(instanceID string) {
	r.t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	pending := func() int64 {
		conditions, err := r.webhooks.Conditions(r.t.Context(), []string{instanceID})
		r.check(err)
		waiting := int64(0)
		for _, condition := range conditions[instanceID] {
			waiting += condition.Pending
		}
		return waiting
	}
	for pending() > 0 {
		select {
		case <-tick.C:
		case <-late.C:
			r.t.Fatal("the events are never delivered")
		}
	}
}

// A webhook for all instances hears those of others too: only owners see where they are heard.
func TestAccountWebhooksAreForOwnersAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.post(gateway.RoleOwner, "/webhooks", url.Values{"url": {"http://192.0.2.1/all?key=secret"}, "secret": {"new"}, "active": {"yes"}})
	path := got.header.Get("HX-Redirect")
	if got.status != http.StatusNoContent || path == "" {
		t.Fatalf("answered %+v", got)
	}
	if entries := r.recorded(); entries != "webhook_saved 192.0.2.1" {
		t.Errorf("recorded %q", entries)
	}
	r.has(r.show(gateway.RoleOwner, path), "http://192.0.2.1/all?key=secret", "whsec_")
	for _, path := range []string{"/webhooks", path, "/webhooks/new"} {
		if got := r.get(gateway.RoleOperator, path); got.status != http.StatusForbidden || strings.Contains(got.body, "192.0.2.1") {
			t.Errorf("an operator gets %+v", got)
		}
	}
	if got := r.post(gateway.RoleOwner, path, url.Values{"url": {"ftp://192.0.2.1"}}); got.status != http.StatusBadRequest {
		t.Errorf("a wrong address is answered %+v", got)
	}
	r.has(r.show(gateway.RoleOwner, path), "http://192.0.2.1/all?key=secret")
	if got := r.get(gateway.RoleOwner, "/webhooks/"+uuid.NewString()); got.status != http.StatusNotFound {
		t.Errorf("one that is not there is answered %+v", got)
	}
}

// The app secret is set and removed by owners, and no page and no entry shows it.
func TestAppSecret(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const secret = "7f3a5c1e9b2d"
	if got := r.post(gateway.RoleOperator, "/webhooks/app-secret", url.Values{"appSecret": {secret}}); got.status != http.StatusForbidden {
		t.Errorf("an operator gets %+v", got)
	}
	if got := r.post(gateway.RoleOwner, "/webhooks/app-secret", url.Values{"appSecret": {" "}}); got.status != http.StatusBadRequest {
		t.Errorf("a blank one is answered %+v", got)
	}
	r.has(r.show(gateway.RoleOwner, "/webhooks"), "App secret", "none")
	r.post(gateway.RoleOwner, "/webhooks/app-secret", url.Values{"appSecret": {secret}})
	page := r.show(gateway.RoleOwner, "/webhooks")
	r.has(page, "New secret", "Remove")
	r.hasNot(page, secret)
	r.post(gateway.RoleOwner, "/webhooks/app-secret", url.Values{"remove": {"yes"}})
	r.hasNot(r.show(gateway.RoleOwner, "/webhooks"), "New secret")
	if entries := r.recorded(); !strings.Contains(entries, "app_secret_changed") || strings.Contains(entries, secret) {
		t.Errorf("recorded %q", entries)
	}
}

func TestWebhookIsSetUpTestedAndDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/webhook"
	r.has(r.show(gateway.RoleViewer, path), "No webhook yet", "An operator can set one up.")
	r.hasNot(r.show(gateway.RoleViewer, path), "<form class=\"stack\"")

	address, status := endpoint(t, http.StatusNoContent)
	for name, form := range cases.Sorted(map[string]url.Values{
		"no address":  {"secret": {"new"}},
		"no URL":      {"url": {"shop"}, "secret": {"keep"}},
		"empty":       {"url": {address}, "secret": {"own"}},
		"a bad whsec": {"url": {address}, "secret": {"own"}, "own": {"whsec_%"}},
	}) {
		if got := r.post(gateway.RoleOperator, path, form); got.status != http.StatusBadRequest || got.header.Get("X-Problem") == "" {
			t.Errorf("%s: answered %d %v", name, got.status, got.header)
		}
	}
	got := r.post(gateway.RoleOperator, path, url.Values{"url": {" " + address + " "}, "secret": {"new"}, "active": {"yes"}})
	if got.status != http.StatusNoContent || got.header.Get("Hx-Redirect") != path {
		t.Fatalf("answered %+v", got)
	}
	if entries, want := r.recorded(), "webhook_saved Desk "+strings.TrimPrefix(address, "http://"); entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
	page := r.show(gateway.RoleOperator, path)
	secret := regexp.MustCompile(`whsec_[A-Za-z0-9+/=&#;]+`).FindString(page)
	r.has(page, address, "Delivering", "with a secret", `id="secret-text"`)
	page = r.show(gateway.RoleViewer, path)
	r.has(page, address, "Delivering", "with a secret")
	r.hasNot(page, "whsec_", "Send a test event")

	// The secret stays when the form says nothing of it.
	r.post(gateway.RoleOperator, path, url.Values{"url": {address}, "secret": {"keep"}, "active": {"yes"}})
	r.has(r.show(gateway.RoleOperator, path), secret)

	got = r.post(gateway.RoleOperator, path+"/test", nil)
	r.has(got.body, "The endpoint answered 204", "notice good")
	status.Store(http.StatusTeapot)
	got = r.post(gateway.RoleOperator, path+"/test", nil)
	r.has(got.body, "The endpoint answered 418", "notice bad", "&lt;script&gt;")
	r.hasNot(got.body, "<script>")

	r.post(gateway.RoleOperator, path, url.Values{"url": {address}, "secret": {"keep"}})
	r.has(r.show(gateway.RoleViewer, path), "Inactive")
	if got := r.post(gateway.RoleOperator, path+"/delete", nil); got.status != http.StatusNoContent {
		t.Errorf("answered %+v", got)
	}
	r.has(r.show(gateway.RoleOperator, path), "No webhook yet", "Set up a webhook")
	r.has(r.show(gateway.RoleOperator, path+"/deliveries"), "Without a webhook there are no deliveries.")
}

// A webhook that fails is seen to fail by itself, and everything that helps is at hand.
func TestDeliveriesShowWhatTheEndpointSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/webhook"
	address, status := endpoint(t, http.StatusInternalServerError)
	_, err := r.webhooks.Save(t.Context(), id, webhook.Settings{URL: address})
	r.check(err)
	r.has(r.show(gateway.RoleViewer, path+"/deliveries"), "Nothing delivered yet")
	state, list := r.follow(gateway.RoleViewer, path+"/live"), r.follow(gateway.RoleViewer, path+"/deliveries/live")
	r.append(id, "chat", "one")
	state("Waiting")
	list("Failed")
	page := r.show(gateway.RoleOperator, path+"/deliveries")
	r.has(page, "webhook.test", "It answered the status 500.", "&lt;script&gt;", "/events/1/redeliver", "data-chart=", "attempts, 1 failed")
	r.hasNot(page, "<script>alert")
	r.hasNot(r.show(gateway.RoleViewer, path+"/deliveries"), "redeliver", "Replay", "Tried again")
	shown := r.show(gateway.RoleOperator, path)
	r.has(shown, "Oldest waiting event", "Resume", "It answered the status 500.", "<dt>Next attempt</dt>")
	sent := regexp.MustCompile(`What was sent.*hx-get="([^"]+)"`).FindStringSubmatch(page)
	if sent == nil {
		t.Fatal("the delivery does not show what was sent")
	}
	r.has(r.show(gateway.RoleViewer, sent[1]), "&#34;type&#34;: &#34;webhook.test&#34;", `id="json-`+strings.TrimPrefix(sent[1], "/instances/"+id+"/events/1?row="))

	got := r.post(gateway.RoleOperator, "/instances/"+id+"/events/1/redeliver", nil)
	r.has(got.header.Get("Hx-Trigger"), "was not delivered", "500")
	status.Store(http.StatusOK)
	r.recorded()
	got = r.post(gateway.RoleOperator, "/instances/"+id+"/events/1/redeliver", nil)
	r.has(got.header.Get("Hx-Trigger"), "Event 1 was delivered", "200")
	got = r.post(gateway.RoleOperator, path+"/resume", nil)
	if got.status != http.StatusNoContent {
		t.Errorf("answered %+v", got)
	}
	state("Delivering")
	r.awaitDelivered(id)
	got = r.post(gateway.RoleOperator, path+"/replay", url.Values{"from": {"1"}})
	r.has(got.header.Get("Hx-Trigger"), "Resending event 1.")
	r.awaitDelivered(id)
	got = r.post(gateway.RoleOperator, path+"/replay", url.Values{"from": {"event"}, "sequence": {"1"}})
	r.has(got.header.Get("Hx-Trigger"), "Resending event 1.")
	r.awaitDelivered(id)
	got = r.post(gateway.RoleOperator, path+"/replay", url.Values{"from": {"event"}, "sequence": {"9"}})
	r.has(got.header.Get("Hx-Trigger"), "There is nothing to resend")
	if entries, want := r.recorded(), "webhook_replayed Desk 1, webhook_resumed Desk, webhook_replayed Desk 1+1, webhook_replayed Desk 1+1, webhook_replayed Desk 2+0"; entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
	for name, form := range cases.Sorted(map[string]url.Values{
		"nothing": {}, "no number": {"from": {"event"}, "sequence": {"x"}}, "the future": {"from": {"-1"}}, "too long ago": {"from": {"99999"}},
	}) {
		if got := r.post(gateway.RoleOperator, path+"/replay", form); got.status != http.StatusBadRequest {
			t.Errorf("%s: answered %d", name, got.status)
		}
	}
	for _, sequence := range []string{"0", "x", "99"} {
		if got := r.post(gateway.RoleOperator, "/instances/"+id+"/events/"+sequence+"/redeliver", nil); got.status != http.StatusNotFound {
			t.Errorf("event %s: answered %d", sequence, got.status)
		}
	}
}

func TestDeliveriesHavePages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/webhook/deliveries"
	address, _ := endpoint(t, http.StatusOK)
	_, err := r.webhooks.Save(t.Context(), id, webhook.Settings{URL: address})
	r.check(err)
	list := r.follow(gateway.RoleViewer, path+"/live")
	for n := range 60 {
		r.append(id, "chat", fmt.Sprint(n))
	}
	list(">#60<")
	list(path + "?page=2")
	page := r.show(gateway.RoleViewer, path+"?page=2")
	r.has(page, `href="`+path+`"`, path+"/live?page=2")
	if rows := strings.Count(page, "<tr>") - 1; rows < 1 || rows > 25 {
		t.Errorf("the second page has %d rows", rows)
	}
}

// An instance has several webhooks: each has its page, its deliveries and its form, and what is
// not said of it stays.
func TestSeveralWebhooksHavePages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/webhook"
	address, _ := endpoint(t, http.StatusNoContent)
	form := func(changes url.Values) url.Values {
		filled := url.Values{"url": {address + "/crm"}, "secret": {"keep"}, "active": {"yes"}, "headers": {"keep"}}
		maps.Copy(filled, changes)
		return filled
	}
	for name, bad := range cases.Sorted(map[string]url.Values{
		"a line without a colon": {"headers": {"these"}, "lines": {"Authorization Bearer"}},
		"an unknown type":        {"scope": {"some"}, "events": {"message.invented"}},
		"links without a base":   {"links": {"yes"}},
	}) {
		if got := r.post(gateway.RoleOperator, path+"?webhook=new", form(bad)); got.status != http.StatusBadRequest {
			t.Errorf("%s: answered %d", name, got.status)
		}
	}
	got := r.post(gateway.RoleOperator, path+"?webhook=new", form(url.Values{
		"scope": {"some"}, "events": {"message.received", "presence"}, "chats": {"group"},
		"headers": {"these"}, "lines": {"Authorization: Bearer secret\r\n\r\nX-Two: 2"},
	}))
	crm := got.header.Get("Hx-Redirect")
	if got.status != http.StatusNoContent || !strings.HasPrefix(crm, path+"?webhook=") {
		t.Fatalf("answered %+v", got)
	}
	// Without one of webhook-config it is the one that is shown.
	for _, page := range []string{path, crm} {
		shown := r.show(gateway.RoleOperator, page)
		r.has(shown, address+"/crm", "<code>message.received</code>", "<code>Authorization</code>, <code>X-Two</code>", `value="group" checked`, crm)
		r.hasNot(shown, "Bearer secret", `id="all"`)
	}
	if got := r.post(gateway.RoleOperator, path, url.Values{"url": {address}, "secret": {"new"}, "active": {"yes"}}); got.header.Get("Hx-Redirect") != path {
		t.Fatalf("answered %+v", got)
	}
	r.has(r.show(gateway.RoleViewer, path), `id="all"`, "webhook-config", crm, address+"/crm")

	r.append(id, "chat", "one")
	r.awaitDelivered(id)
	deliveries := strings.Replace(crm, "/webhook?", "/webhook/deliveries?", 1)
	r.has(r.show(gateway.RoleOperator, path+"/deliveries"), "#1<")
	r.has(r.show(gateway.RoleOperator, deliveries), "Nothing delivered yet", address+"/crm")
	which := strings.TrimPrefix(crm, path)
	got = r.post(gateway.RoleOperator, "/instances/"+id+"/events/1/redeliver"+which, nil)
	r.has(got.header.Get("Hx-Trigger"), "Event 1 was delivered")
	if got := r.post(gateway.RoleOperator, path+"/replay"+which, url.Values{"from": {"event"}, "sequence": {"1"}}); got.status != http.StatusNoContent {
		t.Errorf("a replay is answered %+v", got)
	}

	if got := r.post(gateway.RoleOperator, crm, form(url.Values{"headers": {"none"}})); got.header.Get("Hx-Redirect") != crm {
		t.Errorf("answered %+v", got)
	}
	hook, err := r.webhooks.Get(t.Context(), webhook.Ref{InstanceID: id, ID: strings.TrimPrefix(which, "?webhook=")})
	r.check(err)
	if len(hook.Headers) != 0 || len(hook.Filter.Kinds) != 0 || !hook.Active {
		t.Errorf("changed it is %+v", hook)
	}
	if got := r.post(gateway.RoleOperator, path+"/delete"+which, nil); got.status != http.StatusNoContent {
		t.Errorf("answered %+v", got)
	}
	r.hasNot(r.show(gateway.RoleViewer, path), address+"/crm")
	for _, nothing := range []string{which, "?webhook=no|id", "?webhook=01a20010-f12e-77b3-9e8b-0749d3e78ea2"} {
		if got := r.post(gateway.RoleOperator, path+"/test"+nothing, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: answered %d", nothing, got.status)
		}
	}
}

// A webhook that follows one of the account is looked at and resumed like any other, but not
// changed; another can be added beside it.
func TestWebhookOfTheAccountHasAPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/webhook"
	address, _ := endpoint(t, http.StatusNoContent)
	now := time.Now().UTC().Truncate(time.Millisecond)
	hook := webhook.Webhook{ID: uuid.NewString(), URL: address + "/all", Active: true, CreatedAt: now, UpdatedAt: now}
	r.check(r.store.AccountWebhooks.SaveAccountWebhook(t.Context(), accountwide.Webhook{AccountID: r.account.ID, Webhook: hook}))
	r.check(r.webhooks.Follow(t.Context(), id, []webhook.Webhook{hook}))

	page := r.show(gateway.RoleOperator, path)
	r.has(page, address+"/all", "This webhook is for all instances", path+"?webhook=new")
	r.hasNot(page, `id="settings"`)
	r.hasNot(r.show(gateway.RoleViewer, path), path+"?webhook=new")
	if got := r.post(gateway.RoleOperator, path+"/test", nil); !strings.Contains(got.body, "The endpoint answered 204") {
		t.Errorf("a test is answered %+v", got)
	}
	for _, command := range []string{"/delete", "?webhook=" + hook.ID} {
		if got := r.post(gateway.RoleOperator, path+command, url.Values{"url": {address}}); got.status != http.StatusConflict && got.status != http.StatusNotFound {
			t.Errorf("%s: answered %+v", command, got)
		}
	}
	r.has(r.show(gateway.RoleOperator, path), address+"/all")
}

// A user who may not change a webhook sees host and path of its address: what follows may be a secret, with
// which anybody sends the endpoint events. That holds on every page and for every live part.
func TestAddressesShowNoTokens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/webhook"
	now := time.Now().UTC().Truncate(time.Millisecond)
	hook := webhook.Webhook{ID: uuid.NewString(), URL: "https://crm.example.org/all?token=vermilion", Active: true, CreatedAt: now, UpdatedAt: now}
	r.check(r.store.AccountWebhooks.SaveAccountWebhook(t.Context(), accountwide.Webhook{AccountID: r.account.ID, Webhook: hook}))
	r.check(r.webhooks.Follow(t.Context(), id, []webhook.Webhook{hook}))
	_, err := r.webhooks.Save(t.Context(), id, webhook.Settings{URL: "https://shop.example.org/own?token=cerulean", Active: new(true)})
	r.check(err)
	listed, err := r.webhooks.List(t.Context(), id, gateway.PageRequest{Page: 1, Limit: 10})
	r.check(err)
	for _, one := range listed.Items {
		which, host := "?webhook="+one.ID, "https://shop.example.org/own"
		if one.Account != "" {
			host = "https://crm.example.org/all"
		}
		for role, secrets := range cases.Sorted(map[string][]string{"viewer": {"vermilion", "cerulean"}, "operator": {"vermilion"}, "owner": nil}) {
			role := gateway.Role(role)
			for _, page := range []string{path + which, path + "/deliveries" + which} {
				shown := r.show(role, page)
				r.has(shown, host)
				r.hasNot(shown, secrets...)
			}
			r.hasNot(r.follow(role, path+"/live"+which)(host), secrets...)
		}
	}
	r.has(r.show(gateway.RoleOwner, path), "vermilion", "cerulean")
	r.has(r.show(gateway.RoleOperator, path), "cerulean")
}
