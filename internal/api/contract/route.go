package contract

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/body"
)

// Route is one line of the table of routes.
type Route struct {
	method, path string
	endpoint     Endpoint
}

// Get makes the route of an endpoint that is read.
func Get(path string, e Endpoint) Route { return Route{http.MethodGet, path, e} }

// Post makes the route of an endpoint that does something.
func Post(path string, e Endpoint) Route { return Route{http.MethodPost, path, e} }

// Put makes the route of an endpoint that sets something.
func Put(path string, e Endpoint) Route { return Route{http.MethodPut, path, e} }

// Delete makes the route of an endpoint that removes something.
func Delete(path string, e Endpoint) Route { return Route{http.MethodDelete, path, e} }

// Endpoint is an operation with its handler; Handle and Raw make one.
type Endpoint struct {
	register func(a *API, method, path string)
}

// The keys of an operation's metadata.
const (
	metaOperation = "operation"
	metaRules     = "rules"
)

const jsonType = "application/json"

// Handle makes the endpoint of an operation. Its input I is filled and checked before
// the handler is called; an I that embeds JSON makes the operation read a body. The
// field Body of O is the answer.
func Handle[I, O any](op Operation, handler func(context.Context, *I) (*O, error)) Endpoint {
	op.Answer = answerType(reflect.TypeFor[O]())
	if input, ok := any(new(I)).(bodied); ok {
		op.Body = input.bodyType()
	}
	return Endpoint{func(a *API, method, path string) {
		op.Method, op.Path = method, path
		declared, rules := a.declare(&op)
		huma.Register(a.huma, declared, func(ctx context.Context, in *I) (*O, error) {
			out, err := handler(ctx, in)
			if err != nil {
				return nil, exchangeOf(ctx).refusal(err)
			}
			return out, nil
		})
		a.operations = append(a.operations, op)
		a.describe(op, rules)
	}}
}

// Raw makes an endpoint that writes its answer itself, outside of huma and without an
// API key. It is documented under the path documentedAs with the refusals of codes;
// a nil handler is documented only.
func Raw(documentedAs string, documented *huma.Operation, codes []string, handler http.HandlerFunc) Endpoint {
	return Endpoint{func(a *API, method, path string) {
		maps.Copy(documented.Responses, a.refusals(Operation{Audience: Everybody, Codes: codes}))
		a.Document().Paths[documentedAs] = &huma.PathItem{Get: documented}
		if handler != nil {
			a.Handle(method, path, handler)
		}
	}}
}

// declare makes huma's declaration of an operation, and the rules for its body.
func (a *API) declare(op *Operation) (huma.Operation, body.Rules) {
	declared := huma.Operation{
		OperationID:   op.ID,
		Method:        op.Method,
		Path:          op.Path,
		Tags:          []string{op.Tag},
		Summary:       op.Summary,
		Description:   op.Description,
		DefaultStatus: op.Status,
		Responses:     a.refusals(*op),
		Metadata:      map[string]any{},
	}
	if op.Audience == Everybody {
		declared.Security = []map[string][]string{} // empty, not nil: nil means that an API key is needed
	}
	var rules body.Rules
	if op.Body != nil {
		rules.Registry = a.Document().Components.Schemas
		rules.Schema = rules.Registry.Schema(op.Body, true, op.ID+"Request")
		op.mediaField = rules.MediaField()
		declared.Metadata[metaRules] = rules
	}
	declared.Metadata[metaOperation] = *op
	return declared, rules
}

// describe adds the body and the examples to the document. Huma is not given the body:
// it would read it.
func (a *API) describe(op Operation, rules body.Rules) {
	documented := a.Documented(op)
	if op.Body != nil {
		documented.RequestBody = &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{jsonType: {Schema: rules.Schema, Example: Sample(op.Body)}},
		}
	}
	success := documented.Responses[strconv.Itoa(op.SuccessStatus())]
	if op.Answer != nil {
		success.Content[jsonType].Example = Sample(op.Answer)
	}
	if op.Stream {
		success.Content = map[string]*huma.MediaType{EventStreamType: {
			Schema:  &huma.Schema{Ref: componentsPrefix + "Event"}, // of the data of one event: generators expect that
			Example: sampleEvent(),
		}}
	}
}

// answerType finds the type of the JSON in the answer of an operation.
func answerType(answer reflect.Type) reflect.Type {
	answered, _ := answer.FieldByName("Body")
	if answered.Type != nil && answered.Type.Kind() == reflect.Func {
		return nil // it writes itself
	}
	return answered.Type
}
