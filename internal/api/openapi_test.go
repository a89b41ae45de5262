package api_test

import (
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/testkit/cases"
)

const documentPath = "../../docs/openapi.yaml"

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write docs/openapi.yaml anew")

// The document in the repository is the one that the program serves, so that
// every change of the contract is a diff that somebody reads.
func TestDocumentIsCheckedIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.Version, c.PublicURL = "0.0.0", "http://127.0.0.1:8080" })
	served := f.do(t, request{path: "/openapi.yaml"})
	if served.Code != http.StatusOK || served.Header().Get("Content-Type") != "application/yaml" {
		t.Fatalf("status %d, type %q", served.Code, served.Header().Get("Content-Type"))
	}
	if *update {
		if err := os.WriteFile(documentPath, served.Body.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != served.Body.String() {
		t.Error("docs/openapi.yaml is not what the program serves: run go test ./internal/api -update, and read the diff")
	}
}

func TestDocumentIsComplete(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	served := f.do(t, request{path: "/openapi.json"})
	if served.Header().Get("Content-Type") != "application/json" {
		t.Errorf("type %q", served.Header().Get("Content-Type"))
	}
	document, err := openapi3.NewLoader().LoadFromData(served.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	if document.Info.Version != "1.2.3" || !strings.HasPrefix(document.OpenAPI, "3.1") {
		t.Errorf("version %q of the program, %q of OpenAPI", document.Info.Version, document.OpenAPI)
	}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.OperationID == "" || operation.Summary == "" || operation.Description == "" || len(operation.Tags) != 1 {
				t.Errorf("%s %s is not described", method, path)
			}
			if strings.HasPrefix(path, "/api/") && operation.Responses.Status(http.StatusUnauthorized) == nil {
				t.Errorf("%s %s does not say that it needs a key", method, path)
			}
			for status, response := range operation.Responses.Map() {
				content := response.Value.Content.Get("application/json")
				if content == nil {
					content = response.Value.Content.Get("text/event-stream")
				}
				if strings.HasPrefix(path, "/api/") && status < "300" && status != "204" && (content == nil || content.Example == nil) {
					t.Errorf("%s %s: its answer has no example", method, path)
				}
			}
			if operation.RequestBody != nil {
				content := operation.RequestBody.Value.Content.Get("application/json")
				if content.Example == nil {
					t.Errorf("%s %s: its body has no example", method, path)
				}
				for field, property := range content.Schema.Value.Properties {
					if property.Value.Description == "" {
						t.Errorf("%s %s: field %s is not described", method, path, field)
					}
				}
			}
			for _, parameter := range operation.Parameters {
				if parameter.Value.Description == "" {
					t.Errorf("%s %s: parameter %s is not described", method, path, parameter.Value.Name)
				}
			}
		}
	}
}

// The examples of docs/events.md come from a run of the program: they fit the
// schemas of their types, with no field too many or too few.
func TestEventsFitTheDocument(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	document, err := openapi3.NewLoader().LoadFromData(f.do(t, request{path: "/openapi.json"}).Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	included := map[*openapi3.Schema]bool{} // in other schemas, which have more fields
	for _, schema := range document.Components.Schemas {
		for _, part := range schema.Value.AllOf {
			included[part.Value] = true
		}
	}
	for _, schema := range document.Components.Schemas {
		if schema.Value.Type.Includes(openapi3.TypeObject) && !included[schema.Value] {
			schema.Value.UnevaluatedProperties = openapi3.BoolSchema{Has: new(bool)}
		}
	}
	page, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[eventlog.Kind]bool{}
	for _, example := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(page, -1) {
		var event map[string]any
		if err := json.Unmarshal(example[1], &event); err != nil {
			t.Fatal(err)
		}
		kind := eventlog.Kind(event["type"].(string))
		seen[kind] = true
		webhook := document.Webhooks[string(kind)]
		if webhook == nil || webhook.Post == nil {
			t.Errorf("%s is no webhook of the document", kind)
			continue
		}
		schema := webhook.Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		if err := schema.VisitJSON(event, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := document.Components.Schemas["Event"].Value.VisitJSON(event, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s is no Event: %v", kind, err)
		}
	}
	for _, kind := range eventlog.Kinds() {
		if !seen[kind] {
			t.Errorf("there is no example of %s", kind)
		}
	}
}

// An enum lists every value, also null.
func TestNullableEnumsHaveNull(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	document, err := openapi3.NewLoader().LoadFromData(f.do(t, request{path: "/openapi.json"}).Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	enums := 0
	for name, schema := range document.Components.Schemas {
		for field, property := range schema.Value.Properties {
			value := property.Value
			if len(value.Enum) == 0 || !value.Type.Includes("null") {
				continue
			}
			enums++
			if !slices.Contains(value.Enum, nil) {
				t.Errorf("%s.%s: null is none of %v", name, field, value.Enum)
			}
		}
	}
	if enums == 0 || document.Info.Contact == nil || len(document.Servers) != 1 || document.Paths.Find("/media/{instanceId}/{messageId}") == nil {
		t.Error("the document misses what linters and generators ask for")
	}
}

// The start of the program does not wait for the document, and a program that nobody asks
// for it does not keep it.
func TestNobodyPaysForADocumentUnasked(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	var config api.Config
	newFixture(t, func(c *api.Config) {
		c.Logger = slog.New(slog.DiscardHandler)
		config = *c
	})
	build := func() *api.API {
		built, err := api.New(config)
		if err != nil {
			t.Fatal(err)
		}
		return built
	}
	alone := testing.AllocsPerRun(1, func() { build() })
	for _, path := range []string{"/openapi.json", "/openapi.yaml"} {
		asked := testing.AllocsPerRun(1, func() {
			got := httptest.NewRecorder()
			build().ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if got.Code != http.StatusOK {
				t.Errorf("%s: status %d", path, got.Code)
			}
		})
		if asked < 2*alone {
			t.Errorf("building the API makes %.0f objects, and %s only %.0f more", alone, path, asked-alone)
		}
	}
}

// The reference tells of every operation with all its parameters, fields and errors.
func TestReferenceIsWhole(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	described, err := f.handler.(*api.API).Reference() //nolint:forcetypeassert // newFixture made it
	if err != nil {
		t.Fatal(err)
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
			_, op, _, _ := described.Find(operation.OperationID)
			if op == nil || op.Method != method || op.Path != path {
				t.Errorf("%s %s is not there", method, path)
				continue
			}
			var told []string
			for _, field := range slices.Concat(op.Parameters, op.Body) {
				told = append(told, field.Name)
			}
			for _, refusal := range op.Refusals {
				told = append(told, refusal.Name)
			}
			wanted := fields(operation)
			for status, response := range operation.Responses.Map() {
				if status < "300" {
					continue
				}
				for _, code := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(*response.Value.Description, -1) {
					wanted = append(wanted, code[1])
				}
			}
			for _, want := range wanted {
				if !slices.Contains(told, want) {
					t.Errorf("%s does not tell of %s", op.ID, want)
				}
			}
			for _, example := range []string{op.Request, op.Example} {
				if example != "" && !json.Valid([]byte(example)) {
					t.Errorf("%s: no JSON: %s", op.ID, example)
				}
			}
		}
	}
	told := 0
	for _, group := range described.Groups {
		told += len(group.Operations)
	}
	if told != operations || len(described.Codes) < 20 || len(described.About) < 2 {
		t.Errorf("it tells of %d operations, of %d, and of %d errors", told, operations, len(described.Codes))
	}
}

// What the pages need of an operation beside its fields.
func TestReferenceOfOperations(t *testing.T) {
	t.Parallel()
	described, err := newFixture(t, nil).handler.(*api.API).Reference() //nolint:forcetypeassert // newFixture made it
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range cases.Sorted(map[string]struct {
		destructive, stream bool
		audience            reference.Audience
	}{
		"sendText":       {},
		"logoutInstance": {destructive: true},
		"deleteChat":     {destructive: true},
		"streamEvents":   {stream: true},
		"deleteInstance": {destructive: true, audience: reference.Partners},
		"getHealth":      {audience: reference.Everybody},
	}) {
		_, op, _, _ := described.Find(id)
		if op == nil || op.Destructive != want.destructive || op.Stream != want.stream || op.Audience != want.audience {
			t.Errorf("%s: %+v", id, op)
		}
	}
	_, text, _, _ := described.Find("sendText")
	for _, field := range slices.Concat(text.Parameters, text.Body) {
		switch field.Name {
		case "instanceId":
			if field.Where != "path" || !field.Required || field.Example == "" {
				t.Errorf("%+v", field)
			}
		case "linkPreview":
			if !slices.Contains(field.Rules, "default `false`") {
				t.Errorf("the default is told as %v", field.Rules)
			}
		}
	}
}

// The document calls the gateway that served it.
func TestDocumentIsOfThisGateway(t *testing.T) {
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
		for _, path := range []string{"/openapi.json", "/openapi.yaml"} {
			made := httptest.NewRequestWithContext(t.Context(), get, path, http.NoBody)
			made.Host = test.host
			got := httptest.NewRecorder()
			f.handler.ServeHTTP(got, made)
			if content := got.Body.String(); !strings.Contains(content, test.want) || strings.Contains(content, "gateway.invalid") {
				t.Errorf("%s, %s: it does not name %s", name, path, test.want)
			}
		}
	}
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
