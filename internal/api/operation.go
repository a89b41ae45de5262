package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/body"
	"github.com/recado-project/recado/internal/gateway"
)

// audience is who may use an operation.
type audience int

const (
	keyHolders audience = iota // everybody with an API key
	partners                   // with a partner key
	everybody
)

// operation declares one operation of the API.
type operation struct {
	id          string
	method      string
	path        string
	tag         string
	summary     string
	description string
	status      int      // of success
	codes       []string // of its refusals, beside those that follow from the rest
	audience    audience
	instance    bool   // the path names an instance
	body        bool   // it reads a JSON body
	mediaField  string // of that body, where it may hold a file

	stream string // an example of the events that it answers until its reader leaves; empty for an ordinary answer

	payload reflect.Type // of the body it reads; nil for none
	answer  reflect.Type // of the body it answers; nil for none
}

// register adds an operation to the API and to its document. An input that
// embeds JSON makes it read a body.
func register[I, O any](s *service, op operation, handler func(context.Context, *I) (*O, error)) {
	op.answer = answerType(reflect.TypeFor[O]())
	if input, ok := any(new(I)).(bodied); ok {
		op.payload = input.bodyType()
	}
	op.body = op.payload != nil
	op.instance = strings.Contains(op.path, "{instanceId}")
	declared := huma.Operation{
		OperationID:   op.id,
		Method:        op.method,
		Path:          op.path,
		Tags:          []string{op.tag},
		Summary:       op.summary,
		Description:   op.description,
		DefaultStatus: op.status,
		Responses:     op.refusals(s.huma),
		Metadata:      map[string]any{metaOperation: op},
	}
	if op.audience == everybody {
		declared.Security = []map[string][]string{} // and not nil, which means the usual
	}
	s.operations = append(s.operations, op)
	var rules body.Rules
	if op.body {
		rules.Registry = s.huma.OpenAPI().Components.Schemas
		rules.Schema = rules.Registry.Schema(op.payload, true, op.id+"Request")
		op.mediaField = rules.MediaField()
		declared.Metadata[metaRules], declared.Metadata[metaOperation] = rules, op
	}
	huma.Register(s.huma, declared, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, exchangeOf(ctx).refusal(err)
		}
		return out, nil
	})
	if op.body {
		// Only now: huma would read a body that it knows of.
		op.documented(s.huma.OpenAPI()).RequestBody = &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{jsonType: {Schema: rules.Schema, Example: sampleOf(op.payload)}},
		}
	}
	if op.answer != nil {
		success := op.documented(s.huma.OpenAPI()).Responses[strconv.Itoa(op.successStatus())]
		success.Content[jsonType].Example = sampleOf(op.answer)
	}
}

// refusing adds codes that the operation may be refused with.
func (op operation) refusing(codes ...string) operation {
	op.codes = append(op.codes, codes...)
	return op
}

// successStatus is the status of an answer that is no refusal.
func (op operation) successStatus() int {
	switch {
	case op.status != 0:
		return op.status
	case op.answer == nil:
		return http.StatusNoContent
	default:
		return http.StatusOK
	}
}

const jsonType = "application/json"

// answerType finds the type of the body in the answer of an operation.
func answerType(answer reflect.Type) reflect.Type {
	body, _ := answer.FieldByName("Body")
	if body.Type != nil && body.Type.Kind() == reflect.Func {
		return nil // it writes itself, and is documented where it is declared
	}
	return body.Type
}

// documented returns the operation as the document has it.
func (op operation) documented(document *huma.OpenAPI) *huma.Operation {
	item := document.Paths[op.path]
	switch op.method {
	case http.MethodGet:
		return item.Get
	case http.MethodPut:
		return item.Put
	case http.MethodDelete:
		return item.Delete
	default:
		return item.Post
	}
}

// refusalCodes lists the codes of all refusals of the operation, in order.
func (op operation) refusalCodes() []string {
	codes := slices.Clone(op.codes)
	if op.audience != everybody {
		codes = append(codes, gateway.CodeUnauthorized, gateway.CodeRateLimited, gateway.CodeInternal)
	}
	if op.audience == partners || op.instance {
		codes = append(codes, gateway.CodeForbidden)
	}
	if op.instance {
		codes = append(codes, gateway.CodeInstanceNotFound)
	}
	if op.body {
		codes = append(codes, gateway.CodeValidation, gateway.CodePayloadTooLarge, gateway.CodeUnavailable)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// refusals documents how the operation may fail: by status, the codes.
func (op operation) refusals(api huma.API) map[string]*huma.Response {
	byStatus := map[int][]string{}
	for _, code := range op.refusalCodes() {
		status := statusOf(kindOf(code))
		byStatus[status] = append(byStatus[status], "`"+code+"`")
	}
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Error](), true, "")
	responses := map[string]*huma.Response{}
	for status, codes := range byStatus {
		response := &huma.Response{
			Description: http.StatusText(status) + ": " + strings.Join(codes, ", "),
			Content:     map[string]*huma.MediaType{jsonType: {Schema: schema}},
		}
		switch status {
		case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
			response.Headers = map[string]*huma.Header{"Retry-After": {
				Description: "Whole seconds until a repeat may succeed, where that is known.",
				Schema:      &huma.Schema{Type: huma.TypeInteger, Examples: []any{1}},
			}}
		}
		responses[strconv.Itoa(status)] = response
	}
	return responses
}
