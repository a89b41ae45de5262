// Package contract checks requests and answers against the OpenAPI document: it has a
// transport for the HTTP clients of tests. It checks the form of an answer, not whether
// it is the right one. Only tests import it.
package contract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

const jsonType = "application/json"

// Document is an OpenAPI document that requests and answers are checked against. It is
// safe for concurrent use.
type Document struct {
	spec *openapi3.T
	// fits are the hashes of the pairs of request and answer that fit. A check compiles
	// the schemas anew, and tests that wait repeat the same request many times.
	fits sync.Map
}

// loaded are the documents by their hashes. All programs that tests start have the same
// one, and loading it takes longer than the start.
//
//nolint:gochecknoglobals // a cache, of tests alone
var loaded sync.Map

// Load reads a document in JSON or YAML. It reads equal documents only once.
func Load(ctx context.Context, document []byte) (*Document, error) {
	key := sha256.Sum256(document)
	if known, ok := loaded.Load(key); ok {
		return known.(*Document), nil
	}
	read, err := load(ctx, document)
	if err == nil {
		loaded.Store(key, read)
	}
	return read, err
}

func load(ctx context.Context, document []byte) (*Document, error) {
	spec, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("contract: load document: %w", err)
	}
	if err := spec.Validate(ctx); err != nil {
		return nil, fmt.Errorf("contract: document: %w", err)
	}
	closeAnswers(spec)
	return &Document{spec: spec}, nil
}

// Transport passes requests on to next, and checks every pair of request and answer
// against the document, which is JSON or YAML. The test fails if one does not fit. It is
// safe for concurrent use.
func Transport(tb testing.TB, document []byte, next http.RoundTripper) http.RoundTripper {
	tb.Helper()
	read, err := Load(tb.Context(), document)
	if err != nil {
		tb.Fatal(err)
	}
	return &transport{tb: tb, document: read, next: next}
}

// served is what Served asks for once.
//
//nolint:gochecknoglobals // a cache, of tests alone
var served struct {
	once     sync.Once
	document *Document
	err      error
}

// Served passes requests on as Transport does, with the document that the program at that address
// serves. All programs of a test binary serve the same one but for their own addresses, so the first
// one is asked.
func Served(tb testing.TB, baseURL string, next http.RoundTripper) http.RoundTripper {
	tb.Helper()
	served.once.Do(func() { served.document, served.err = fetch(baseURL) })
	if served.err != nil {
		tb.Fatal(served.err)
	}
	return &transport{tb: tb, document: served.document, next: next}
}

func fetch(baseURL string) (*Document, error) {
	ctx := context.Background() // it is for all tests
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+"/openapi.json", http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return Load(ctx, bytes.ReplaceAll(content, []byte(baseURL), []byte("http://127.0.0.1")))
}

// closeAnswers forbids further fields in all objects of answers.
func closeAnswers(spec *openapi3.T) {
	seen := map[*openapi3.Schema]bool{}
	for _, item := range spec.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, response := range operation.Responses.Map() {
				for _, content := range response.Value.Content {
					closeObjects(content.Schema, seen)
				}
			}
		}
	}
}

func closeObjects(ref *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}
	schema := ref.Value
	seen[schema] = true
	// An object whose fields are not the gateway's says so.
	if schema.Type.Includes(openapi3.TypeObject) && schema.AdditionalProperties.Schema == nil {
		schema.UnevaluatedProperties = openapi3.BoolSchema{Has: new(bool)}
	}
	closeObjects(schema.Items, seen)
	for _, part := range schema.AllOf { // the object itself has more fields
		for _, property := range part.Value.Properties {
			closeObjects(property, seen)
		}
	}
	for _, property := range schema.Properties {
		closeObjects(property, seen)
	}
}

type transport struct {
	tb       testing.TB
	document *Document
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	sent, err := readAll(request.Body)
	if err != nil {
		return nil, fmt.Errorf("contract: read request: %w", err)
	}
	carried := request.Clone(request.Context()) // a RoundTripper must not change the request
	if request.Body != nil {
		carried.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := c.next.RoundTrip(carried)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return response, nil // it may never end
	}
	answered, err := readAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("contract: read answer: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(answered))
	if err := c.document.Check(request, sent, response, answered); err != nil {
		c.tb.Error(err)
	}
	return response, nil
}

// readAll reads a body to its end and closes it.
func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(body)
	return content, errors.Join(err, body.Close())
}

// Check checks a request and an answer, with their bodies, against the document. A request
// is checked only if it was accepted. An answer must not have fields that are not in the
// document.
func (c *Document) Check(request *http.Request, sent []byte, response *http.Response, answered []byte) error {
	key := hashOf(request, sent, response, answered)
	if _, fits := c.fits.Load(key); fits {
		return nil
	}
	err := c.check(request, sent, response, answered)
	if err == nil {
		c.fits.Store(key, struct{}{})
		return nil
	}
	return fmt.Errorf("contract: %s %s, answered %d: %w\nrequest: %s\nanswer: %s",
		request.Method, request.URL.Path, response.StatusCode, err, shorten(sent), shorten(answered))
}

// hashOf returns the hash of everything that a check looks at.
func hashOf(request *http.Request, sent []byte, response *http.Response, answered []byte) [sha256.Size]byte {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s %q %d\n%q\n", request.Method, request.URL.RequestURI(), response.StatusCode, headerThatCounts(response))
	if response.StatusCode < http.StatusMultipleChoices { // what was refused is not checked, and may be large
		_, _ = fmt.Fprintf(sum, "%q\n%d\n", request.Header, len(sent))
		_, _ = sum.Write(sent) // it never fails
	}
	_, _ = sum.Write(answered)
	return [sha256.Size]byte(sum.Sum(nil))
}

// headerThatCounts returns the header of an answer without the fields that differ each
// time.
func headerThatCounts(response *http.Response) http.Header {
	header := response.Header.Clone()
	header.Del("Date")
	header.Del("X-Request-Id")
	return header
}

func (c *Document) check(request *http.Request, sent []byte, response *http.Response, answered []byte) error {
	route, parameters := c.route(request)
	if route == nil {
		return c.checkUnknown(request, response, answered)
	}
	// The check needs a copy: it reads the body, and requires a Content-Type, which the
	// API does not.
	checked := request.Clone(request.Context())
	checked.Body, checked.GetBody = io.NopCloser(bytes.NewReader(withoutNulls(sent))), nil
	isForm := bytes.HasPrefix(sent, []byte("--"))
	if !isForm {
		checked.Header.Set("Content-Type", jsonType)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: checked, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
			SkipSettingDefaults: true, MultiError: true, ExcludeRequestBody: isForm && operationTakesForms(route),
		},
	}
	ctx := request.Context()
	if response.StatusCode < http.StatusMultipleChoices {
		if err := openapi3filter.ValidateRequest(ctx, input); err != nil {
			return fmt.Errorf("the request was accepted: %w", err)
		}
	}
	if request.Method == http.MethodHead {
		return nil // its answer has no body
	}
	documented := route.Operation.Responses.Status(response.StatusCode)
	if documented != nil && len(documented.Value.Content) == 0 && len(answered) > 0 {
		return errors.New("the answer has a body")
	}
	return openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
		Body: io.NopCloser(bytes.NewReader(answered)), Options: input.Options,
	})
}

// operationTakesForms reports whether the document says that an operation takes forms. The
// check can't read them: every part of one is a text.
func operationTakesForms(route *routers.Route) bool {
	body := route.Operation.RequestBody
	return body != nil && body.Value.Content["multipart/form-data"] != nil
}

// checkUnknown checks the answer to a request that is not in the document. If it is below
// /api, it has to be refused, with the usual body.
func (c *Document) checkUnknown(request *http.Request, response *http.Response, answered []byte) error {
	if !strings.HasPrefix(request.URL.Path, "/api/") {
		return nil // the sandbox, a page or a file
	}
	if response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed {
		return errors.New("the document does not have this operation")
	}
	if request.Method == http.MethodHead {
		return nil
	}
	refusal := c.spec.Components.Schemas["Error"]
	if refusal == nil {
		return errors.New("the document has no schema Error")
	}
	var value any
	if err := decode(answered, &value); err != nil {
		return err
	}
	return refusal.Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors())
}

// route finds the operation of a request, and the parameters in its path.
func (c *Document) route(request *http.Request) (*routers.Route, map[string]string) {
	method := request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found *routers.Route
	var inPath map[string]string
	for path, item := range c.spec.Paths.Map() {
		parameters, ok := match(path, request.URL.EscapedPath())
		// A path that stands as it is comes before one that any text fits.
		if ok && (found == nil || len(parameters) < len(inPath)) {
			inPath = parameters
			found = &routers.Route{Spec: c.spec, Path: path, PathItem: item, Method: method, Operation: item.Operations()[method]}
		}
	}
	if found == nil || found.Operation == nil {
		return nil, nil
	}
	return found, inPath
}
