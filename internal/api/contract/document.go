// The OpenAPI document, finished and served.

package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/body/format"
)

const (
	apiKeyHeader = "x-api-key"
	apiKeyScheme = "apiKey"

	// componentsPrefix is where the document keeps schemas.
	componentsPrefix = "#/components/schemas/"
)

// humaConfig is huma's configuration without its extras: schema links in answers,
// pages, formats other than JSON.
func (a *API) humaConfig() huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Recado", Version: a.config.Version, Description: a.config.About,
				Contact: &huma.Contact{Name: "Recado", URL: "https://github.com/recado-project/recado"},
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry(componentsPrefix, schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					apiKeyScheme: {Type: "apiKey", In: "header", Name: apiKeyHeader, Description: "An API key, made on the dashboard (`/keys`), by `recado keys create` or by the partner interface."},
				},
			},
			Servers:  []*huma.Server{{URL: OriginMark, Description: "This gateway."}},
			Security: []map[string][]string{{apiKeyScheme: {}}},
			Tags:     a.config.Tags,
		},
		Formats:       map[string]huma.Format{jsonType: {Marshal: marshal, Unmarshal: json.Unmarshal}},
		DefaultFormat: jsonType,
	}
}

// schemaName names the schema of a type. That of a request does not say that it is a body, and a
// page is named after its items.
func schemaName(of reflect.Type, hint string) string {
	name := strings.TrimSuffix(huma.DefaultSchemaNamer(of, hint), "Body")
	if item, paged := strings.CutPrefix(name, "Envelope"); paged {
		return item + "Page"
	}
	return name
}

// marshal writes the JSON of an answer.
func marshal(w io.Writer, answer any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(answer)
}

// Document is the OpenAPI document of an API, with the operations that it was made of.
// It must not be changed.
type Document struct {
	*huma.OpenAPI

	operations []Operation
}

// NewDocument makes the document. It reads the routes anew, so that a program that nobody
// asks for the document neither makes nor keeps it. It is safe for concurrent use.
func (a *API) NewDocument() *Document {
	reading := &registration{huma: humago.New(&onlyHandler{}, a.humaConfig())}
	document := &Document{OpenAPI: reading.huma.OpenAPI()}
	reading.document = document
	reading.add(a.config.Routes)
	for _, schema := range document.Components.Schemas.Map() {
		for _, property := range schema.Properties {
			explainFormat(property)
			if property.Items != nil {
				explainFormat(property.Items)
			}
		}
	}
	documentCodes(document)
	documentEvents(document)
	return document
}

// Operations returns the operations, in the order of the routes.
func (d *Document) Operations() []Operation { return d.operations }

// Documented returns the operation as the document has it.
func (d *Document) Documented(op Operation) *huma.Operation {
	item := d.Paths[op.Path]
	switch op.Method {
	case http.MethodGet:
		return item.Get
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	default:
		return item.Post
	}
}

// add adds an operation that huma has registered, with its body and the examples. Huma is
// not given the body: it would read it.
func (d *Document) add(op Operation, rules body.Rules) {
	d.operations = append(d.operations, op)
	documented := d.Documented(op)
	if op.Body != nil {
		documented.RequestBody = &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{jsonType: {Schema: rules.Schema, Example: Sample(op.Body)}},
		}
		if form := rules.Form(); form != nil {
			documented.RequestBody.Content[body.FormType] = &huma.MediaType{Schema: form}
		}
	}
	success := documented.Responses[strconv.Itoa(op.SuccessStatus())]
	if op.Answer != nil {
		success.Content[jsonType].Example = Sample(op.Answer)
	}
	if op.Later != "" {
		later := *success
		later.Description = op.Later
		documented.Responses[strconv.Itoa(http.StatusAccepted)] = &later
	}
	if op.Stream {
		success.Content = map[string]*huma.MediaType{EventStreamType: {
			Schema:  &huma.Schema{Ref: componentsPrefix + "Event"}, // of the data of one event: generators expect that
			Example: sampleEvent(),
		}}
	}
}

// explainFormat adds the explanation of a format of this API's own, which no generator
// knows.
func explainFormat(schema *huma.Schema) {
	own, known := format.Explain(schema.Format)
	if !known {
		return
	}
	// Only for the document: format.Check decides.
	schema.Pattern = own.Pattern
	if schema.Description != "" {
		schema.Description += " "
	}
	schema.Description += "Format `" + schema.Format + "`: " + own.Meaning
}

// serveDocument serves the document as JSON and as YAML.
func (a *API) serveDocument() {
	a.router.HandleFunc("GET /openapi.json", a.text(jsonType, func() ([]byte, error) { return json.Marshal(a.NewDocument()) }))
	a.router.HandleFunc("GET /openapi.yaml", a.text("application/yaml", func() ([]byte, error) { return a.NewDocument().YAML() }))
}

// text makes the handler of a text that is the same for everybody, except for the
// gateway's own address. It is written when it is first asked for, because a start should
// not wait for what hardly anybody reads, and is kept from then on.
func (a *API) text(contentType string, write func() ([]byte, error)) http.HandlerFunc {
	written := sync.OnceValues(write)
	return func(w http.ResponseWriter, r *http.Request) {
		content, err := written()
		if err != nil {
			Fail(w, r, fmt.Errorf("contract: write %s: %w", r.URL.Path, err))
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(a.config.Origin.Insert(r, content)) // an error means that the client has gone
	}
}
