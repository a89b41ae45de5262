package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	path := "/api/instances/" + f.newInstance(t) + "/webhook-config"
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
		"none is there":       {http.MethodGet, path, "", 404, gateway.CodeWebhookNotFound, ""},
		"none to delete":      {http.MethodDelete, path, "", 404, gateway.CodeWebhookNotFound, ""},
		"none to list":        {http.MethodGet, path + "/deliveries", "", 404, gateway.CodeWebhookNotFound, ""},
		"none to test":        {http.MethodPost, path + "/test", "", 404, gateway.CodeWebhookNotFound, ""},
		"replay of nothing":   {http.MethodPost, path + "/replay", `{}`, 400, gateway.CodeValidation, "since"},
		"replay of both":      {http.MethodPost, path + "/replay", `{"fromSequence":1,"since":"2026-11-20T14:00:00Z"}`, 400, gateway.CodeValidation, "not both"},
		"replay from 0":       {http.MethodPost, path + "/replay", `{"fromSequence":0}`, 400, gateway.CodeValidation, "fromSequence"},
		"replay from a half":  {http.MethodPost, path + "/replay", `{"fromSequence":1.5}`, 400, gateway.CodeValidation, "fromSequence"},
		"replay from afar":    {http.MethodPost, path + "/replay", `{"fromSequence":1e300}`, 400, gateway.CodeValidation, "fromSequence"},
		"replay since a day":  {http.MethodPost, path + "/replay", `{"since":"yesterday"}`, 400, gateway.CodeValidation, "since"},
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
	path := "/api/instances/" + f.newInstance(t) + "/webhook-config"
	const page = `"isFirstPage":true,"isLastPage":true,"currentPage":1,"previousPage":null,"nextPage":null,"pageCount":0,"totalCount":0`
	for active, want := range cases.Sorted(map[string]string{
		"false": `"state":"inactive","until":null,"since":null,"reason":null`,
		"true":  `"state":"waiting","until":null,"since":null,"reason":"webhooks are not being delivered at the moment"`, // nothing runs here
	}) {
		if got := f.do(t, request{method: post, path: path, key: f.key, body: `{"webhookUrl":"https://example.org","isActive":` + active + `}`}); got.Code != http.StatusOK {
			t.Fatalf("saved: %d %s", got.Code, got.Body)
		}
		wantJSON(t, f.do(t, request{path: path + "/deliveries", key: f.key}), http.StatusOK,
			`{"data":[],`+page+`,"delivery":{`+want+`,"pendingEvents":0,"oldestPendingAt":null}}`)
	}
}
