package body

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/body/format"
	"github.com/recado-project/recado/internal/gateway"
)

// Rules say what the body of an operation must look like.
type Rules struct {
	Registry huma.Registry
	Schema   *huma.Schema // of the body, known to the registry
}

// Notes are what a body says beside its values.
type Notes struct {
	nulls    []string // the fields that were given as null, those of objects as object.field
	misspelt []misspelling
	unknown  []string // names of fields of no use, the first of them
}

// IsNull reports whether the body gives the field as null; object.field is a field of an
// object in it. Elsewhere null counts as absent.
func (n *Notes) IsNull(field string) bool { return slices.Contains(n.nulls, field) }

// FieldError is one thing that is wrong with a request, on its way through huma.
type FieldError struct{ gateway.FieldError }

// Error returns field and message.
func (e *FieldError) Error() string { return e.Field + " " + e.Message }

// Wrong says what is wrong with a field.
func Wrong(field, message string) *FieldError {
	return &FieldError{gateway.FieldError{Field: field, Message: message}}
}

// Decode reads a body into target, a pointer to a struct, and frees its JSON: a send
// may take a while. It returns everything that is wrong with the body, each a
// FieldError or an error detail of huma.
func (r Rules) Decode(from *Body, target any) (Notes, []error) {
	tree, notes, errs := r.read(from)
	from.json = bytes.Buffer{}
	if len(errs) > 0 {
		return notes, errs
	}
	if err := assign(tree, reflect.ValueOf(target).Elem()); err != nil {
		return notes, []error{err}
	}
	return notes, nil
}

// read makes the values of a body's fields, and checks them.
func (r Rules) read(from *Body) (tree map[string]any, notes Notes, errs []error) {
	if from != nil && from.form != nil {
		if errs := from.form.write(&from.json, r, from.sieve); len(errs) > 0 {
			return nil, notes, errs
		}
	}
	if problem := from.problem(); problem != "" {
		return nil, notes, []error{Wrong("body", problem)}
	}
	read := newFieldReader(r.Registry, from.json.Bytes())
	tree, problem := read.body(r.Schema)
	if problem != "" {
		return nil, notes, []error{Wrong("body", problem)}
	}
	if from.sieve != nil && from.sieve.media != nil {
		if problem := from.sieve.media.problem(); problem != "" {
			read.errs = append(read.errs, Wrong(from.sieve.field, problem))
		}
	}
	return tree, read.notes, append(read.errs, r.check(tree)...)
}

// MediaField is the name of the field that may hold media; empty for none.
func (r Rules) MediaField() string {
	for name, property := range resolve(r.Registry, r.Schema).Properties {
		if property.Format == format.Media {
			return name
		}
	}
	return ""
}

// Form is the schema of the same body as a form; nil if the operation takes no media.
func (r Rules) Form() *huma.Schema {
	field := r.MediaField()
	if field == "" {
		return nil
	}
	whole := resolve(r.Registry, r.Schema)
	form := &huma.Schema{
		Type: huma.TypeObject, Properties: maps.Clone(whole.Properties),
		Required: slices.DeleteFunc(slices.Clone(whole.Required), func(name string) bool { return name == field }),
	}
	form.Properties[FilePart] = &huma.Schema{
		Type: huma.TypeString, Format: "binary", Description: "The file itself, in place of " + field + ".",
	}
	return form
}

// resolve follows the references of a schema.
func resolve(registry huma.Registry, schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	return schema
}
