// The OpenAPI document, finished and served.

package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/format"
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
				Schemas: huma.NewMapRegistry(componentsPrefix, huma.DefaultSchemaNamer),
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

// marshal writes the JSON of an answer.
func marshal(w io.Writer, body any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(body)
}

// finishDocument corrects what huma writes: it forbids fields that are not listed, but
// requests may have more, and answers will. It adds the events and explains formats.
func (a *API) finishDocument() {
	for _, schema := range a.Document().Components.Schemas.Map() {
		if schema.Type != huma.TypeObject {
			continue
		}
		schema.AdditionalProperties = nil
		for _, property := range schema.Properties {
			if property.Nullable && len(property.Enum) > 0 {
				property.Enum = append(property.Enum, nil) // an enum lists every value
			}
			explainFormat(property)
			if property.Items != nil {
				explainFormat(property.Items)
			}
		}
	}
	a.documentEvents()
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
func (a *API) serveDocument() error {
	asJSON, err := json.Marshal(a.Document())
	if err != nil {
		return fmt.Errorf("contract: write OpenAPI document: %w", err)
	}
	asYAML, err := a.Document().YAML()
	if err != nil {
		return fmt.Errorf("contract: write OpenAPI document: %w", err)
	}
	for path, document := range map[string]struct {
		contentType string
		content     []byte
	}{
		"/openapi.json": {jsonType, asJSON},
		"/openapi.yaml": {"application/yaml", asYAML},
	} {
		a.Handle(http.MethodGet, path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", document.contentType)
			_, _ = w.Write(a.config.Origin.Insert(r, document.content)) // an error means that the client has gone
		})
	}
	return nil
}
