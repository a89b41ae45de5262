// How the document is read.

package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	jsonType = "application/json"
	formType = "multipart/form-data"
	filePart = "file" // of a form

	// The extensions of this API's document.
	codesExtension        = "x-codes"             // of a refusal: its codes
	openEnumExtension     = "x-extensible-enum"   // as enum; there may be other values later
	descriptionsExtension = "x-enum-descriptions" // of the values of an enum, in their order

	timeoutCode = "PLATFORM_TIMEOUT" // of an operation that waits for the platform
)

// pageFields are the properties that make an object a page of a list.
func pageFields() []string {
	return []string{"data", "isFirstPage", "isLastPage", "currentPage", "previousPage", "nextPage", "pageCount", "totalCount"}
}

// reader reads a document.
type reader struct {
	document *openapi3.T
	objects  map[string]*object
	words    map[string]*words
	asked    map[string]bool // objects that requests have
	changed  map[string]bool // objects that requests to change something have: what they leave out stays
}

// read makes the model of a document.
func read(content []byte) (model, error) {
	document, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		return model{}, fmt.Errorf("read the document: %w", err)
	}
	r := &reader{document: document, objects: map[string]*object{}, words: map[string]*words{}, asked: map[string]bool{}, changed: map[string]bool{}}
	var m model
	m.operations = r.operations()
	if err := r.check(m.operations); err != nil {
		return model{}, err
	}
	m.events = r.events()
	for _, name := range sortedKeys(r.objects) {
		m.objects = append(m.objects, *r.objects[name])
	}
	for _, name := range sortedKeys(r.document.Components.Schemas) {
		if schema := r.document.Components.Schemas[name].Value; schema.Type.Is(openapi3.TypeString) {
			r.list(lowered(name), "", schema)
		}
	}
	for _, name := range sortedKeys(r.words) {
		m.words = append(m.words, *r.words[name])
	}
	return m, nil
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// operations reads all operations.
func (r *reader) operations() (all []operation) {
	for _, item := range r.document.Paths.Map() {
		for method, described := range item.Operations() {
			if described.RequestBody != nil {
				r.request(described.RequestBody.Value.Content.Get(jsonType).Schema, method == http.MethodPatch)
			}
		}
	}
	for _, path := range sortedKeys(r.document.Paths.Map()) {
		described := r.document.Paths.Value(path).Operations()
		for _, method := range sortedKeys(described) {
			if answersJSON(described[method]) {
				all = append(all, r.operation(method, path, described[method]))
			}
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.id, b.id) })
	withoutUsualCodes(all)
	return all
}

// withoutUsualCodes removes the codes that every operation with an API key has.
func withoutUsualCodes(all []operation) {
	counted, withKey := map[string]int{}, 0
	for _, op := range all {
		if len(op.codes) > 0 {
			withKey++
		}
		for _, code := range op.codes {
			counted[code]++
		}
	}
	for i := range all {
		all[i].codes = slices.DeleteFunc(all[i].codes, func(code string) bool { return counted[code] == withKey })
	}
}

// answersJSON reports whether the answer of an operation is JSON, or empty. What is streamed or
// downloaded is not for a generated client.
func answersJSON(described *openapi3.Operation) bool {
	_, success := successOf(described)
	return len(success.Content) == 0 || success.Content.Get(jsonType) != nil && success.Content["*/*"] == nil
}

// successOf returns the first answer that is no refusal.
func successOf(described *openapi3.Operation) (int, *openapi3.Response) {
	for _, status := range sortedKeys(described.Responses.Map()) {
		if number, err := strconv.Atoi(status); err == nil && number < http.StatusBadRequest {
			return number, described.Responses.Value(status).Value
		}
	}
	return 0, &openapi3.Response{}
}

func (r *reader) operation(method, path string, described *openapi3.Operation) operation {
	op := operation{
		id: described.OperationID, method: method, path: path,
		summary: described.Summary, description: described.Description, codes: codesOf(described),
	}
	op.waits = slices.Contains(op.codes, timeoutCode)
	for _, ref := range described.Parameters {
		p := parameter{ref.Value.Name, ref.Value.Description, r.kindOf(ref.Value.Schema)}
		switch ref.Value.In {
		case openapi3.ParameterInPath:
			op.inPath = append(op.inPath, p)
		case openapi3.ParameterInQuery:
			r.list(p.name, op.id, ref.Value.Schema.Value)
			op.query = append(op.query, p)
		case openapi3.ParameterInHeader:
			op.headers = append(op.headers, p)
		}
	}
	slices.SortStableFunc(op.inPath, func(a, b parameter) int {
		return strings.Index(path, "{"+a.name+"}") - strings.Index(path, "{"+b.name+"}")
	})
	named := func(name string) bool {
		return slices.ContainsFunc(op.query, func(p parameter) bool { return p.name == name })
	}
	if op.paged = named("page") && named("limit"); op.paged {
		op.query = slices.DeleteFunc(op.query, func(p parameter) bool { return p.name == "page" || p.name == "limit" })
	}
	r.readBody(&op, described)
	r.readAnswer(&op, described)
	return op
}

// codesOf returns the codes of all refusals of an operation, sorted.
func codesOf(described *openapi3.Operation) (codes []string) {
	for _, response := range described.Responses.Map() {
		codes = append(codes, texts(response.Value.Extensions[codesExtension])...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// readBody reads what an operation takes.
func (r *reader) readBody(op *operation, described *openapi3.Operation) {
	if described.RequestBody == nil {
		return
	}
	content := described.RequestBody.Value.Content
	taken := content.Get(jsonType).Schema
	op.body = nameOf(taken)
	op.takesFile = content[formType] != nil && content[formType].Schema.Value.Properties[filePart] != nil
	body := r.object(taken)
	body.uses = append(body.uses, use{role: asBody, of: op.id})
	body.takesFile = body.takesFile || op.takesFile
	body.headers = union(body.headers, op.headers)
	if op.takesFile { // it may be there in place of a field
		for i, f := range body.fields {
			body.fields[i].optional = f.optional || !slices.Contains(content[formType].Schema.Value.Required, f.name)
			body.fields[i].orFile = f.orFile || body.fields[i].optional && !f.optional
		}
	}
}

// request notes that requests have the object of a schema, and those inside of it.
func (r *reader) request(schema *openapi3.SchemaRef, changes bool) {
	name := nameOf(schema)
	if name != "" {
		if r.asked[name] && r.changed[name] == changes {
			return
		}
		r.asked[name], r.changed[name] = true, r.changed[name] || changes
	}
	if schema.Value.Items != nil {
		r.request(schema.Value.Items, changes)
	}
	for _, property := range schema.Value.Properties {
		r.request(property, changes)
	}
}

// readAnswer reads what an operation answers.
func (r *reader) readAnswer(op *operation, described *openapi3.Operation) {
	status, success := successOf(described)
	content := success.Content.Get(jsonType)
	if content == nil || len(content.Schema.Value.Properties)+len(content.Schema.Value.AllOf) == 0 {
		return
	}
	op.answer = nameOf(content.Schema)
	answer := r.object(content.Schema)
	answer.uses = append(answer.uses, use{role: asAnswer, of: op.id})
	if item := r.objects[answer.item]; item != nil {
		item.uses = append(item.uses, use{role: asItem, of: op.id})
	}
	for _, name := range sortedKeys(success.Headers) {
		header := success.Headers[name].Value
		op.answerHeaders = append(op.answerHeaders, parameter{name: name, description: header.Schema.Value.Description})
	}
	if later := described.Responses.Status(http.StatusAccepted); later != nil && status != http.StatusAccepted {
		op.accepts = *later.Value.Description
		answer.accepts = op.accepts
	}
	answer.answerHeaders = union(answer.answerHeaders, op.answerHeaders)
}

// union adds those of the others that are not there by name.
func union(some, others []parameter) []parameter {
	for _, other := range others {
		if !slices.ContainsFunc(some, func(p parameter) bool { return p.name == other.name }) {
			some = append(some, other)
		}
	}
	return some
}

// nameOf returns the name of the schema that a reference leads to; empty for one without a name.
func nameOf(ref *openapi3.SchemaRef) string {
	return strings.TrimPrefix(ref.Ref, "#/components/schemas/")
}

// object returns the object of a schema, and reads it if it is new.
func (r *reader) object(ref *openapi3.SchemaRef) *object {
	name := nameOf(ref)
	if known := r.objects[name]; known != nil {
		return known
	}
	made := &object{}
	r.objects[name] = made // before its fields, which may have it too
	*made = r.newObject(name, r.document.Components.Schemas[name].Value)
	return made
}

func (r *reader) newObject(name string, schema *openapi3.Schema) object {
	made := object{name: name, description: schema.Description, uses: r.usesOf(name)}
	for _, included := range schema.AllOf {
		part := r.object(included)
		part.uses = append(part.uses, use{role: asPart, of: name})
		made.includes = append(made.includes, part.name)
	}
	properties := slices.Clone(schema.Required) // in the order in which they were declared
	for _, property := range sortedKeys(schema.Properties) {
		if !slices.Contains(properties, property) {
			properties = append(properties, property)
		}
	}
	if !slices.ContainsFunc(pageFields(), func(name string) bool { return schema.Properties[name] == nil }) {
		made.item = r.object(schema.Properties["data"].Value.Items).name
		properties = slices.DeleteFunc(properties, func(name string) bool { return slices.Contains(pageFields(), name) })
	}
	for _, property := range properties {
		made.fields = append(made.fields, r.field(name, property, schema))
	}
	return made
}

// usesOf returns the uses of an object that were noted before it was read.
func (r *reader) usesOf(name string) []use {
	if known := r.objects[name]; known != nil {
		return known.uses
	}
	return nil
}

func (r *reader) field(of, name string, schema *openapi3.Schema) field {
	ref := schema.Properties[name]
	f := field{name: name, description: ref.Value.Description, kind: r.kindOf(ref), optional: !slices.Contains(schema.Required, name)}
	if inner := innermost(f.kind).object; inner != "" {
		r.objects[inner].uses = append(r.objects[inner].uses, use{role: asField, of: of, field: name})
	}
	if r.asked[of] {
		f.clearable = f.kind.nullable
		f.ambiguous = f.optional && f.kind.base != aList && f.kind.base != aMap && (r.changed[of] || zeroIsSomething(ref.Value))
	}
	r.list(name, of, ref.Value)
	return f
}

// innermost is the kind of the elements of a list or a map, or else the kind itself.
func innermost(k kind) kind {
	for k.element != nil {
		k = *k.element
	}
	return k
}

// zeroIsSomething reports whether a number or a boolean that is zero, or false, may be something
// else than one that is left out: the document does not forbid it, and does not call it the default.
func zeroIsSomething(schema *openapi3.Schema) bool {
	switch {
	case schema.Type.Is(openapi3.TypeBoolean):
		return schema.Default != false
	case schema.Type.Is(openapi3.TypeInteger), schema.Type.Is(openapi3.TypeNumber):
		return schema.Default != 0.0 && (schema.Min == nil || *schema.Min <= 0)
	default:
		return false
	}
}

// kindOf returns the kind of a schema's values.
func (r *reader) kindOf(ref *openapi3.SchemaRef) kind {
	schema := ref.Value
	if len(schema.AnyOf) == 2 && schema.AnyOf[1].Value.Type.Is("null") {
		k := r.kindOf(schema.AnyOf[0])
		k.nullable = true
		return k
	}
	k := kind{nullable: schema.Type.Includes("null")}
	switch {
	case nameOf(ref) != "" && (len(schema.Properties) > 0 || len(schema.AllOf) > 0):
		k.base, k.object = anObject, r.object(ref).name
	case schema.Type.Includes(openapi3.TypeArray):
		element := r.kindOf(schema.Items)
		k.base, k.element = aList, &element
	case schema.Type.Includes(openapi3.TypeObject):
		k.base = anyObject
		if values := schema.AdditionalProperties.Schema; values != nil && values.Value.Type != nil {
			element := r.kindOf(values)
			k.base, k.element = aMap, &element
		}
	case schema.Type.Includes(openapi3.TypeInteger):
		k.base = anInteger
	case schema.Type.Includes(openapi3.TypeNumber):
		k.base = aNumber
	case schema.Type.Includes(openapi3.TypeBoolean):
		k.base = aBoolean
	case schema.Format == "date-time":
		k.base = aTime
	case slices.Equal(schema.Enum, []any{"true", "false"}):
		k.base = aBooleanInText
	default:
		k.values = texts(schema.Enum)
	}
	return k
}

// list adds the values of a property to the words.
func (r *reader) list(property, of string, schema *openapi3.Schema) {
	if schema.Items != nil {
		schema = schema.Items.Value
	}
	values := schema.Enum
	if len(values) == 0 {
		values, _ = schema.Extensions[openEnumExtension].([]any)
	}
	if len(values) < 2 || slices.Equal(values, []any{"true", "false"}) {
		return
	}
	descriptions := texts(schema.Extensions[descriptionsExtension])
	group := r.words[property]
	if group == nil {
		group = &words{name: property}
		r.words[property] = group
	}
	if of != "" && !slices.Contains(group.of, of) {
		group.of = append(group.of, of)
	}
	group.open = group.open || schema.Extensions[openEnumExtension] != nil
	for i, value := range values {
		text, ok := value.(string)
		if !ok || slices.ContainsFunc(group.values, func(w word) bool { return w.value == text }) {
			continue
		}
		w := word{value: text}
		if i < len(descriptions) {
			w.description = descriptions[i]
		}
		group.values = append(group.values, w)
	}
}

// texts returns the texts of a list in an extension.
func texts(list any) (found []string) {
	values, _ := list.([]any)
	for _, value := range values {
		if text, ok := value.(string); ok {
			found = append(found, text)
		}
	}
	return found
}

// events reads the kinds of events, and what each carries.
func (r *reader) events() (all []event) {
	every := r.document.Components.Schemas["Event"]
	if every == nil || every.Value.Discriminator == nil {
		return nil
	}
	kinds := every.Value.Discriminator.Mapping
	for _, kind := range sortedKeys(kinds) {
		name := strings.TrimPrefix(kinds[kind].Ref, "#/components/schemas/")
		schema := r.document.Components.Schemas[name].Value
		data := r.newObject(name, schema.Properties["data"].Value)
		all = append(all, event{name: name, kind: kind, when: schema.Description, data: data})
	}
	return all
}

// check refuses documents of which no good client can be made.
func (r *reader) check(operations []operation) error {
	answered := map[string]bool{}
	var note func(name string)
	note = func(name string) {
		if answered[name] || r.objects[name] == nil {
			return
		}
		answered[name] = true
		for _, f := range r.objects[name].fields {
			note(innermost(f.kind).object)
		}
		note(r.objects[name].item)
	}
	for _, op := range operations {
		switch {
		case op.id == "" || op.summary == "":
			return fmt.Errorf("%s %s has no operationId or no summary", op.method, op.path)
		case op.paged && !strings.HasPrefix(op.id, "list"):
			return fmt.Errorf("%s has pages: its name should begin with list", op.id)
		case len(op.headers) > 0 && op.body == "":
			return fmt.Errorf("%s has headers and no body, whose type would have them", op.id)
		}
		note(op.answer)
	}
	for _, name := range sortedKeys(answered) {
		if r.asked[name] {
			return fmt.Errorf("%s is asked and answered: a field that may be left out would not be the same in both", name)
		}
	}
	return nil
}
