package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
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
		first.Quote != (gateway.MessageRef{ID: "3EB0AA", Chat: "77@lid"}) || messages.last().other != " Oi\n<b>" {
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
	wantJSON(t, f.do(t, list), http.StatusOK, `{"data":[{`+fields+`,"lastUsedAt":"2026-11-20T14:22:10.123Z","revokedAt":null}],"isFirstPage":false,"isLastPage":true,
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
