package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/format"
	"github.com/recado-project/recado/internal/gateway"
)

const (
	apiKeyHeader = "x-api-key"
	apiKeyScheme = "apiKey"

	// componentsPrefix is where the document keeps schemas.
	componentsPrefix = "#/components/schemas/"
)

const about = "Recado is a self-hosted gateway between programs and a phone messenger: instances are linked to messenger accounts, " +
	"and messages are sent and received through them.\n\n" +
	"Every failed request is answered with the same body, whose `error` is for programs and whose `message` is for people. " +
	"Checks come in this order: path, method, API key, size of the body, instance, access, validation, state of the instance.\n\n" +
	"Bodies are read as JSON whatever `Content-Type` says. Fields that are not listed are ignored, null counts as absent, and a value of " +
	"another type is refused. Times are UTC with milliseconds. Every answer has the header `X-Request-Id`, which the log has too.\n\n" +
	"Where requests are limited (`--rate-limit-key`, `--rate-limit-instance`), every answer says how many may come in a minute " +
	"(`RateLimit-Limit`), how many are left (`RateLimit-Remaining`), and in how many seconds all are there again (`RateLimit-Reset`)."

// humaConfig is huma's configuration without what it adds by itself: schema
// links in answers, pages, formats other than JSON.
func humaConfig(version string) huma.Config {
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Recado", Version: version, Description: about,
				Contact: &huma.Contact{Name: "Recado", URL: "https://github.com/recado-project/recado"},
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry(componentsPrefix, huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					apiKeyScheme: {Type: "apiKey", In: "header", Name: apiKeyHeader, Description: "An API key, made by `recado keys create` or the partner interface."},
				},
			},
			Servers:  []*huma.Server{{URL: originMark, Description: "This gateway."}},
			Security: []map[string][]string{{apiKeyScheme: {}}},
			Tags: []*huma.Tag{
				{Name: tagInstances, Description: "Linked accounts, and the linking."},
				{Name: tagMessages, Description: "Sending messages, and what can be done with those that were sent or received. A message is named by its platform identifier, by the composite form `<chat id>_<platform identifier>`, or by the `id` of a send result."},
				{Name: tagDirectory, Description: "Numbers, contacts and groups."},
				{Name: tagEvents, Description: "What happens in an instance: by webhook, or as a stream. Both are read from one log, from which nothing is lost while it is kept."},
				{Name: tagPartner, Description: "Making and removing instances and API keys. Needs a partner key."},
				{Name: tagHealth, Description: "For load balancers and supervisors. Needs no API key."},
			},
		},
		Formats:       map[string]huma.Format{jsonType: {Marshal: marshal, Unmarshal: json.Unmarshal}},
		DefaultFormat: jsonType,
	}
}

// marshal writes an answer of huma.
func marshal(w io.Writer, body any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(body)
}

// finishDocument takes back what huma says of every object: that no field but
// the listed ones may be there. Requests may have more, and answers will.
func (s *service) finishDocument() {
	for _, schema := range s.huma.OpenAPI().Components.Schemas.Map() {
		if schema.Type != huma.TypeObject {
			continue
		}
		schema.AdditionalProperties = nil
		for _, property := range schema.Properties {
			if property.Nullable && len(property.Enum) > 0 {
				property.Enum = append(property.Enum, nil) // an enum names every value
			}
			explainFormat(property)
			if property.Items != nil {
				explainFormat(property.Items)
			}
		}
	}
	s.documentEvents()
	s.documentFiles()
}

// explainFormat says of the formats that are this API's own what they are: no
// generator knows their names.
func explainFormat(schema *huma.Schema) {
	own, known := format.Explain(schema.Format)
	if !known {
		return
	}
	// Only for the document: what fits is found out by format.Check.
	schema.Pattern = own.Pattern
	if schema.Description != "" {
		schema.Description += " "
	}
	schema.Description += "Format `" + schema.Format + "`: " + own.Meaning
}

// documentFiles adds the download of files, which is no operation of huma.
func (s *service) documentFiles() {
	parameter := func(name, in, description, example string, required bool) *huma.Param {
		return &huma.Param{
			Name: name, In: in, Description: description, Required: required,
			Schema: &huma.Schema{Type: huma.TypeString}, Example: example,
		}
	}
	refusals := operation{audience: everybody, codes: []string{
		gateway.CodeForbidden, gateway.CodeNotFound, gateway.CodeMediaNotFound, gateway.CodeMessageNotFound, gateway.CodeOutOfRange, gateway.CodeInternal,
	}}
	responses := refusals.refusals(s.huma)
	responses["200"] = &huma.Response{Description: "The file.", Content: map[string]*huma.MediaType{"*/*": {}}}
	responses["206"] = &huma.Response{Description: "A part of the file.", Content: map[string]*huma.MediaType{"*/*": {}}}
	s.huma.OpenAPI().Paths["/media/{instanceId}/{messageId}"] = &huma.PathItem{Get: &huma.Operation{
		OperationID: "downloadFile", Tags: []string{tagMessages},
		Summary:     "Download a file",
		Description: "Where a download link leads. It needs no API key: its signature is the right. Ranges are answered.",
		Security:    []map[string][]string{},
		Parameters: []*huma.Param{
			parameter("instanceId", "path", "Identifier of the instance.", "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11", true),
			parameter("messageId", "path", "Internal identifier of the message.", "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", true),
			parameter("expires", "query", "When the link ends, Unix time in seconds.", "1795188130", true),
			parameter("name", "query", "Name of the file.", "invoice-1234.pdf", true),
			parameter("signature", "query", "Of all of the link.", "QXl0aGluZyBlbHNlIGlzIHJlZnVzZWQuLi4uLi4uLi4", true),
			parameter("Range", "header", "A part of the file.", "bytes=0-1023", false),
		},
		Responses: responses,
	}}
}

// serveDocument answers the document in both of its spellings.
func (s *service) serveDocument() error {
	asJSON, err := json.Marshal(s.huma.OpenAPI())
	if err != nil {
		return fmt.Errorf("api: write OpenAPI document: %w", err)
	}
	asYAML, err := s.huma.OpenAPI().YAML()
	if err != nil {
		return fmt.Errorf("api: write OpenAPI document: %w", err)
	}
	for path, document := range map[string]struct {
		contentType string
		content     []byte
	}{
		"/openapi.json": {jsonType, asJSON},
		"/openapi.yaml": {"application/yaml", asYAML},
	} {
		s.routes.HandleFunc(http.MethodGet+" "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", document.contentType)
			_, _ = w.Write(s.withOrigin(r, document.content)) // a client that has gone is nobody to tell
		})
	}
	return nil
}
