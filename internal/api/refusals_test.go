package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

const (
	get     = http.MethodGet
	post    = http.MethodPost
	put     = http.MethodPut
	destroy = http.MethodDelete
)

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	for _, path := range []string{
		"/api", "/api/", "/nowhere", "/api/instances/", "/api//instances", "//api/instances", "/api/./instances",
		"/api/x/../instances", "/api/instances/" + id + "/qr/", "/api/instances//qr", "/API/instances",
		"/api/message/" + id, "/api/message/" + id + "/fax", "/api/message/" + id + "/fax-page", "/api/message/" + id + "/fax/1", "/openapi.json/", "/docs/api", "/schemas/Sent.json", "/openapi-3.0.json",
		"/api/instances/a%2Fb/c", "*",
	} {
		for _, method := range []string{get, post, http.MethodOptions, "BREW"} {
			for _, key := range []string{"", f.key} {
				r := request{method: method, path: path, key: key}
				wantRefusal(t, r, f.do(t, r), http.StatusNotFound, gateway.CodeNotFound)
			}
		}
	}
}

func TestWrongMethods(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	for path, allow := range cases.Sorted(map[string]string{
		"/api/instances/" + id + "/channels":                       "GET, HEAD, POST",
		"/api/instances/" + id + "/channels/1":                     "GET, HEAD",
		"/api/instances/" + id + "/channels/1/follow":              "DELETE, POST",
		"/api/instances/" + id + "/channels/1/mute":                "DELETE, POST",
		"/api/instances/" + id + "/channels/1/messages":            "GET, HEAD",
		"/api/instances/" + id + "/channels/1/messages/1/reaction": "POST",

		"/api/instances/" + id + "/chats/1/history":                  "POST",
		"/api/instances/" + id + "/presence-subscriptions":           "GET, HEAD",
		"/api/instances/" + id + "/contacts/1/presence-subscription": "DELETE, GET, HEAD, PUT",

		"/api/instances":                                       "GET, HEAD",
		"/api/instances/" + id + "/qr":                         "GET, HEAD",
		"/api/instances/" + id + "/pairing-code":               "POST",
		"/api/instances/" + id + "/restart":                    "POST",
		"/api/instances/" + id + "/logout":                     "POST",
		"/api/message/" + id + "/text":                         "POST",
		"/api/message/" + id + "/3EB0":                         "GET, HEAD",
		"/api/instances/" + id + "/contacts":                   "GET, HEAD",
		"/api/instances/" + id + "/contacts/1":                 "GET, HEAD, PUT",
		"/api/instances/" + id + "/addresses":                  "POST",
		"/api/instances/" + id + "/labels":                     "GET, HEAD, POST",
		"/api/instances/" + id + "/labels/7":                   "DELETE, GET, HEAD, PATCH",
		"/api/instances/" + id + "/chats/1/labels/7":           "DELETE, PUT",
		"/api/message/" + id + "/3EB0/labels/7":                "DELETE, PUT",
		"/api/instances/" + id + "/chats":                      "GET, HEAD",
		"/api/instances/" + id + "/chats/1":                    "DELETE, GET, HEAD, PATCH",
		"/api/instances/" + id + "/chats/1/messages":           "GET, HEAD",
		"/api/templates":                                       "GET, HEAD, POST",
		"/api/templates/7":                                     "DELETE",
		"/api/partner/instances":                               "POST",
		"/api/partner/instances/" + id:                         "DELETE",
		"/api/partner/instances/" + id + "/stop":               "POST",
		"/api/partner/instances/" + id + "/payment":            "PUT",
		"/api/partner/webhooks":                                "GET, HEAD, POST",
		"/api/partner/webhooks/" + uuid.New().String():         "DELETE, GET, HEAD, PATCH",
		"/api/partner/cloud-api":                               "DELETE, GET, HEAD, PUT",
		"/api/partner/api-keys":                                "GET, HEAD, POST",
		"/api/partner/api-keys/" + uuid.New().String():         "DELETE",
		"/openapi.json":                                        "GET, HEAD",
		"/openapi.yaml":                                        "GET, HEAD",
		"/api/instances/" + id:                                 "GET, HEAD, PATCH",
		"/api/instances/" + id + "/check-numbers":              "POST",
		"/api/instances/" + id + "/presence":                   "POST",
		"/api/instances/" + id + "/contacts/1/profile-picture": "GET, HEAD",
		"/api/instances/" + id + "/contacts/1/block":           "DELETE, POST",
		"/api/instances/" + id + "/calls/1/reject":             "POST",
		"/api/instances/" + id + "/profile":                    "GET, HEAD, PATCH",
		"/api/instances/" + id + "/privacy":                    "GET, HEAD, PATCH",
		"/api/instances/" + id + "/blocks":                     "GET, HEAD",
		"/api/instances/" + id + "/blocks/1":                   "DELETE, PUT",
		"/api/instances/" + id + "/groups/1":                   "GET, HEAD, PATCH",
		"/api/instances/" + id + "/groups":                     "GET, HEAD, POST",
		"/api/instances/" + id + "/groups/1/settings":          "GET, HEAD",
		"/api/instances/" + id + "/groups/1/participants":      "POST",
		"/api/instances/" + id + "/groups/1/leave":             "POST",
		"/api/instances/" + id + "/groups/1/invite":            "GET, HEAD",
		"/api/instances/" + id + "/groups/1/invite/reset":      "POST",
		"/api/instances/" + id + "/groups/1/join-requests":     "GET, HEAD, POST",
		"/api/instances/" + id + "/group-invites/1":            "GET, HEAD",
		"/api/instances/" + id + "/group-invites/1/join":       "POST",
		"/api/instances/" + id + "/communities":                "GET, HEAD, POST",
		"/api/instances/" + id + "/communities/1/groups":       "GET, HEAD",
		"/api/instances/" + id + "/communities/1/groups/2":     "DELETE, PUT",
		"/api/message/" + id + "/image":                        "POST",
		"/api/message/" + id + "/video":                        "POST",
		"/api/message/" + id + "/album":                        "POST",
		"/api/message/" + id + "/video-note":                   "POST",
		"/api/message/" + id + "/audio-note":                   "POST",
		"/api/message/" + id + "/audio-file":                   "POST",
		"/api/message/" + id + "/document":                     "POST",
		"/api/message/" + id + "/location":                     "POST",
		"/api/message/" + id + "/contact":                      "POST",
		"/api/message/" + id + "/sticker":                      "POST",
		"/api/message/" + id + "/reaction":                     "POST",
		"/api/message/" + id + "/forward":                      "POST",
		"/api/message/" + id + "/poll":                         "POST",
		"/api/message/" + id + "/event":                        "POST",
		"/api/message/" + id + "/m/cancel":                     "POST",
		"/api/message/" + id + "/status/text":                  "POST",
		"/api/message/" + id + "/status/image":                 "POST",
		"/api/message/" + id + "/status/video":                 "POST",
		"/api/message/" + id + "/status/audio-note":            "POST",
		"/api/instances/" + id + "/status":                     "GET, HEAD",
		"/api/instances/" + id + "/status/audience":            "GET, HEAD",
		"/api/message/" + id + "/3EB0/votes":                   "GET, HEAD",
		"/api/message/" + id + "/3EB0/pin":                     "DELETE, POST",
		"/api/message/" + id + "/3EB0/star":                    "DELETE, POST",
		"/api/message/" + id + "/3EB0/for-me":                  "DELETE",
		"/api/message/" + id + "/edit":                         "POST",
		"/api/message/" + id + "/read":                         "POST",
		"/api/message/" + id + "/delete":                       "DELETE",
		"/api/message/" + id + "/media-download-link/1":        "GET, HEAD",
		"/healthz":                           "GET, HEAD",
		"/readyz":                            "GET, HEAD",
		"/api/instances/no-instance/restart": "POST",
		"/api/instances/" + id + "/qr?format=raw&page=0": "GET, HEAD",
	}) {
		for _, method := range []string{get, post, put, destroy, http.MethodPatch, http.MethodOptions, http.MethodTrace, "BREW"} {
			if slices.Contains(strings.Split(allow, ", "), method) {
				continue
			}
			r := request{method: method, path: path} // without a key: the method is checked first
			got := f.do(t, r)
			refused := wantRefusal(t, r, got, http.StatusMethodNotAllowed, gateway.CodeMethodNotAllowed)
			if partners := strings.Contains(refused.Message, "for partner keys"); partners != (method == post && path == "/api/instances" || method == destroy && path == "/api/instances/"+id) {
				t.Errorf("%s %s: %s", method, path, refused.Message)
			}
			if got.Header().Get("Allow") != allow {
				t.Errorf("%s %s: Allow is %q, want %q", method, path, got.Header().Get("Allow"), allow)
			}
		}
	}
}

// A refusal says what to do instead, to who comes from another program too.
func TestRefusalsSayWhatIsWanted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	tests := map[string]struct {
		request
		status    int
		code, has string
	}{
		"creating an instance": {request{method: post, path: "/api/instances", key: f.key}, http.StatusMethodNotAllowed, gateway.CodeMethodNotAllowed, "; /api/partner/instances has it"},
		"a bearer token":       {request{path: "/api/instances", header: http.Header{"Authorization": {"Bearer " + f.key}}}, http.StatusUnauthorized, gateway.CodeUnauthorized, "the header Authorization, which is not read"},
		"another header":       {request{path: "/api/instances", header: http.Header{"Apikey": {f.key}}}, http.StatusUnauthorized, gateway.CodeUnauthorized, "the header apikey, which is not read"},
		"no key at all":        {request{path: "/api/instances"}, http.StatusUnauthorized, gateway.CodeUnauthorized, "an API key is made on the dashboard"},
		"a name as the id":     {request{method: post, path: "/api/message/demo/text", key: f.key, body: "{}"}, http.StatusNotFound, gateway.CodeInstanceNotFound, "its ID is wanted here"},
		"an operation's name":  {request{method: post, path: "/api/message/" + id + "/sendText", key: f.key}, http.StatusNotFound, gateway.CodeNotFound, "there is no such path"},
		"a type of events":     {request{path: "/api/instances/" + id + "/events?types=foo", key: f.key}, http.StatusBadRequest, gateway.CodeValidation, `"foo"; there are `},
	}
	for name, test := range cases.Sorted(tests) {
		got := wantRefusal(t, test.request, f.do(t, test.request), test.status, test.code)
		if said := got.Message + fmt.Sprint(got.Details); !strings.Contains(said, test.has) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// png is a picture of one pixel.
// The beginnings of files, long enough to detect their type.
const (
	mp4  = "AAAAGGZ0eXBtcDQyAAAAAG1wNDJpc29t"
	ogg  = "T2dnUwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	webp = "UklGRiAAAABXRUJQVlA4IAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// everyOperation are requests that pass the gate, unless a test takes something away
// from them.
func everyOperation(id string) []request {
	return []request{
		{method: get, path: "/api/instances"},
		{method: get, path: "/api/instances/" + id},
		{method: get, path: "/api/instances/" + id + "/qr"},
		{method: post, path: "/api/instances/" + id + "/pairing-code", body: `{"phone":"5511999990000"}`},
		{method: post, path: "/api/instances/" + id + "/restart"},
		{method: post, path: "/api/instances/" + id + "/logout"},
		{method: post, path: "/api/instances/" + id + "/check-numbers", body: `{"numbers":["5511988887766"]}`},
		{method: post, path: "/api/instances/" + id + "/presence", body: `{"to":"5511988887766","presence":"composing"}`},
		{method: get, path: "/api/instances/" + id + "/contacts/5511988887766/profile-picture"},
		{method: post, path: "/api/instances/" + id + "/contacts/5511988887766/block"},
		{method: destroy, path: "/api/instances/" + id + "/contacts/5511988887766/block"},
		{method: post, path: "/api/instances/" + id + "/chats/5511988887766/history", body: `{"count":1}`},
		{method: get, path: "/api/instances/" + id + "/presence-subscriptions"},
		{method: get, path: "/api/instances/" + id + "/contacts/5511988887766/presence-subscription"},
		{method: put, path: "/api/instances/" + id + "/contacts/5511988887766/presence-subscription", body: `{"hours":1}`},
		{method: destroy, path: "/api/instances/" + id + "/contacts/5511988887766/presence-subscription"},
		{method: post, path: "/api/instances/" + id + "/labels", body: `{"name":"paid"}`},
		{method: post, path: "/api/instances/" + id + "/calls/3EB0A/reject"},
		{method: get, path: "/api/instances/" + id + "/profile"},
		{method: http.MethodPatch, path: "/api/instances/" + id + "/profile", body: `{"picture":"data:image/png;base64,` + png + `"}`},
		{method: get, path: "/api/instances/" + id + "/privacy"},
		{method: http.MethodPatch, path: "/api/instances/" + id + "/privacy", body: `{"groups":"contacts"}`},
		{method: get, path: "/api/instances/" + id + "/blocks"},
		{method: http.MethodPut, path: "/api/instances/" + id + "/blocks/5511988887766"},
		{method: http.MethodDelete, path: "/api/instances/" + id + "/blocks/5511988887766"},
		{method: get, path: "/api/instances/" + id + "/groups/120363041234567890@g.us"},
		{method: post, path: "/api/message/" + id + "/text", body: `{"to":"5511988887766","message":"Oi"}`},
		{method: post, path: "/api/message/" + id + "/template", body: `{"to":"5511988887766","name":"a","language":"en","media":"data:image/png;base64,` + png + `"}`},
		{method: get, path: "/api/templates"},
		{method: post, path: "/api/templates", body: `{"name":"a","language":"en","components":[{"type":"BODY","text":"Oi"}]}`},
		{method: destroy, path: "/api/templates/7"},
		{method: post, path: "/api/message/" + id + "/image", body: `{"to":"5511988887766","image":"data:image/png;base64,` + png + `"}`},
		{method: post, path: "/api/message/" + id + "/video", body: `{"to":"5511988887766","video":"data:video/mp4;base64,` + mp4 + `"}`},
		{method: post, path: "/api/message/" + id + "/video-note", body: `{"to":"5511988887766","video":"data:video/mp4;base64,` + mp4 + `"}`},
		{method: post, path: "/api/message/" + id + "/audio-note", body: `{"to":"5511988887766","audio":"data:audio/ogg;base64,` + ogg + `"}`},
		{method: post, path: "/api/message/" + id + "/audio-file", body: `{"to":"5511988887766","audio":"data:audio/ogg;base64,` + ogg + `"}`},
		{method: post, path: "/api/message/" + id + "/document", body: `{"to":"5511988887766","document":"data:text/plain;base64,AAAA"}`},
		{method: post, path: "/api/message/" + id + "/sticker", body: `{"to":"5511988887766","sticker":"data:image/webp;base64,` + webp + `"}`},
		{method: post, path: "/api/message/" + id + "/location", body: `{"to":"5511988887766","latitude":0,"longitude":0}`},
		{method: post, path: "/api/message/" + id + "/contact", body: `{"to":"5511988887766","contact":{"fullName":"Ana","phoneNumber":"5511977776655"}}`},
		{method: post, path: "/api/message/" + id + "/event", body: `{"to":"5511988887766","name":"a","start":"2031-05-06T10:00:00Z"}`},
		{method: post, path: "/api/message/" + id + "/m/cancel"},
		{method: post, path: "/api/message/" + id + "/poll", body: `{"to":"5511988887766","question":"a","options":["b","c"]}`},
		{method: post, path: "/api/message/" + id + "/status/text", body: `{"message":"Oi"}`},
		{method: post, path: "/api/message/" + id + "/status/image", body: `{"image":"data:image/png;base64,` + png + `"}`},
		{method: post, path: "/api/message/" + id + "/status/video", body: `{"video":"data:video/mp4;base64,` + mp4 + `"}`},
		{method: post, path: "/api/message/" + id + "/status/audio-note", body: `{"audio":"data:audio/ogg;base64,` + ogg + `"}`},
		{method: get, path: "/api/instances/" + id + "/status/audience"},
		{method: get, path: "/api/message/" + id + "/3EB0/votes"},
		{method: post, path: "/api/message/" + id + "/forward", body: `{"to":"5511988887766","messageId":"3EB0"}`},
		{method: post, path: "/api/message/" + id + "/edit", body: `{"messageId":"3EB0","message":"Oi"}`},
		{method: post, path: "/api/message/" + id + "/read", body: `{"messageId":"3EB0"}`},
		{method: destroy, path: "/api/message/" + id + "/delete", body: `{"messageId":"3EB0"}`},
		{method: post, path: "/api/message/" + id + "/reaction", body: `{"messageId":"3EB0","reaction":"👍"}`},
		{method: get, path: "/api/message/" + id + "/media-download-link/3EB0"},
		{method: post, path: "/api/partner/instances", body: `{"name":"a"}`},
		{method: destroy, path: "/api/partner/instances/" + id},
		{method: post, path: "/api/partner/instances/" + id + "/stop"},
		{method: put, path: "/api/partner/instances/" + id + "/payment", body: `{"pending":true}`},
		{method: get, path: "/api/partner/webhooks"},
		{method: post, path: "/api/partner/webhooks", body: `{"url":"https://example.org"}`},
		{method: get, path: "/api/partner/webhooks/" + uuid.New().String()},
		{method: http.MethodPatch, path: "/api/partner/webhooks/" + uuid.New().String(), body: `{}`},
		{method: destroy, path: "/api/partner/webhooks/" + uuid.New().String()},
		{method: get, path: "/api/partner/cloud-api"},
		{method: put, path: "/api/partner/cloud-api", body: `{"appSecret":"a secret"}`},
		{method: destroy, path: "/api/partner/cloud-api"},
		{method: get, path: "/api/partner/api-keys"},
		{method: post, path: "/api/partner/api-keys", body: `{"name":"a"}`},
		{method: destroy, path: "/api/partner/api-keys/" + uuid.New().String()},
	}
}

func TestKeysThatOpenNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	expired := f.newKey(t, access.KeyParams{AccountID: f.account.ID, ExpiresAt: now()})
	revoked := f.newKey(t, access.KeyParams{AccountID: f.account.ID})
	page, err := f.access.ListKeys(t.Context(), f.account.ID, gateway.PageRequest{Page: 1, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.access.RevokeKey(t.Context(), f.account.ID, page.Items[page.Total-1].ID); err != nil {
		t.Fatal(err)
	}
	tooLong := strings.Repeat("a", 2<<20)
	for _, r := range everyOperation("no-instance") { // the key is checked first
		for _, key := range []string{"", " ", "x", f.key[:len(f.key)-1] + "!", f.key + " x", "\xff\x00", expired, revoked} {
			r.key = key
			wantRefusal(t, r, f.do(t, r), http.StatusUnauthorized, gateway.CodeUnauthorized)
			r.body = tooLong
			wantRefusal(t, r, f.do(t, r), http.StatusUnauthorized, gateway.CodeUnauthorized)
		}
	}
}

// What is the account's own is not for a key that is limited to certain instances, a partner key among them: others of the account
// would be heard, or changed.
func TestWhatIsTheAccountsIsNotForLimitedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	for _, partner := range []bool{false, true} {
		limited := f.newKey(t, access.KeyParams{AccountID: f.account.ID, InstanceIDs: []string{id}, Partner: partner})
		for _, r := range []request{
			{path: "/api/uploads", key: limited},
			{method: post, path: "/api/templates", key: limited, body: `{"name":"bill","language":"pt_BR","components":[{"type":"BODY","text":"Oi"}]}`},
			{method: http.MethodDelete, path: "/api/templates/1", key: limited},
			{method: http.MethodPut, path: "/api/partner/cloud-api", key: limited, body: `{"appSecret":"secret"}`},
		} {
			wantRefusal(t, r, f.do(t, r), http.StatusForbidden, gateway.CodeForbidden)
		}
	}
}

func TestInstancesOutOfTheScopeOfAKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id, other := f.newInstance(t), f.newInstance(t)
	stranger, err := f.access.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	limited := f.newKey(t, access.KeyParams{AccountID: f.account.ID, InstanceIDs: []string{other}, Partner: true})
	foreign := f.newKey(t, access.KeyParams{AccountID: stranger.ID, Partner: true})
	for _, r := range everyOperation(id) {
		if !r.isAbout(id) {
			continue
		}
		r.body = `{"wrong":` // access is checked before validation
		for _, key := range []string{limited, foreign} {
			r.key = key
			wantRefusal(t, r, f.do(t, r), http.StatusForbidden, gateway.CodeForbidden)
		}
	}
	for _, id := range []string{
		uuid.New().String(), "1", "no-instance", "%00", "%ff", strings.ToUpper(id), "{" + id + "}", "urn:uuid:" + id,
		strings.ReplaceAll(id, "-", ""), strings.Repeat("a", 5000), "a%2Fb", "%2e%2e", "'; DROP TABLE instances",
	} {
		id = strings.ReplaceAll(id, " ", "%20")
		for _, r := range everyOperation(id) {
			if !r.isAbout(id) {
				continue
			}
			r.body = `{"wrong":` // existence is checked before validation
			for _, key := range []string{f.partner, foreign, limited} {
				r.key = key
				wantRefusal(t, r, f.do(t, r), http.StatusNotFound, gateway.CodeInstanceNotFound)
			}
		}
		f.loose = true // the document has seen all operations, and wantRefusal reads every field
	}
}

func TestPartnerInterfaceNeedsAPartnerKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	for _, r := range everyOperation(id) {
		if !strings.Contains(r.path, "/partner/") {
			continue
		}
		r.key = f.key
		r.body = `{"wrong":`
		wantRefusal(t, r, f.do(t, r), http.StatusForbidden, gateway.CodeForbidden)
	}
	r := request{method: destroy, path: "/api/partner/instances/" + uuid.New().String(), key: f.key}
	wantRefusal(t, r, f.do(t, r), http.StatusNotFound, gateway.CodeInstanceNotFound)
}

func TestBodiesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.MaxBody, c.MaxMedia = 100, 300 })
	body := `{"to":"1","message":"` + strings.Repeat("a", 100) + `"}`
	// Media is a third more as base64, and everything else may have 1 MiB.
	const mediaLimit = 400 + 4 + 1<<20
	for _, r := range everyOperation(uuid.New().String()) { // size is checked before existence
		if r.body == "" {
			continue
		}
		isMedia := strings.Contains(r.body, ";base64,")
		media := strings.Replace(r.body, ";base64,", ";base64,"+strings.Repeat("AAAA", 100), 1)
		if r.key, r.body = f.key, body; isMedia {
			wantRefusal(t, r, f.do(t, r), http.StatusNotFound, gateway.CodeInstanceNotFound)
			r.body = media + strings.Repeat(" ", mediaLimit-len(media))
			wantRefusal(t, r, f.do(t, r), http.StatusNotFound, gateway.CodeInstanceNotFound)
			r.body += " "
		}
		wantRefusal(t, r, f.do(t, r), http.StatusRequestEntityTooLarge, gateway.CodePayloadTooLarge)
	}
	id := f.newInstance(t)
	r := request{method: post, path: "/api/message/" + id + "/text", key: f.key, body: `{"to":"` + strings.Repeat(" ", 91) + `"}`}
	if len(r.body) != 100 {
		t.Fatalf("the body has %d bytes", len(r.body))
	}
	wantRefusal(t, r, f.do(t, r), http.StatusBadRequest, gateway.CodeValidation)
	r = request{method: post, path: "/api/instances/" + id + "/logout", key: f.key, body: body}
	wantJSON(t, f.do(t, r), http.StatusOK, `{}`) // it has no fields, so its body is ignored
}

// Every error of a use case has one status, and internal errors are not shown.
func TestFailuresOfUseCases(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind   gateway.Kind
		status int
	}{
		{gateway.Invalid, 400},
		{gateway.Unauthorized, 401},
		{gateway.PaymentRequired, 402},
		{gateway.Forbidden, 403},
		{gateway.NotFound, 404},
		{gateway.MethodNotAllowed, 405},
		{gateway.Conflict, 409},
		{gateway.TooLarge, 413},
		{gateway.RateLimited, 429},
		{gateway.PlatformFailed, 502},
		{gateway.Unavailable, 503},
		{gateway.PlatformTimeout, 504},
	} {
		failure := gateway.Errorf(test.kind, "A_CODE", "a <message>")
		failure.RetryAfter = 1500 * time.Millisecond
		got, r, f := sendWith(t, &outcome{err: fmt.Errorf("wrapped: %w", failure)})
		body := wantRefusal(t, r, got, test.status, "A_CODE")
		if body.Message != "a <message>" || got.Header().Get("Retry-After") != "2" {
			t.Errorf("message %q, Retry-After %q", body.Message, got.Header().Get("Retry-After"))
		}
		if strings.Contains(f.log.String(), `"level":"ERROR"`) {
			t.Errorf("it is logged as an error of ours: %s", f.log)
		}
	}
	for name, failing := range cases.Sorted(map[string]*outcome{
		"error":    {err: errors.New("the reason is secret")},
		"internal": {err: gateway.Errorf(gateway.Internal, "INTERNAL_ERROR", "the reason is secret")},
		"panic":    {panics: true},
	}) {
		got, r, f := sendWith(t, failing)
		body := wantRefusal(t, r, got, http.StatusInternalServerError, gateway.CodeInternal)
		if strings.Contains(body.Message, "secret") || got.Header().Get("Retry-After") != "" {
			t.Errorf("%s: it says %q", name, body.Message)
		}
		log := f.log.String()
		if strings.Count(log, "\n") != 1 || !strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(log, "the reason is secret") ||
			!strings.Contains(log, got.Header().Get("X-Request-Id")) {
			t.Errorf("%s: the log says %s", name, log)
		}
	}
}

func sendWith(t *testing.T, messages *outcome) (*httptest.ResponseRecorder, request, *fixture) {
	t.Helper()
	f := newFixture(t, func(c *api.Config) { c.Messages = messages })
	f.loose = true // the statuses are made up
	r := request{
		method: post, path: "/api/message/" + f.newInstance(t) + "/text", key: f.key,
		body: `{"to":"5511988887766","message":"the text is private"}`,
	}
	got := f.do(t, r)
	if strings.Contains(f.log.String(), "private") || strings.Contains(f.log.String(), "5511988887766") {
		t.Errorf("the log says too much: %s", f.log)
	}
	return got, r, f
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.Ready = pingFails })
	r := request{path: "/readyz"}
	got := f.do(t, r)
	wantRefusal(t, r, got, http.StatusServiceUnavailable, gateway.CodeUnavailable)
	if got.Header().Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", got.Header().Get("Retry-After"))
	}
	wantJSON(t, f.do(t, request{path: "/healthz"}), http.StatusOK, `{"status":"ok"}`)
}
