package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
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
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry(componentsPrefix, huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					apiKeyScheme: {Type: "apiKey", In: "header", Name: apiKeyHeader, Description: "An API key, made by `recado keys create` or the partner interface."},
				},
			},
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
		if schema.Type == huma.TypeObject {
			schema.AdditionalProperties = nil
		}
	}
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
		s.routes.HandleFunc(http.MethodGet+" "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", document.contentType)
			_, _ = w.Write(document.content) // a client that has gone is nobody to tell
		})
	}
	return nil
}
