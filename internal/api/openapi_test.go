package api_test

import (
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/recado-project/recado/internal/api"
)

const documentPath = "../../docs/openapi.yaml"

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write docs/openapi.yaml anew")

// The document in the repository is the one that the program serves, so that
// every change of the contract is a diff that somebody reads.
func TestDocumentIsCheckedIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.Version = "0.0.0" })
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
				if status < "300" && status != "204" && (content == nil || content.Example == nil) {
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
