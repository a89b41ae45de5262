package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/sdks"
)

// The settings of an instance are changed by a form, and the password of its proxy is on no
// page and not in the audit list.
func TestInstanceIsChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	page := "/instances/" + id
	path := page + "/settings"
	r.hasNot(r.show(gateway.RoleViewer, page), `name="proxy"`)
	r.has(r.show(gateway.RoleOperator, page), `name="proxy"`, `action="`+path+`"`)

	for name, form := range cases.Sorted(map[string]url.Values{
		"no name":      {"name": {" "}},
		"no proxy":     {"name": {"Desk"}, "proxy": {"ftp://ana:segredo@h"}},
		"no kind":      {"name": {"Desk"}, "device-kind": {"fridge"}},
		"another mask": {"name": {"Desk"}, "proxy": {"http://ana:***@h"}},
	}) {
		if got := r.post(gateway.RoleOperator, path, form); got.status != http.StatusBadRequest || got.header.Get("X-Problem") == "" {
			t.Errorf("%s: answered %d %v", name, got.status, got.header)
		}
	}
	if got := r.post(gateway.RoleViewer, path, url.Values{"name": {"x"}}); got.status != http.StatusForbidden {
		t.Errorf("a viewer is answered %d", got.status)
	}
	r.recorded()

	got := r.post(gateway.RoleOperator, path, url.Values{
		"name": {"Desk"}, "proxy": {" socks5://ana:segredo@proxy.example:1080 "}, "device-name": {"Recepção"}, "device-kind": {"edge"},
	})
	if got.status != http.StatusNoContent || got.header.Get("Hx-Redirect") != page {
		t.Fatalf("answered %+v", got)
	}
	if entries, want := r.recorded(), "instance_changed Desk proxy proxy.example:1080, device Recepção edge"; entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
	shown := r.show(gateway.RoleOperator, page)
	r.has(shown, `value="socks5://ana:***@proxy.example:1080"`, `value="Recepção"`, `value="edge" selected`)
	r.hasNot(shown, "segredo")

	// What the form shows is sent back: the password stays. So does what is not sent.
	for _, form := range []url.Values{{"name": {"Front"}, "proxy": {"socks5://ana:***@proxy.example:1080"}}, {"name": {"Front"}}} {
		if got := r.post(gateway.RoleOperator, path, form); got.status != http.StatusNoContent {
			t.Fatalf("answered %+v", got)
		}
		kept, err := r.store.GetInstance(t.Context(), id)
		if err != nil || string(kept.Proxy) != "socks5://ana:segredo@proxy.example:1080" || kept.Label.Name != "Recepção" || kept.Name != "Front" {
			t.Errorf("%v: kept %q (%v)", form, string(kept.Proxy), err)
		}
	}
	r.recorded()

	// An instance that does not come through its proxy says why.
	_, err := r.store.UpdateInstance(t.Context(), id, func(i *gateway.Instance) ([]eventlog.Event, error) {
		i.Status, i.Reason, i.Profile.PictureURL = gateway.StatusConnecting, gateway.ReasonProxyAuth, "https://pps.example/a.jpg"
		return nil, nil
	})
	r.check(err)
	shown = r.show(gateway.RoleViewer, page)
	r.has(shown, "Proxy error", "rejects the user name and password")
	r.hasNot(shown, page+"/picture")
	if got := r.get(gateway.RoleViewer, page+"/picture"); got.status != http.StatusNotFound {
		t.Errorf("the picture of an account behind a proxy is answered %d", got.status)
	}

	if got := r.post(gateway.RoleOperator, path, url.Values{"proxy": {""}, "device-name": {""}, "device-kind": {""}}); got.status != http.StatusNoContent {
		t.Fatalf("answered %+v", got)
	}
	if entries, want := r.recorded(), "instance_changed Front no proxy, device"; entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
}

// What an instance keeps to is set by the same form, and the page shows what its account has
// to heed.
func TestCareIsShownAndChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	page := "/instances/" + id
	path := page + "/settings"
	shown := r.show(gateway.RoleViewer, page)
	r.has(shown, "24 of 180", ">340<", ">31<")
	r.hasNot(shown, `name="gap"`, "restricts this account")
	r.recorded()

	form := url.Values{
		"name": {"Desk"}, "gap": {"1,5"}, "jitter": {"2"}, "per-minute": {"10"}, "typing": {"on"}, "buttons": {"refuse"},
		"read-messages": {"off", "on"}, "read-statuses": {"off"}, "always-online": {"off", "on"}, "ignore-groups": {"off", "on"},
		"new-chats-hour": {""}, "new-chats-day": {"30"}, "checks-hour": {"50"}, "checks-day": {""},
	}
	if got := r.post(gateway.RoleOperator, path, form); got.status != http.StatusNoContent {
		t.Fatalf("answered %+v", got)
	}
	if entries, want := r.recorded(), "instance_changed Desk care, automatic"; entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
	want := gateway.SendingRules{
		Pace:   gateway.Pace{Gap: 1500 * time.Millisecond, Jitter: 2 * time.Second, PerMinute: 10, NewChats: gateway.Budget{PerDay: 30}},
		Typing: true, NumberChecks: gateway.Budget{PerHour: 50}, RefuseButtons: true,
	}
	kept := func() gateway.Instance {
		t.Helper()
		kept, err := r.store.GetInstance(t.Context(), id)
		r.check(err)
		return kept
	}
	if got := kept().Sending; got != want {
		t.Errorf("kept %+v, want %+v", got, want)
	}
	switches := gateway.Switches{ReadMessages: true, AlwaysOnline: true, IgnoreGroups: true}
	if got := kept().Switches; got != switches {
		t.Errorf("kept %+v, want %+v", got, switches)
	}
	r.has(r.show(gateway.RoleOperator, page), `name="ignore-groups" value="on" checked`, `name="read-statuses" value="on">`)
	r.has(r.show(gateway.RoleOperator, page), `data-field="pace.gapSeconds" inputmode="decimal" value="1.5"`, `value="30"`, `value="on" checked`, "12 of 50")

	for field, value := range cases.Sorted(map[string]string{"gap": "soon", "jitter": "3601", "per-minute": "-1", "checks-day": "NaN", "new-chats-day": "1e99", "new-chats-hour": "2.5"}) {
		if got := r.post(gateway.RoleOperator, path, url.Values{"name": {"Desk"}, field: {value}}); got.status != http.StatusBadRequest {
			t.Errorf("%s %s: answered %d", field, value, got.status)
		}
	}
	if got := r.post(gateway.RoleOperator, path, url.Values{"name": {"Desk"}}); got.status != http.StatusNoContent || kept().Sending != want || kept().Switches != switches {
		t.Errorf("a form without it: answered %d, kept %+v, %+v", got.status, kept().Sending, kept().Switches)
	}

	_, err := r.store.UpdateInstance(t.Context(), id, func(i *gateway.Instance) ([]eventlog.Event, error) {
		now := time.Now()
		i.Restricted = gateway.Restricted{Since: now, Until: now.Add(time.Hour), Reported: now}
		return nil, nil
	})
	r.check(err)
	r.has(r.show(gateway.RoleViewer, page), "restricts this account")
}

// A name that turns the direction of writing, as one from before they were refused, turns nothing
// but itself: each element that has it stands for itself.
func TestNamesTurnNothingAround(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const turned = "\u202elive"
	id := r.instance(turned)
	r.check(r.store.CreateInstance(t.Context(), gateway.Instance{
		ID: "01a1fa84-de19-7bc8-9e51-c104e24cd85b", AccountID: r.account.ID, Name: "Desk", Device: "keys", Status: gateway.StatusConnected,
		Profile: gateway.Profile{JID: "5511999990000@s.whatsapp.net", Name: turned},
	}))
	made := r.post(gateway.RoleOwner, "/keys", url.Values{"name": {"Till"}, "days": {""}, "scope": {"some"}, "instance": {id}})
	if made.status != http.StatusOK {
		t.Fatalf("no key is made: %+v", made)
	}
	text := regexp.MustCompile(`(<[^>]*>)[^<>]*\x{202e}`)
	one := "/instances/" + id
	for _, path := range []string{
		"/instances", one, one + "/chats", one + "/contacts", one + "/groups", one + "/channels", one + "/account", one + "/queue", one + "/webhook",
		one + "/webhook/deliveries", one + "/events", one + "/code", "/instances/01a1fa84-de19-7bc8-9e51-c104e24cd85b", "/keys", "/keys/new",
	} {
		page := r.show(gateway.RoleOwner, path)
		for _, found := range text.FindAllStringSubmatch(page, -1) {
			if tag := found[1]; !strings.Contains(tag, `dir="auto"`) && tag != "<title>" {
				t.Errorf("%s has a name in %s", path, tag)
			}
		}
		if path != "/keys/new" && !strings.Contains(page, turned) {
			t.Errorf("%s has no name", path)
		}
	}
}

// The list says how many instances there are of each group, and shows one of them, in the order that
// is asked for. A search that is typed puts its address into the bar.
func TestInstancesAreFilteredAndSorted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	start := time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)
	add := func(name string, status gateway.Status, reason gateway.Reason, since time.Duration) {
		r.check(r.store.CreateInstance(t.Context(), gateway.Instance{
			ID: uuid.Must(uuid.NewV7()).String(), AccountID: r.account.ID, Name: name, Status: status, Reason: reason,
			CreatedAt: start, UpdatedAt: start.Add(since),
		}))
	}
	add("zebra", gateway.StatusManuallyStopped, "", time.Hour)
	add("Água", gateway.StatusError, gateway.ReasonBanned, 3*time.Hour)
	add("banana", gateway.StatusCreated, "", 2*time.Hour)
	add("Caju", gateway.StatusConnecting, gateway.ReasonProxyAuth, 0)
	for n := range 60 {
		add(fmt.Sprintf("many %02d", n), gateway.StatusConnecting, "", 0)
	}
	r.check(r.store.CreateAccount(t.Context(), gateway.Account{ID: "other", Name: "other"}))
	r.check(r.store.CreateInstance(t.Context(), gateway.Instance{ID: "other", AccountID: "other", Name: "banana of others", Status: gateway.StatusCreated}))

	link := func(query, name string, count int) string {
		return fmt.Sprintf(`href="/instances%s">%s <span class="number">%d</span>`, query, name, count)
	}
	page := r.show(gateway.RoleViewer, "/instances")
	r.has(page, `href="/instances" aria-current="true">All <span class="number">64</span>`, link("?status=action", "Need attention", 3),
		link("?status=stopped", "Stopped by hand", 1), link("?status=connecting", "Connecting", 60), "1 to 50 of 64")
	r.hasNot(page, "status=connected", "of others")
	r.has(r.show(gateway.RoleViewer, "/instances?page=2&status=connecting"), "51 to 60 of 60", "many 59")
	r.has(r.show(gateway.RoleViewer, "/instances?status=nonsense&sort=nonsense"), "1 to 50 of 64")
	r.has(r.show(gateway.RoleViewer, "/instances?status=connected"), "No matching instances")

	name := regexp.MustCompile(`<span class="name"[^>]*>([^<]*)<`)
	for query, want := range cases.Sorted(map[string]string{
		"?status=action": "Água banana Caju", "?status=action&sort=name": "banana Caju Água", "?status=action&sort=since": "Água banana Caju",
		"?search=many+0&sort=since": "many 00 many 01 many 02 many 03 many 04 many 05 many 06 many 07 many 08 many 09", "?search=BANANA&status=action&sort=waiting": "banana",
	}) {
		var names []string
		for _, found := range name.FindAllStringSubmatch(r.show(gateway.RoleViewer, "/instances"+query), -1) {
			names = append(names, found[1])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
	}

	got := r.ask(gateway.RoleViewer, http.MethodGet, "/instances?search=caju&sort=&status=action", nil, true)
	if address := got.header.Get("Hx-Replace-Url"); address != "/instances?search=caju&status=action" {
		t.Errorf("the bar gets %q", address)
	}
	r.has(got.body, `sse-connect="/instances/live?search=caju&amp;status=action"`, link("?search=caju", "All", 1))
}

// The page of an instance says how it is, since when, what waits, and what to do, with a button for it.
func TestInstanceSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	page := "/instances/" + id
	become := func(status gateway.Status, reason gateway.Reason) {
		_, err := r.store.UpdateInstance(t.Context(), id, func(i *gateway.Instance) ([]eventlog.Event, error) {
			before := i.Status
			i.Status, i.Reason, i.Device = status, reason, "keys"
			event, err := eventlog.NewEvent(id, "", "", time.Date(2026, 11, 27, 8, 30, 0, 0, time.UTC), eventlog.NewInstanceStatus(*i, before))
			return []eventlog.Event{event}, err
		})
		r.check(err)
	}
	r.has(r.show(gateway.RoleOperator, page), "<strong>Show the QR code and scan it", "Show QR code</button>")
	become(gateway.StatusManuallyStopped, "")
	r.leave(id, "5511988887766", "Oi", time.Now().Add(time.Hour))
	shown := r.show(gateway.RoleOperator, page)
	r.has(shown, "<strong>Restart it", `class="button first" type="button" hx-post="`+page+`/restart"`, `datetime="2026-11-27T08:30:00Z"`, "One message is waiting in the queue")
	r.hasNot(r.show(gateway.RoleViewer, page), `class="button first"`)
	become(gateway.StatusConnecting, gateway.ReasonProxyAuth)
	r.has(r.show(gateway.RoleOperator, page), `class="button first" href="#settings"`)

	address, _ := endpoint(t, http.StatusInternalServerError)
	_, err := r.webhooks.Save(t.Context(), id, webhook.Settings{URL: address})
	r.check(err)
	r.append(id, "chat", "one")
	r.has(r.show(gateway.RoleViewer, page), "One event is waiting for a webhook.")
}

// The first steps of a new account tick themselves off, are for those who can do them, and go.
func TestFirstStepsAreTickedOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.has(r.show(gateway.RoleOwner, "/instances"), "0 of 5", "Link an instance", `<a href="/keys/new">Create an API key</a>`, "No instances yet")
	r.has(r.show(gateway.RoleOperator, "/instances"), "0 of 4")
	r.hasNot(r.show(gateway.RoleViewer, "/instances"), "First steps")
	id := r.instance("Desk")
	r.has(r.show(gateway.RoleOwner, "/instances"), `<a href="/instances/`+id+`">Link an instance</a>`, `<a href="/instances/`+id+`/webhook">Add a webhook</a>`)
	r.hasNot(r.show(gateway.RoleOwner, "/instances?status=action"), "First steps")

	change := func(change func(i *gateway.Instance)) {
		t.Helper()
		_, err := r.store.UpdateInstance(t.Context(), id, func(i *gateway.Instance) ([]eventlog.Event, error) {
			change(i)
			return nil, nil
		})
		r.check(err)
	}
	change(func(i *gateway.Instance) { i.Device = "device" })
	r.has(r.show(gateway.RoleOwner, "/instances"), "1 of 5", "Done:</span><span>Link an instance")
	for _, data := range []eventlog.Data{eventlog.MessageReceived{}, eventlog.MessageSent{}} {
		event, err := eventlog.NewEvent(id, "", "", time.Now(), data)
		r.check(err)
		r.check(r.log.Append(t.Context(), event))
	}
	r.has(r.show(gateway.RoleOwner, "/instances"), "3 of 5", "Done:</span><span>Receive a message", "Done:</span><span>Send a message")
	_, _, err := r.access.CreateKey(t.Context(), access.KeyParams{AccountID: r.account.ID, Name: "till"})
	r.check(err)
	r.has(r.show(gateway.RoleOwner, "/instances"), "4 of 5")
	r.post(gateway.RoleOperator, "/instances/"+id+"/webhook", url.Values{"url": {"http://192.0.2.1/"}, "active": {"yes"}})
	r.hasNot(r.show(gateway.RoleOwner, "/instances"), "First steps")
}

// What an account that is not new has done can't be told: its events may be gone.
func TestFirstStepsAreForNewAccounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.check(r.store.CreateInstance(t.Context(), gateway.Instance{
		ID: uuid.Must(uuid.NewV7()).String(), AccountID: r.account.ID, Name: "Desk", Status: gateway.StatusCreated, CreatedAt: time.Now().AddDate(0, 0, -8),
	}))
	r.hasNot(r.show(gateway.RoleOwner, "/instances"), "First steps")
}

// The page with code has the request of the API's reference as a command, with the instance and a greeting filled in, and the
// programs of the clients with the instance.
func TestCodeOfAnInstance(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	page := html.UnescapeString(r.show(gateway.RoleViewer, "/instances/"+id+"/code"))
	all, err := described()
	r.check(err)
	_, op, _, _ := all.Find("sendText")
	body := "{\n  \"to\": \"5511988887766\",\n  \"message\": \"Hello from Recado!\"\n}"
	samples := op.RequestTo("http://gateway", func(parameter reference.Field) string {
		return map[string]string{"instanceId": id}[parameter.Name]
	}, body).Samples()
	r.has(page, samples[0].Code, "export RECADO_URL='http://gateway'\nexport RECADO_API_KEY='"+reference.KeyMark+"'")
	for _, language := range sdks.Languages() {
		r.has(page, language.Send(id), ">"+language.Name+"</h2>")
	}
}
