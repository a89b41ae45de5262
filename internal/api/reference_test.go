package api_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestReferencePage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	got := f.do(t, request{path: "/docs"})
	policy := got.Header().Get("Content-Security-Policy")
	if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(policy, "default-src 'none'") {
		t.Fatalf("%d, headers %v", got.Code, got.Header())
	}
	page := got.Body.String()
	style := f.do(t, request{path: "/docs/style.css"})
	if style.Code != http.StatusOK || style.Header().Get("Content-Type") != "text/css; charset=utf-8" || style.Body.Len() == 0 {
		t.Errorf("the style: %d, headers %v", style.Code, style.Header())
	}

	// It works offline: everything that it loads is served here, and every link leads
	// somewhere.
	for _, match := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		switch target := match[1]; {
		case strings.HasPrefix(target, "#"):
			if !strings.Contains(page, `id="`+target[1:]+`"`) {
				t.Errorf("nothing is at %s", target)
			}
		case f.do(t, request{path: target}).Code != http.StatusOK:
			t.Errorf("%s is not served", target)
		}
	}
	plain := strings.Replace(page, `<script src="/docs/page.js" defer></script>`, "", 1)
	if strings.Contains(plain, "<script") || strings.Contains(page, "style=") || strings.Contains(page, " on") && regexp.MustCompile(`<[^>]* on[a-z]+=`).MatchString(page) {
		t.Error("it holds what its policy forbids")
	}

	served := f.do(t, request{path: "/openapi.json"})
	document, err := openapi3.NewLoader().LoadFromData(served.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	operations := 0
	for path, item := range document.Paths.Map() {
		if strings.HasPrefix(path, "/media/") {
			continue // whoever follows a link needs no reference
		}
		for method, operation := range item.Operations() {
			operations++
			article := section(page, `<article id="`+operation.OperationID+`">`)
			if article == "" {
				t.Errorf("%s %s is not there", method, path)
				continue
			}
			shown := fields(operation)
			for _, want := range shown {
				if !strings.Contains(article, "<code>"+want+"</code>") {
					t.Errorf("%s does not tell of %s", operation.OperationID, want)
				}
			}
			for status, response := range operation.Responses.Map() {
				if status < "300" {
					continue
				}
				for _, code := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(*response.Value.Description, -1) {
					if !strings.Contains(article, "<code>"+code[1]+"</code>") {
						t.Errorf("%s does not tell of %s", operation.OperationID, code[1])
					}
				}
			}
		}
	}
	if got := strings.Count(page, "<article"); got != operations {
		t.Errorf("it tells of %d operations, of %d", got, operations)
	}
	for _, example := range regexp.MustCompile(`(?s)<pre tabindex="0">(.*?)</pre>`).FindAllStringSubmatch(page, -1) {
		text := html.UnescapeString(example[1])
		if _, body, found := strings.Cut(text, "-d '"); found {
			text = strings.TrimSuffix(body, "'")
		} else if strings.HasPrefix(text, "curl") {
			continue
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
	}
}

// The page has every type of event with its fields, and its examples call the gateway
// that served it.
func TestReferencePageIsOfThisGateway(t *testing.T) {
	t.Parallel()
	built := map[string]*fixture{} // by the configured address: each writes its texts once
	for name, test := range cases.Sorted(map[string]struct{ public, host, want string }{
		"as the request came": {"", "gateway:18080", "http://gateway:18080"},
		"as configured":       {"https://messages.example.org/recado/", "gateway", "https://messages.example.org/recado"},
		"no host":             {"", `"><script>`, "http://127.0.0.1:8080"},
	}) {
		f := built[test.public]
		if f == nil {
			f = newFixture(t, func(c *api.Config) { c.PublicURL = test.public })
			built[test.public] = f
		}
		for _, path := range []string{"/docs", "/openapi.json", "/openapi.yaml"} {
			made := httptest.NewRequestWithContext(t.Context(), get, path, http.NoBody)
			made.Host = test.host
			got := httptest.NewRecorder()
			f.handler.ServeHTTP(got, made)
			content := got.Body.String()
			if !strings.Contains(content, test.want) || strings.Contains(content, "gateway.invalid") {
				t.Errorf("%s, %s: it does not name %s", name, path, test.want)
			}
			if path != "/docs" {
				continue
			}
			for _, kind := range eventlog.Kinds() {
				if !strings.Contains(content, `<div class="event" id="`+string(kind)+`">`) {
					t.Errorf("it does not tell of %s", kind)
				}
			}
			sends := html.UnescapeString(section(content, `<article id="sendText">`))
			if !strings.Contains(sends, "curl "+test.want+"/api/message/") || !strings.Contains(sends, "-H 'content-type: application/json'") {
				t.Errorf("a text is sent by %s", sends)
			}
		}
	}
}

// section is the part of the page from a mark to the end of its article.
func section(page, mark string) string {
	_, rest, _ := strings.Cut(page, mark)
	article, _, _ := strings.Cut(rest, "</article>")
	return article
}

// fields are the names of the parameters and fields of an operation.
func fields(operation *openapi3.Operation) []string {
	var names []string
	for _, parameter := range operation.Parameters {
		names = append(names, parameter.Value.Name)
	}
	if operation.RequestBody != nil {
		for name := range operation.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// The address of the gateway leads to the reference page.
func TestRootLeadsToTheReference(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, path := range []string{"/", "/docs/"} {
		if got := f.do(t, request{path: path}); got.Code != http.StatusFound || got.Header().Get("Location") != "/docs" {
			t.Errorf("%s: answered %d, to %q", path, got.Code, got.Header().Get("Location"))
		}
	}
}

// Browsers do not guess the type of an answer, and caches do not keep it.
func TestAnswersAreNotSniffedOrKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, r := range []request{{path: "/api/instances", key: f.key}, {path: "/api/instances"}, {path: "/nowhere"}, {path: "/healthz"}, {path: "/openapi.json"}} {
		got := f.do(t, r)
		if got.Header().Get("X-Content-Type-Options") != "nosniff" || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", r.path, got.Header())
		}
	}
}
