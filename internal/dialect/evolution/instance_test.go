package evolution_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
)

// The key is looked at first: who has none learns no path and no name.
func TestStrangersLearnNothing(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	known := newTool(t, g, id)
	for _, key := range []string{"", "wrong", strings.Repeat("x", 300)} {
		stranger := *known
		stranger.key = key
		for _, path := range []string{"/instance/fetchInstances", "/instance/connectionState/shop", "/instance/connectionState/none", "/nothing", "/nothing/at/all", "/chatwoot/find/shop"} {
			if message := stranger.refused(http.StatusUnauthorized, http.MethodGet, path, nil); message != "Unauthorized" {
				t.Errorf("%s: %v", path, message)
			}
		}
	}
	for path, want := range cases.Sorted(map[string]string{
		"/instance/connectionState/none": `The "none" instance does not exist`,
		"/instance/connectionState/":     "Cannot GET /instance/connectionState/",
		"/nothing":                       "Cannot GET /nothing",
		"/erro":                          "Cannot GET /erro",
	}) {
		if message := known.refused(http.StatusNotFound, http.MethodGet, path, nil); at(message, 0) != want {
			t.Errorf("%s: %v", path, message)
		}
	}
	if status, welcome := known.ask(http.MethodGet, "/", nil); status != http.StatusOK || !strings.HasPrefix(text(welcome, "version"), "2.") {
		t.Errorf("the welcome is %d %v", status, welcome)
	}
}

// Keys are taken from wherever tools have them.
func TestKeysOfEveryTool(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	key := newTool(t, g, id).key
	for name, value := range cases.Sorted(map[string]string{"apikey": key, "x-api-key": key, "Authorization": "bearer " + key}) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.BaseURL+"/evolution/instance/connectionState/"+id, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(name, value)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v", name, response.StatusCode, err)
		}
	}
}

// An instance is made, linked by the code of the answer, and deleted.
func TestInstancesAreMadeAndLinked(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	o := newPartner(t, g)
	o.instance = "loja do João/2"
	const chosen = "4F1C2B3A-9D8E-4C7B-A6F5-0123456789AB"
	status, made := o.ask(http.MethodPost, "/instance/create", object{
		"instanceName": o.instance, "integration": "WHATSAPP-BAILEYS", "qrcode": true, "rejectCall": true, "msgCall": "Write instead.", "unknown": object{},
		"groupsIgnore": true, "readStatus": "true", "syncFullHistory": true,
		"token": chosen,
	})
	if status != http.StatusCreated || !strings.HasPrefix(text(made, "qrcode", "base64"), "data:image/png;base64,") || text(made, "qrcode", "code") == "" || text(made, "hash") != chosen ||
		text(made, "settings", "msgCall") != "Write instead." || at(made, "settings", "rejectCall") != true ||
		at(made, "settings", "groupsIgnore") != true || at(made, "settings", "readStatus") != true || at(made, "settings", "alwaysOnline") != false {
		t.Fatalf("made: %d %v", status, made)
	}
	id := text(made, "instance", "instanceId")
	o.refused(http.StatusConflict, http.MethodPost, "/instance/create", object{"instanceName": "with the key again", "token": chosen})
	if message := o.refused(http.StatusForbidden, http.MethodPost, "/instance/create", object{"instanceName": o.instance}); at(message, 0) != `This name "loja do João/2" is already in use.` {
		t.Errorf("the name again: %v", message)
	}
	if state := text(o.does(http.StatusOK, http.MethodGet, "/instance/connectionState", nil), "instance", "state"); state != "connecting" {
		t.Errorf("before it is scanned it is %s", state)
	}
	linked := o.does(http.StatusOK, http.MethodGet, "/instance/connect", nil)
	g.Phones.Scan(t, shopNumber, text(linked, "base64"))
	g.AwaitStatus(t, id, gateway.StatusConnected)

	own := *o
	own.key = text(made, "hash")
	if state := text(own.does(http.StatusOK, http.MethodGet, "/instance/connect", nil), "instance", "state"); state != "open" {
		t.Errorf("once it is linked it is %s", state)
	}
	if _, list := own.ask(http.MethodGet, "/instance/fetchInstances?instanceName=loja%20do%20Jo%C3%A3o%2F2", nil); text(list, 0, "id") != id || text(list, 0, "ownerJid") != shopNumber+"@s.whatsapp.net" || text(list, 0, "connectionStatus") != "open" {
		t.Errorf("the list is %v", list)
	}
	if message := own.refused(http.StatusNotFound, http.MethodGet, "/instance/fetchInstances?instanceName=x", nil); at(message, 0) != `Instance "x" not found` {
		t.Errorf("another one: %v", message)
	}
	own.refused(http.StatusForbidden, http.MethodPost, "/instance/create", object{"instanceName": "another"})

	testkit.Await(t, "the presence", func() bool { // a session connects again after it was linked
		status, answer := o.ask(http.MethodPost, "/instance/setPresence/"+id, object{"presence": "available"})
		return status == http.StatusCreated && text(answer, "presence") == "available"
	})
	set := object{
		"rejectCall": false, "msgCall": "", "groupsIgnore": false, "alwaysOnline": true, "readMessages": true, "readStatus": true,
		"syncFullHistory": true, "wavoipToken": "x",
	}
	want := maps.Clone(set)
	want["syncFullHistory"], want["wavoipToken"] = false, "" // there is nothing of the kind
	if answer, _ := at(o.does(http.StatusCreated, http.MethodPost, "/settings/set", set), "settings", "settings").(object); !maps.Equal(answer, want) {
		t.Errorf("the settings are %v", answer)
	}
	if answer, _ := o.does(http.StatusOK, http.MethodGet, "/settings/find", nil).(object); !maps.Equal(answer, want) {
		t.Errorf("the settings are %v", answer)
	}
	if kept := g.Instance(t, id); !kept.ReadMessages || !kept.ReadStatuses || !kept.AlwaysOnline || kept.IgnoreGroups {
		t.Errorf("the instance is %+v", kept)
	}
	for _, operation := range []string{"POST /instance/restart", "DELETE /instance/logout", "DELETE /instance/delete"} {
		method, path, _ := strings.Cut(operation, " ")
		o.does(http.StatusOK, method, path, nil)
	}
	o.refused(http.StatusNotFound, http.MethodGet, "/instance/connectionState/"+id, nil)
}

// What an instance that is not linked is asked for in vain.
func TestInstancesThatAreNotLinked(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	o := newPartner(t, g)
	proxy := proxyserver.SOCKS(t, proxyserver.Options{User: "u", Password: "secret"})
	host, port, _ := strings.Cut(proxy.Address(), ":")
	if status, answer := o.ask(http.MethodPost, "/instance/create", object{"instanceName": "shop", "proxyHost": host, "proxyPort": port, "proxyProtocol": "socks5", "proxyUsername": "u", "proxyPassword": "secret"}); status != http.StatusCreated {
		t.Fatalf("made: %d %v", status, answer)
	}
	for _, operation := range []string{"POST /instance/restart", "DELETE /instance/logout"} {
		method, path, _ := strings.Cut(operation, " ")
		if message := o.refused(http.StatusBadRequest, method, path+"/shop", nil); at(message, 0) != `The "shop" instance is not connected` {
			t.Errorf("%s: %v", operation, message)
		}
	}
	if proxy := o.does(http.StatusOK, http.MethodGet, "/proxy/find", nil); text(proxy, "host") != host || text(proxy, "port") != port || text(proxy, "username") != "u" || text(proxy, "password") != "" {
		t.Errorf("the proxy is %v", proxy)
	}
	o.does(http.StatusCreated, http.MethodPost, "/proxy/set", object{"enabled": "", "host": ""})
	o.refused(http.StatusNotFound, http.MethodGet, "/proxy/find/shop", nil)
	for body, want := range cases.Sorted(map[string]int{
		`{}`: http.StatusBadRequest, `[]`: http.StatusBadRequest, `{"instanceName":"b","token":"mine"}`: http.StatusBadRequest,
		`{"instanceName":"b","integration":"WHATSAPP-BUSINESS"}`: http.StatusNotImplemented,
	}) {
		o.refused(want, http.MethodPost, "/instance/create", body)
	}
	if message := o.refused(http.StatusNotImplemented, http.MethodPost, "/chatwoot/set/shop", object{}); !strings.Contains(at(message, 0).(string), "webhook") {
		t.Errorf("chatwoot: %v", message)
	}
}
