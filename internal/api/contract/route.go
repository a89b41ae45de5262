package contract

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/recado-project/recado/internal/body"
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

// Patch makes the route of an endpoint that changes what it is given.
func Patch(path string, e Endpoint) Route { return Route{http.MethodPatch, path, e} }

// Delete makes the route of an endpoint that removes something.
func Delete(path string, e Endpoint) Route { return Route{http.MethodDelete, path, e} }

// Endpoint is an operation with its handler; Handle and Raw make one.
type Endpoint struct {
	register func(r *registration, method, path string)

	raw     bool
	handler http.HandlerFunc // of a raw one; nil: it is documented only
}

// serve lets the router answer requests of the route.
func (a *API) serve(route Route) {
	handler := route.endpoint.handler
	if !route.endpoint.raw {
		handler = a.prepared(route)
	}
	if handler != nil {
		a.router.HandleFunc(route.method+" "+route.path, handler)
	}
}

// prepared is the handler of a route that is put together with its first request: a start should not
// wait for the operations, most of which a client never asks for.
func (a *API) prepared(route Route) http.HandlerFunc {
	handler := sync.OnceValue(func() http.HandlerFunc {
		config := a.humaConfig()
		config.Components.Schemas = &requestSchemas{Registry: config.Components.Schemas}
		var made onlyHandler
		r := &registration{huma: humago.New(&made, config)}
		r.huma.UseMiddleware(a.gate)
		r.add([]Route{route})
		return made.HandlerFunc
	})
	return func(w http.ResponseWriter, r *http.Request) { handler()(w, r) }
}

// onlyHandler takes the one handler that huma makes of an operation.
type onlyHandler struct{ http.HandlerFunc }

// HandleFunc is called by huma for each operation.
func (h *onlyHandler) HandleFunc(_ string, handler func(http.ResponseWriter, *http.Request)) {
	h.HandlerFunc = handler
}

// registration is one reading of routes: of all for the document, or of one for the requests that
// it answers. They share nothing that changes.
type registration struct {
	huma     huma.API
	document *Document // nil: requests are to be served
}

// add registers the routes, in their order.
func (r *registration) add(routes []Route) {
	for _, route := range routes {
		route.endpoint.register(r, route.method, route.path)
	}
	for name, schema := range r.schemas().Map() {
		loosen(schema)
		if of := r.schemas().TypeFromRef(componentsPrefix + name); of != nil {
			orderRequired(schema, of)
		}
	}
}

// schemas are those of the bodies that the routes read and answer.
func (r *registration) schemas() huma.Registry { return r.huma.OpenAPI().Components.Schemas }

// loosen corrects what huma makes of a type: it forbids fields that are not listed, but
// requests may have more, and answers will.
func loosen(schema *huma.Schema) {
	if schema.Type != huma.TypeObject {
		return
	}
	schema.AdditionalProperties = nil
	for _, property := range schema.Properties {
		if property.Nullable && len(property.Enum) > 0 {
			property.Enum = append(property.Enum, nil) // an enum lists every value
		}
	}
}

// orderRequired lists what an object must have in the order of its type, which is the order in which
// people read it. Huma lists embedded fields last.
func orderRequired(schema *huma.Schema, of reflect.Type) {
	if of.Kind() != reflect.Struct {
		return
	}
	var order []string
	for _, field := range EventFields(of) {
		order = append(order, FieldName(field))
	}
	slices.SortStableFunc(schema.Required, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
}

// The keys of an operation's metadata.
const (
	metaOperation = "operation"
	metaRules     = "rules"
)

const jsonType = "application/json"

// Handle makes the endpoint of an operation that answers a T as JSON. Its input I is filled and checked
// before the handler is called; an I that embeds JSON makes the operation read a body.
func Handle[I, T any](op Operation, handler func(context.Context, *I) (T, error)) Endpoint {
	type answer struct{ Body T }
	return HandleWhole(op, func(ctx context.Context, in *I) (*answer, error) {
		made, err := handler(ctx, in)
		return &answer{made}, err
	})
}

// Do is Handle for an operation that answers nothing.
func Do[I any](op Operation, handler func(context.Context, *I) error) Endpoint {
	return HandleWhole(op, func(ctx context.Context, in *I) (*struct{}, error) { return nil, handler(ctx, in) })
}

// HandleWhole is Handle for an operation that chooses its status or has headers: the field Body of O is
// the answer, as huma has it.
func HandleWhole[I, O any](op Operation, handler func(context.Context, *I) (*O, error)) Endpoint {
	op.Answer = answerType(reflect.TypeFor[O]())
	if input, ok := any(new(I)).(bodied); ok {
		op.Body = input.bodyType()
	}
	return Endpoint{register: func(r *registration, method, path string) {
		op := op
		op.Method, op.Path = method, path
		declared, rules := r.declare(&op)
		huma.Register(r.huma, declared, func(ctx context.Context, in *I) (*O, error) {
			out, err := handler(ctx, in)
			if err != nil {
				return nil, exchangeOf(ctx).refusal(err)
			}
			return out, nil
		})
		if r.document != nil {
			r.document.add(op, rules)
		}
	}}
}

// Raw makes an endpoint that writes its answer itself, outside of huma and without an
// API key. It is documented under the path documentedAs with the refusals of codes;
// a nil handler is documented only.
func Raw(documentedAs string, documented *huma.Operation, codes []string, handler http.HandlerFunc) Endpoint {
	return Endpoint{raw: true, handler: handler, register: func(r *registration, _, _ string) {
		shown := *documented
		shown.Responses = maps.Clone(documented.Responses)
		maps.Copy(shown.Responses, refusals(r.schemas(), Operation{Audience: Everybody, Codes: codes}))
		r.document.Paths[documentedAs] = &huma.PathItem{Get: &shown}
	}}
}

// declare makes huma's declaration of an operation, and the rules for its body.
func (r *registration) declare(op *Operation) (huma.Operation, body.Rules) {
	declared := huma.Operation{
		OperationID:   op.ID,
		Method:        op.Method,
		Path:          op.Path,
		Tags:          []string{op.Tag},
		Summary:       op.Summary,
		Description:   op.Description,
		DefaultStatus: op.Status,
		Metadata:      map[string]any{},
		Hidden:        r.document == nil,
	}
	if r.document != nil {
		declared.Responses = refusals(r.schemas(), *op)
	}
	if op.Audience == Everybody {
		declared.Security = []map[string][]string{} // empty, not nil: nil means that an API key is needed
	}
	var rules body.Rules
	if op.Body != nil {
		rules.Registry = r.schemas()
		rules.Schema = rules.Registry.Schema(op.Body, true, op.ID+"Request")
		op.mediaField = rules.MediaField()
		declared.Metadata[metaRules] = rules
	}
	declared.Metadata[metaOperation] = *op
	if serving, ok := r.schemas().(*requestSchemas); ok {
		serving.answer = op.Answer
	}
	return declared, rules
}

// requestSchemas are the schemas that requests are checked by. Those of answers are for the document alone, and
// most of the whole: a program that nobody asks for the document neither makes nor keeps them.
type requestSchemas struct {
	huma.Registry

	answer reflect.Type // of the operation that is being registered
}

// Schema returns the schema of a type, which says nothing for that of the answer.
func (s *requestSchemas) Schema(of reflect.Type, allowRef bool, hint string) *huma.Schema {
	if of == s.answer {
		return &huma.Schema{}
	}
	return s.Registry.Schema(of, allowRef, hint)
}

// answerType finds the type of the JSON in the answer of an operation.
func answerType(answer reflect.Type) reflect.Type {
	answered, _ := answer.FieldByName("Body")
	if answered.Type != nil && answered.Type.Kind() == reflect.Func {
		return nil // it writes itself
	}
	return answered.Type
}
