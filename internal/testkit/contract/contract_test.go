package contract_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/contract"
)

// verdict is a testing.TB that records its failures.
type verdict struct {
	testing.TB

	mu       sync.Mutex
	failures []string
}

// Error records a failure.
func (v *verdict) Error(args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures = append(v.failures, fmt.Sprint(args...))
}

// scripted gives every request the same answer.
type scripted struct {
	status      int
	contentType string
	body        string
}

// RoundTrip reads the request and answers.
func (s scripted) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return nil, err
		}
	}
	header := http.Header{}
	if s.contentType != "" {
		header.Set("Content-Type", s.contentType)
	}
	return &http.Response{StatusCode: s.status, Header: header, Body: io.NopCloser(strings.NewReader(s.body)), Request: request}, nil
}

const (
	instances = "/api/instances/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"
	messages  = "/api/message/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"
	sent      = `{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2","messageId":"3EB0"}`
	refused   = `{"statusCode":%d,"message":"m","error":"E","timestamp":"2026-11-20T14:22:10.123Z","path":"/"}`
)

func TestTransport(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := `{"to":"5511988887766","message":"a"}`
	for name, test := range cases.Sorted(map[string]struct {
		operation, body string
		answer          scripted
		want            string // of the failure; empty for none
	}{
		"fits":                     {"POST " + messages + "/text", text, scripted{201, "application/json", sent}, ""},
		"answer without a field":   {"POST " + messages + "/text", text, scripted{201, "application/json", `{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2"}`}, "messageId"},
		"answer with another one":  {"POST " + messages + "/text", text, scripted{201, "application/json", strings.Replace(sent, "{", `{"more":1,`, 1)}, "more"},
		"answer of another type":   {"POST " + messages + "/text", text, scripted{201, "application/json", strings.Replace(sent, `"3EB0"`, `1`, 1)}, "messageId"},
		"another status":           {"POST " + messages + "/text", text, scripted{200, "application/json", sent}, "status is not supported"},
		"another type of content":  {"POST " + messages + "/text", text, scripted{201, "text/plain", sent}, "Content-Type"},
		"no JSON":                  {"POST " + messages + "/text", text, scripted{201, "application/json", "ok"}, "decode"},
		"a wrong request accepted": {"POST " + messages + "/text", `{"to":"5511988887766"}`, scripted{201, "application/json", sent}, "the request was accepted"},
		"a wrong request refused":  {"POST " + messages + "/text", `{"to":1}`, scripted{400, "application/json", fmt.Sprintf(refused, 400)}, ""},
		"a refusal without a code": {"POST " + messages + "/text", text, scripted{404, "application/json", `{"statusCode":404}`}, "error"},
		"null sent":                {"POST " + messages + "/text", strings.Replace(text, "{", `{"quoteMessageId":null,`, 1), scripted{201, "application/json", sent}, ""},
		"null for what is needed":  {"POST " + messages + "/text", `{"to":null,"message":"a"}`, scripted{201, "application/json", sent}, "the request was accepted"},
		"unknown fields sent":      {"POST " + messages + "/text", strings.Replace(text, "{", `{"more":1,`, 1), scripted{201, "application/json", sent}, ""},
		"no body":                  {"DELETE " + messages + "/delete", `{"messageId":"3EB0"}`, scripted{204, "", ""}, ""},
		"a body where none is":     {"DELETE " + messages + "/delete", `{"messageId":"3EB0"}`, scripted{204, "", "{}"}, "the answer has a body"},
		"null where it may be":     {"GET " + instances + "/contacts/55%40lid/profile-picture", ``, scripted{200, "application/json", `{"url":null}`}, ""},
		"null where it may not be": {"GET " + messages + "/media-download-link/3EB0", ``, scripted{200, "application/json", `{"url":null,"urlExpiresIn":1,"fileName":""}`}, "url"},
		"nested":                   {"POST " + instances + "/check-numbers", `{"numbers":["1"]}`, scripted{200, "application/json", `{"results":[{"number":"1","exists":false,"more":1}]}`}, "more"},
		"wrong query accepted":     {"GET /api/instances?page=0", ``, scripted{200, "application/json", `{"data":[],"isFirstPage":true,"isLastPage":true,"currentPage":1,"previousPage":null,"nextPage":null,"pageCount":0,"totalCount":0}`}, "the request was accepted"},
		"an empty object":          {"POST " + instances + "/restart", ``, scripted{200, "application/json", "{}"}, ""},
		"not an empty object":      {"POST " + instances + "/restart", ``, scripted{200, "application/json", `{"a":1}`}, "a"},
		"unknown and refused":      {"GET /api/nothing", ``, scripted{404, "application/json", fmt.Sprintf(refused, 404)}, ""},
		"unknown method refused":   {"PATCH " + messages + "/text", ``, scripted{405, "application/json", fmt.Sprintf(refused, 405)}, ""},
		"unknown, badly refused":   {"GET /api/nothing", ``, scripted{404, "text/plain", "404 page not found"}, "not JSON"},
		"unknown and taken":        {"GET /api/nothing", ``, scripted{200, "application/json", "{}"}, "does not have this operation"},
		"not of the API":           {"GET /sandbox/api/phones", ``, scripted{200, "application/json", "{}"}, ""},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &verdict{TB: t}
			transport := contract.Transport(v, document, test.answer)
			method, path, _ := strings.Cut(test.operation, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, "http://gateway"+path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil || string(body) != test.answer.body {
				t.Errorf("the answer comes out as %q (%v)", body, err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			got := strings.Join(v.failures, "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("failures %q, want %q", got, test.want)
			}
		})
	}
}
