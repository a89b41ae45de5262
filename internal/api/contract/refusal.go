// How the document says that operations fail.

package contract

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// codesExtension lists the codes of a refusal, for programs that read the document.
const codesExtension = "x-codes"

// refusals says how an operation may fail: the codes of each status. registry gets the
// schema of their body.
func refusals(registry huma.Registry, op Operation) map[string]*huma.Response {
	byStatus := map[int][]string{}
	for _, code := range op.RefusalCodes() {
		status := StatusOf(kindOf(code))
		byStatus[status] = append(byStatus[status], code)
	}
	schema := registry.Schema(reflect.TypeFor[Error](), true, "")
	responses := map[string]*huma.Response{}
	for status, codes := range byStatus {
		response := &huma.Response{
			Description: http.StatusText(status) + ": `" + strings.Join(codes, "`, `") + "`",
			Content:     map[string]*huma.MediaType{jsonType: {Schema: schema}},
			Extensions:  map[string]any{codesExtension: codes},
		}
		switch status {
		case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
			response.Headers = map[string]*huma.Header{"Retry-After": {
				Description: "Whole seconds until a repeat may succeed, if that is known.",
				Schema:      &huma.Schema{Type: huma.TypeInteger, Examples: []any{1}},
			}}
		}
		responses[strconv.Itoa(status)] = response
	}
	return responses
}
