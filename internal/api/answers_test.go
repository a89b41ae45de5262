package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func pingFails(context.Context) error { return errors.New("no database") }

func TestInstancesAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	shown := `{"instanceId":"` + id + `","name":"phone","status":"%s","messengerJid":"","messengerLid":"","messengerId":"",
		"messengerName":"","messengerProfilePicUrl":"","createdAt":"2026-11-20T14:22:10.123Z","updatedAt":"2026-11-20T14:22:10.123Z"}`
	wantJSON(t, f.do(t, request{path: "/api/instances", key: f.key}), http.StatusOK,
		`{"data":[`+fmt.Sprintf(shown, "created")+`],"isFirstPage":true,"isLastPage":true,"currentPage":1,"previousPage":null,"nextPage":null,"pageCount":1,"totalCount":1}`)

	pay := request{method: put, path: "/api/partner/instances/" + id + "/payment", key: f.partner, body: `{"pending":true}`}
	wantJSON(t, f.do(t, pay), http.StatusOK, fmt.Sprintf(shown, "payment_pending"))
	wantJSON(t, f.do(t, request{path: "/api/instances/" + id, key: f.key}), http.StatusOK, fmt.Sprintf(shown, "payment_pending"))
	for _, r := range everyOperation(id) {
		if !r.isAbout(id) || strings.Contains(r.path, "/partner/") || strings.HasSuffix(r.path, "/logout") || strings.HasSuffix(r.path, id) ||
			strings.Contains(r.path, "/media-download-link/") || strings.HasSuffix(r.path, "/votes") ||
			strings.Contains(r.path, "/presence-subscription") && r.method != put { // which serve what is kept already
			continue
		}
		r.key = f.key
		wantRefusal(t, r, f.do(t, r), http.StatusPaymentRequired, gateway.CodePaymentRequired)
	}
	pay.body = `{"pending":false}`
	wantJSON(t, f.do(t, pay), http.StatusOK, fmt.Sprintf(shown, "created"))

	stop := request{method: post, path: "/api/partner/instances/" + id + "/stop", key: f.partner, body: `not JSON`}
	wantJSON(t, f.do(t, stop), http.StatusOK, `{}`)
	logout := request{method: post, path: "/api/instances/" + id + "/logout", key: f.key}
	wantJSON(t, f.do(t, logout), http.StatusOK, `{}`)

	remove := request{method: destroy, path: "/api/partner/instances/" + id, key: f.partner}
	if got := f.do(t, remove); got.Code != http.StatusNoContent || got.Body.Len() != 0 || got.Header().Get("Content-Type") != "" {
		t.Errorf("status %d, type %q, body %q", got.Code, got.Header().Get("Content-Type"), got.Body)
	}
	wantRefusal(t, remove, f.do(t, remove), http.StatusNotFound, gateway.CodeInstanceNotFound)
	wantJSON(t, f.do(t, request{path: "/api/instances", key: f.key}), http.StatusOK,
		`{"data":[],"isFirstPage":true,"isLastPage":true,"currentPage":1,"previousPage":null,"nextPage":null,"pageCount":0,"totalCount":0}`)

	create := request{method: post, path: "/api/partner/instances", key: f.partner, body: `{"name":"Łódź <1>"}`}
	got := f.do(t, create)
	if got.Code != http.StatusCreated || !strings.Contains(got.Body.String(), `"name":"Łódź <1>","status":"created"`) {
		t.Errorf("created %d %s", got.Code, got.Body)
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	ids := make([]string, 5)
	for i := range ids {
		ids[i] = f.newInstance(t)
	}
	for _, test := range []struct {
		query string
		want  []string
		rest  string // isFirstPage isLastPage currentPage previousPage nextPage pageCount totalCount
	}{
		{"", ids, "true true 1 null null 1 5"},
		{"?limit=2", ids[:2], "true false 1 null 2 3 5"},
		{"?limit=2&page=2", ids[2:4], "false false 2 1 3 3 5"},
		{"?limit=2&page=3", ids[4:], "false true 3 2 null 3 5"},
		{"?limit=2&page=4", nil, "false true 4 3 null 3 5"},
		{"?page=9223372036854775807&limit=100", nil, "false true 9223372036854775807 9223372036854775806 null 1 5"},
		{"?limit=5&page=1&other=x", ids, "true true 1 null null 1 5"},
	} {
		got := f.do(t, request{path: "/api/instances" + test.query, key: f.key})
		var page struct {
			Data []struct {
				InstanceID string `json:"instanceId"`
			} `json:"data"`
			IsFirstPage  bool            `json:"isFirstPage"`
			IsLastPage   bool            `json:"isLastPage"`
			CurrentPage  json.RawMessage `json:"currentPage"`
			PreviousPage json.RawMessage `json:"previousPage"`
			NextPage     json.RawMessage `json:"nextPage"`
			PageCount    json.RawMessage `json:"pageCount"`
			TotalCount   json.RawMessage `json:"totalCount"`
		}
		if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil {
			t.Fatalf("%s: %v", test.query, err)
		}
		var data []string
		for _, item := range page.Data {
			data = append(data, item.InstanceID)
		}
		rest := fmt.Sprintf("%v %v %s %s %s %s %s", page.IsFirstPage, page.IsLastPage, page.CurrentPage,
			page.PreviousPage, page.NextPage, page.PageCount, page.TotalCount)
		if !slices.Equal(data, test.want) || rest != test.rest {
			t.Errorf("%s: %v %s; want %v %s", test.query, data, rest, test.want, test.rest)
		}
	}
	unreadable := request{path: "/api/instances?%zz", key: f.key}
	wantRefusal(t, unreadable, f.do(t, unreadable), http.StatusBadRequest, gateway.CodeValidation)
	limited := f.newKey(t, access.KeyParams{AccountID: f.account.ID, InstanceIDs: ids[3:4]})
	got := f.do(t, request{path: "/api/instances", key: limited})
	if strings.Count(got.Body.String(), "instanceId") != 1 || !strings.Contains(got.Body.String(), ids[3]) {
		t.Errorf("a limited key lists %s", got.Body)
	}
}

func TestSendTextAsksForWhatWasMeant(t *testing.T) {
	t.Parallel()
	messages := &outcome{result: messaging.Result{ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", MessageID: "3EB0"}}
	f := newFixture(t, func(c *api.Config) { c.Messages = messages })
	id := f.newInstance(t)
	send := func(body, key string) *httptest.ResponseRecorder {
		header := http.Header{}
		if key != "" {
			header.Set("Idempotency-Key", key)
		}
		return f.do(t, request{method: post, path: "/api/message/" + id + "/text", key: f.key, body: body, header: header})
	}
	got := send(`{"to":"(11) 98888-7766","message":" Oi\n<b>","quoteMessageId":"true_77@lid_3EB0AA","unknown":1}`, "")
	wantJSON(t, got, http.StatusCreated, `{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2","messageId":"3EB0"}`)
	if got.Header().Values("Idempotency-Replayed") != nil {
		t.Error("it says that it is a repeat")
	}
	first := messages.last().request
	if first.InstanceID != id || first.To != (gateway.Recipient{Number: "5511988887766"}) || first.Repeat != nil ||
		first.Quote != (gateway.MessageRef{ID: "3EB0AA", Chat: "77@lid"}) || !reflect.DeepEqual(messages.last().other, gateway.Content{Type: gateway.TypeText, Text: " Oi\n<b>"}) {
		t.Errorf("asked for %+v %q", first, messages.last().other)
	}

	messages.result.Replayed = true
	if got := send(`{"to":"77@lid","message":"a"}`, "order 1"); got.Header().Get("Idempotency-Replayed") != "true" {
		t.Error("it does not say that it is a repeat")
	}
	send("\n{\"message\":\"a\",\"more\":0,\n\"quoteMessageId\":null,\"to\":\"77@lid\"}", "order 1")
	send(`{"to":"77@lid","message":"b"}`, "order 1")
	same, again, other := messages.asked[1].request.Repeat, messages.asked[2].request.Repeat, messages.asked[3].request.Repeat
	if same.Key != "order 1" || same.KeyID == "" || len(same.Hash) == 0 {
		t.Errorf("the repeat is %+v", same)
	}
	if !bytes.Equal(same.Hash, again.Hash) || bytes.Equal(same.Hash, other.Hash) {
		t.Error("the hash does not tell the same request from another one")
	}
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	create := func(key, body string) *httptest.ResponseRecorder {
		return f.do(t, request{method: post, path: "/api/partner/api-keys", key: key, body: body})
	}
	var made struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	got := create(f.partner, `{"name":"shop","instanceIds":["`+id+`"],"expiresAt":"2027-01-01T01:00:00+01:00"}`)
	if err := json.Unmarshal(got.Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	fields := `"id":"` + made.ID + `","name":"shop","instanceIds":["` + id + `"],"partner":false,"expiresAt":"2027-01-01T00:00:00.000Z","createdAt":"2026-11-20T14:22:10.123Z"`
	wantJSON(t, got, http.StatusCreated, `{`+fields+`,"key":"`+made.Key+`"}`)
	if got := f.do(t, request{path: "/api/instances", key: made.Key}); got.Code != http.StatusOK {
		t.Errorf("the new key opens nothing: %d", got.Code)
	}

	list := request{path: "/api/partner/api-keys?page=3&limit=1", key: f.partner}
	wantJSON(t, f.do(t, list), http.StatusOK, `{"data":[{`+fields+`,"lastUsedAt":"2026-11-20T14:22:10.123Z","revokedAt":null,"dialects":[]}],"isFirstPage":false,"isLastPage":true,
		"currentPage":3,"previousPage":2,"nextPage":null,"pageCount":3,"totalCount":3}`)

	revoke := request{method: destroy, path: "/api/partner/api-keys/" + made.ID, key: f.partner}
	for range 2 {
		if got := f.do(t, revoke); got.Code != http.StatusNoContent {
			t.Errorf("revoked: %d %s", got.Code, got.Body)
		}
	}
	if got := f.do(t, list); !strings.Contains(got.Body.String(), `"revokedAt":"2026-11-20T14:22:10.123Z"`) {
		t.Errorf("listed as %s", got.Body)
	}
	used := request{path: "/api/instances", key: made.Key}
	wantRefusal(t, used, f.do(t, used), http.StatusUnauthorized, gateway.CodeUnauthorized)
	for _, id := range []string{"x", "%00", "019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"} {
		revoke.path = "/api/partner/api-keys/" + id
		wantRefusal(t, revoke, f.do(t, revoke), http.StatusNotFound, gateway.CodeNotFound)
	}

	if got := create(f.partner, `{"name":"all"}`); !strings.Contains(got.Body.String(), `"instanceIds":null,"partner":false,"expiresAt":null`) {
		t.Errorf("made %s", got.Body)
	}
	limited := f.newKey(t, access.KeyParams{AccountID: f.account.ID, InstanceIDs: []string{id}, Partner: true})
	other := f.newInstance(t)
	for body, want := range cases.Sorted(map[string]int{
		`{"name":"a"}`: http.StatusForbidden,
		`{"name":"a","instanceIds":["` + id + `","` + other + `"]}`: http.StatusForbidden,
		`{"name":"a","instanceIds":["` + id + `"],"partner":true}`:  http.StatusCreated,
	}) {
		if got := create(limited, body); got.Code != want {
			t.Errorf("a limited key makes %s: %d %s", body, got.Code, got.Body)
		}
	}
}

// A request is one log line: enough to find it, without its content.
func TestLogLine(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	got := f.do(t, request{method: post, path: "/api/instances/" + id + "/logout?secret=1", key: f.key})
	var line map[string]any
	if err := json.Unmarshal([]byte(f.log.String()), &line); err != nil {
		t.Fatalf("%v: %s", err, f.log)
	}
	delete(line, "time")
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "POST", "route": "/api/instances/{instanceId}/logout", "status": 200.0,
		"duration": 0.0, "request_id": got.Header().Get("X-Request-Id"), "instance_id": id,
	}
	if fmt.Sprint(line) != fmt.Sprint(want) {
		t.Errorf("logged\n%v\nwant\n%v", line, want)
	}
}

// Some properties show only on a real connection.
func TestOverTheWire(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	server := httptest.NewUnstartedServer(nil)
	server.Config = contract.NewHTTPServer(f.handler, newDiscardLogger())
	server.Start()
	defer server.Close()

	call := func(method, path string, body *strings.Reader, length int64) *http.Response {
		made, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		made.Header.Set("X-Api-Key", f.key)
		made.ContentLength = length
		response, err := http.DefaultTransport.RoundTrip(made)
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	list := call(get, "/api/instances", strings.NewReader(""), 0)
	head := call(http.MethodHead, "/api/instances", strings.NewReader(""), 0)
	if text := readAll(t, head.Body); head.StatusCode != http.StatusOK || text != "" || head.Header.Get("Content-Type") != "application/json" ||
		head.ContentLength != list.ContentLength {
		t.Errorf("HEAD: %d, %d bytes announced, %q", head.StatusCode, head.ContentLength, text)
	}
	if text := readAll(t, list.Body); int64(len(text)) != list.ContentLength {
		t.Errorf("GET: %d bytes announced: %s", list.ContentLength, text)
	}
	for _, length := range []int64{2 << 20, -1} { // with a length, and in chunks
		large := call(post, "/api/message/"+id+"/text", strings.NewReader(strings.Repeat("a", 2<<20)), length)
		if text := readAll(t, large.Body); large.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(text, `"error":"PAYLOAD_TOO_LARGE"`) {
			t.Errorf("a body of length %d: %d %s", length, large.StatusCode, text)
		}
		closeBody(t, large)
	}
	for _, path := range []string{"//api/instances", "/api/instances/"} {
		odd := call(get, path, strings.NewReader(""), 0)
		if text := readAll(t, odd.Body); odd.StatusCode != http.StatusNotFound || !strings.Contains(text, `"path":"`+path+`"`) {
			t.Errorf("%s: %d %s", path, odd.StatusCode, text)
		}
		closeBody(t, odd)
	}
	closeBody(t, list)
	closeBody(t, head)
}

func newLabelRecorder(tb testing.TB, data *store.Store) *label.Recorder {
	tb.Helper()
	recorder, err := label.NewRecorder(data)
	if err != nil {
		tb.Fatal(err)
	}
	return recorder
}

func newLabels(tb testing.TB, data *store.Store, chats *chat.Service, sessions *instance.Sessions) *label.Service {
	tb.Helper()
	made, err := label.New(label.Config{Store: data.Labels, Chats: chats, Sessions: sessions, Recorder: newLabelRecorder(tb, data), Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	one := "/api/instances/" + f.newInstance(t)
	path, unknown := one+"/webhook-config", one+"/webhooks/019aa1f4-1c7f-7a20-8a5e-4be2f7b0a911"
	for name, c := range cases.Sorted(map[string]struct {
		method, path, body string
		status             int
		code, says         string
	}{
		"no URL":              {http.MethodPost, path, `{}`, 400, gateway.CodeValidation, "webhookUrl"},
		"URL of another type": {http.MethodPost, path, `{"webhookUrl":1}`, 400, gateway.CodeValidation, "webhookUrl"},
		"no http URL":         {http.MethodPost, path, `{"webhookUrl":"ftp://example.org"}`, 400, gateway.CodeValidation, "webhookUrl"},
		"relative URL":        {http.MethodPost, path, `{"webhookUrl":"/events"}`, 400, gateway.CodeValidation, "webhookUrl"},
		"private address":     {http.MethodPost, path, `{"webhookUrl":"http://169.254.169.254/"}`, 400, gateway.CodeValidation, "private"},
		"empty secret":        {http.MethodPost, path, `{"webhookUrl":"https://example.org","secret":""}`, 400, gateway.CodeValidation, "secret"},
		"isActive as a text":  {http.MethodPost, path, `{"webhookUrl":"https://example.org","isActive":"true"}`, 400, gateway.CodeValidation, "isActive"},
		"no such event":       {http.MethodPost, path, `{"webhookUrl":"https://example.org","events":["message.invented"]}`, 400, gateway.CodeValidation, "events"},
		"a host":              {http.MethodPost, path, `{"webhookUrl":"https://example.org","headers":{"Host":"internal"}}`, 400, gateway.CodeValidation, "headers"},
		"none is there":       {http.MethodGet, path, "", 404, gateway.CodeWebhookNotFound, ""},
		"none to delete":      {http.MethodDelete, path, "", 404, gateway.CodeWebhookNotFound, ""},
		"none to list":        {http.MethodGet, unknown + "/deliveries", "", 404, gateway.CodeWebhookNotFound, ""},
		"none to test":        {http.MethodPost, unknown + "/test", "", 404, gateway.CodeWebhookNotFound, ""},
		"replay of nothing":   {http.MethodPost, unknown + "/replay", `{}`, 400, gateway.CodeValidation, "since"},
		"replay of both":      {http.MethodPost, unknown + "/replay", `{"fromSequence":1,"since":"2026-11-20T14:00:00Z"}`, 400, gateway.CodeValidation, "not both"},
		"replay from 0":       {http.MethodPost, unknown + "/replay", `{"fromSequence":0}`, 400, gateway.CodeValidation, "fromSequence"},
		"replay from a half":  {http.MethodPost, unknown + "/replay", `{"fromSequence":1.5}`, 400, gateway.CodeValidation, "fromSequence"},
		"replay from afar":    {http.MethodPost, unknown + "/replay", `{"fromSequence":1e300}`, 400, gateway.CodeValidation, "fromSequence"},
		"replay since a day":  {http.MethodPost, unknown + "/replay", `{"since":"yesterday"}`, 400, gateway.CodeValidation, "since"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request{method: c.method, path: c.path, key: f.key, body: c.body}
			if body := wantRefusal(t, r, f.do(t, r), c.status, c.code); !strings.Contains(body.Message, c.says) {
				t.Errorf("it says %q, which does not name %s", body.Message, c.says)
			}
		})
	}
}

// The list of deliveries has the state of the delivery.
func TestDeliveriesTellTheirCondition(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	one := "/api/instances/" + f.newInstance(t)
	const page = `"isFirstPage":true,"isLastPage":true,"currentPage":1,"previousPage":null,"nextPage":null,"pageCount":0,"totalCount":0`
	for active, want := range cases.Sorted(map[string]string{
		"false": `"state":"inactive","until":null,"since":null,"reason":null`,
		"true":  `"state":"waiting","until":null,"since":null,"reason":"webhooks are not being delivered at the moment"`, // nothing runs here
	}) {
		id := f.saveWebhook(t, one, `{"webhookUrl":"https://example.org","isActive":`+active+`}`)
		wantJSON(t, f.do(t, request{path: one + "/webhooks/" + id + "/deliveries", key: f.key}), http.StatusOK,
			`{"data":[],`+page+`,"delivery":{`+want+`,"pendingEvents":0,"oldestPendingAt":null}}`)
	}
}

// saveWebhook saves the webhook of webhook-config, and returns its id.
func (f *fixture) saveWebhook(t *testing.T, instancePath, body string) string {
	t.Helper()
	var saved struct {
		ID string `json:"id"`
	}
	got := f.do(t, request{method: post, path: instancePath + "/webhook-config", key: f.key, body: body})
	if err := json.Unmarshal(got.Body.Bytes(), &saved); err != nil || got.Code != http.StatusOK {
		t.Fatalf("saved: %d %s (%v)", got.Code, got.Body, err)
	}
	return saved.ID
}

// What webhook-config is given beside its address is kept, and stays if it is left out later.
func TestWebhookConfigTakesAllFields(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	one := "/api/instances/" + f.newInstance(t)
	for _, body := range []string{
		`{"webhookUrl":"https://example.org","events":["message.received"],"chats":["direct"],"headers":{"X-Shop":"1"},"mediaLinks":false}`,
		`{"webhookUrl":"https://example.com"}`,
	} {
		id := f.saveWebhook(t, one, body)
		got := f.do(t, request{path: one + "/webhooks/" + id, key: f.key}).Body.String()
		if want := `"events":["message.received"],"chats":["direct"],"headerNames":["X-Shop"],"mediaLinks":false,"format":"recado","isActive":true`; !strings.Contains(got, want) {
			t.Errorf("after %s: %s, which lacks %s", body, got, want)
		}
	}
}

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
