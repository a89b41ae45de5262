package cloud_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// What clients ask when they are set up, each with the form of an ID that it uses.
func TestSettingUp(t *testing.T) {
	t.Parallel()
	r := start(t)
	type asked struct{ method, path, body, want string }
	for name, one := range cases.Sorted(map[string]asked{
		"a number by UUID":        {"GET", "v17.0/" + r.id, "", `"display_phone_number":"+` + shopNumber + `"`},
		"its ID comes back":       {"GET", "v17.0/" + r.id, "", `"id":"` + r.id + `"`},
		"a number by its digits":  {"GET", "v22.0/" + shopNumber, "", `"id":"` + shopNumber + `"`},
		"a number with a plus":    {"GET", "v22.0/+" + shopNumber, "", `"id":"+` + shopNumber + `"`},
		"a slash at the end":      {"GET", "v22.0/" + shopNumber + "/", "", `"status":"CONNECTED"`},
		"numbers of an account":   {"GET", "v17.0/" + shopNumber + "/phone_numbers?fields=id,display_phone_number&limit=100", "", `"data":[{"id":"` + shopNumber + `"`},
		"a token":                 {"GET", "v17.0/debug_token?input_token=" + r.key, "", `"app_id":"732236","application":"recado","type":"SYSTEM_USER","expires_at":0,"is_valid":true`},
		"a token that is none":    {"GET", "v17.0/debug_token?input_token=x", "", `"is_valid":false`},
		"the subscription":        {"GET", "v17.0/" + r.id + "/subscribed_apps", "", `{"data":[{"whatsapp_business_api_data":{"id":"732236","name":"recado"}}],"paging":{}}`},
		"subscribing":             {"POST", "v17.0/" + r.id + "/subscribed_apps", "", `{"success":true}`},
		"unsubscribing":           {"DELETE", "v17.0/" + r.id + "/subscribed_apps", "", `{"success":true}`},
		"templates":               {"GET", "v14.0/" + shopNumber + "/message_templates?access_token=" + r.key, "", `{"data":[],"paging":{}}`},
		"registering":             {"POST", "v22.0/" + shopNumber + "/register", `{"messaging_product":"whatsapp","pin":"123456"}`, `{"success":true}`},
		"unregistering":           {"POST", "v22.0/" + shopNumber + "/deregister", ``, `{"success":true}`},
		"a change of the profile": {"POST", "v22.0/" + shopNumber + "/whatsapp_business_profile", `{"about":"Open"}`, `{"success":true}`},
		"by a form":               {"POST", "v22.0/" + shopNumber + "/whatsapp_business_profile", `messaging_product=whatsapp`, `{"success":true}`},
	}) {
		header := "Content-Type: application/json"
		if name == "by a form" {
			header = "Content-Type: application/x-www-form-urlencoded"
		}
		if got := r.ask(t, one.method, one.path, one.body, header); got.status != http.StatusOK || !strings.Contains(got.body, one.want) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := r.ask(t, "GET", "v14.0/"+shopNumber+"/message_templates?access_token="+r.key, "", "Authorization: "); got.status != http.StatusOK {
		t.Errorf("a token in the address alone answers %d %s", got.status, got.body)
	}
	if got := r.ask(t, "GET", "v22.0/"+shopNumber+"/whatsapp_business_profile", ""); !strings.Contains(got.body, `{"data":[{"messaging_product":"whatsapp","about":"Open"}]`) {
		t.Errorf("the profile is %s", got.body)
	}
}

// Refusals have Meta's numbers, and no stranger learns what there is.
func TestRefusals(t *testing.T) {
	t.Parallel()
	r := start(t)
	other, err := r.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	limited := "Authorization: Bearer " + newKey(t, r.Gateway, other.InstanceID)
	type refused struct {
		method, path, body, header string
		status, code, subcode      int
	}
	for name, one := range cases.Sorted(map[string]refused{
		"no key":                     {"GET", "v22.0/" + r.id, "", "Authorization: ", 401, 190, 0},
		"a wrong key":                {"GET", "v22.0/" + r.id, "", "Authorization: Bearer x", 401, 190, 0},
		"a wrong key by the number":  {"GET", "v22.0/" + shopNumber, "", "Authorization: Bearer x", 401, 190, 0},
		"a stranger's number":        {"GET", "v22.0/5511900000000", "", "Authorization: Bearer x", 401, 190, 0},
		"a stranger's path":          {"GET", "v22.0/x/y/z", "", "Authorization: Bearer x", 401, 190, 0},
		"a stranger's file":          {"GET", "v22.0/" + strings.Repeat("0", 64), "", "Authorization: Bearer x", 401, 190, 0},
		"another key's instance":     {"GET", "v22.0/" + r.id, "", limited, 400, 100, 33},
		"another key's number":       {"GET", "v22.0/" + shopNumber, "", limited, 400, 100, 33},
		"an unknown number":          {"GET", "v22.0/5511900000000", "", "", 400, 100, 33},
		"an unknown UUID":            {"GET", "v22.0/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11", "", "", 400, 100, 33},
		"an unknown file":            {"GET", "v22.0/" + strings.Repeat("0", 64), "", "", 400, 100, 33},
		"an unknown path":            {"GET", "v22.0/" + r.id + "/secrets", "", "", 400, 100, 33},
		"no version":                 {"GET", r.id + "/phone_numbers", "", "", 400, 100, 33},
		"another method":             {"PUT", "v22.0/" + r.id, "", "", 400, 100, 33},
		"no JSON":                    {"POST", "v22.0/" + r.id + "/messages", "{", "", 400, 131009, 0},
		"a list":                     {"POST", "v22.0/" + r.id + "/messages", "[]", "", 400, 131009, 0},
		"another type of value":      {"POST", "v22.0/" + r.id + "/messages", `{"to":"1","text":"x"}`, "", 400, 131009, 0},
		"no recipient":               {"POST", "v22.0/" + r.id + "/messages", `{"type":"text","text":{"body":"x"}}`, "", 400, 131008, 0},
		"no text":                    {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"text"}`, "", 400, 131008, 0},
		"a number without account":   {"POST", "v22.0/" + r.id + "/messages", `{"to":"5511900000000","type":"text","text":{"body":"x"}}`, "", 400, 131026, 0},
		"a stranger's user ID":       {"POST", "v22.0/" + r.id + "/messages", `{"recipient":"BR.1349","type":"text","text":{"body":"x"}}`, "", 400, 131026, 0},
		"an unknown type":            {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"poll"}`, "", 501, 131051, 0},
		"a flow":                     {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"interactive","interactive":{"type":"flow","body":{"text":"x"},"action":{}}}`, "", 501, 131051, 0},
		"no buttons":                 {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"interactive","interactive":{"type":"button","body":{"text":"x"},"action":{}}}`, "", 400, 131008, 0},
		"a template":                 {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"template","template":{"name":"hello_world","language":{"code":"pt_BR"}}}`, "", 404, 132001, 0},
		"an upload of nothing":       {"POST", "v22.0/" + r.id + "/media", "", "", 400, 131008, 0},
		"an unknown upload":          {"GET", "v22.0/" + strings.Repeat("0", 32), "", "", 400, 100, 33},
		"it is sent":                 {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"image","image":{"id":"` + strings.Repeat("0", 32) + `"}}`, "", 400, 131053, 0},
		"what is no ID of one":       {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"image","image":{"id":"1349"}}`, "", 400, 131053, 0},
		"a file that is not there":   {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"image","image":{"link":"` + r.BaseURL + `/nothing.png"}}`, "", 400, 131052, 0},
		"a file of another type":     {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"image","image":{"link":"` + r.BaseURL + `/readyz"}}`, "", 400, 131053, 0},
		"no file":                    {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"video","video":{}}`, "", 400, 131008, 0},
		"a place without a place":    {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"location","location":{"latitude":"north","longitude":1}}`, "", 400, 131009, 0},
		"an unlinked instance":       {"POST", "v22.0/" + other.InstanceID + "/messages", `{"to":"` + customerNumber + `","text":{"body":"x"}}`, "", 503, 131016, 0},
		"an unknown message is read": {"POST", "v22.0/" + r.id + "/messages", `{"status":"read","message_id":"3EB0FFFF"}`, "", 400, 100, 33},
		"half a template is made":    {"POST", "v22.0/" + r.id + "/message_templates", `{"name":"x"}`, "", 400, 131009, 0},
		"no template is deleted":     {"DELETE", "v22.0/" + r.id + "/message_templates?name=nothing", "", "", 404, 132001, 0},
		"a template without a name":  {"DELETE", "v22.0/" + r.id + "/message_templates", "", "", 400, 131008, 0},
		"no page of templates":       {"GET", "v22.0/" + r.id + "/message_templates?after=x", "", "", 400, 131009, 0},
		"a template in no language":  {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + customerNumber + `","type":"template","template":{"name":"hello_world"}}`, "", 400, 131008, 0},
		"much of a profile":          {"POST", "v22.0/" + r.id + "/whatsapp_business_profile", `{"about":"x","email":"a@example.org"}`, "", 501, 100, 0},
		"nobody is blocked":          {"POST", "v22.0/" + r.id + "/block_users", `{"block_users":[]}`, "", 400, 131008, 0},
		"too much":                   {"POST", "v22.0/" + r.id + "/messages", `{"to":"` + strings.Repeat("1", 2<<20) + `"}`, "", 400, 131009, 0},
	}) {
		headers := []string{one.header}
		if one.header == "" {
			headers = nil
		}
		got := r.ask(t, one.method, one.path, one.body, headers...)
		if got.status != one.status || got.Error.Code != one.code || got.Error.Subcode != one.subcode || got.Error.Message == "" || len(got.body) > 2000 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// People are blocked, listed and let in again, each with an answer.
func TestBlocking(t *testing.T) {
	t.Parallel()
	r := start(t)
	const people = `{"messaging_product":"whatsapp","block_users":[{"user":"+` + customerNumber + `"},{"user":"5511900000000"}]}`
	got := r.ask(t, "POST", "v22.0/"+r.id+"/block_users", people)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"added_users":[{"input":"+`+customerNumber+`","wa_id":"`+customerNumber+`"}]`) ||
		!strings.Contains(got.body, `"failed_users":[{"input":"5511900000000"`) {
		t.Errorf("blocked: %d %s", got.status, got.body)
	}
	if got := r.ask(t, "GET", "v22.0/"+r.id+"/block_users", ""); !strings.Contains(got.body, `"wa_id":"`+customerNumber+`"`) {
		t.Errorf("the list is %s", got.body)
	}
	if got := r.ask(t, "DELETE", "v22.0/"+r.id+"/block_users", people); !strings.Contains(got.body, `"removed_users":[{"input":"+`+customerNumber+`"`) {
		t.Errorf("let in: %s", got.body)
	}
	if got := r.ask(t, "GET", "v22.0/"+r.id+"/block_users", ""); strings.Contains(got.body, customerNumber) {
		t.Errorf("the list is %s", got.body)
	}
}
