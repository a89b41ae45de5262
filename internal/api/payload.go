package api

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/format"
	"github.com/recado-project/recado/internal/gateway"
)

// Payload is the JSON body of a request, embedded in the input of an operation.
//
// It is no Body of huma: huma parses a body twice, takes field names in any
// case, refuses types of content, and reads before the order of the contract's
// checks allows it. Its schemas and its validation are used.
type Payload[T any] struct {
	given T
	nulls []string // the fields of the object itself that were given as null
	// misspelt are fields of the object that it does not have, and that look like one
	// that it has, with that one's name.
	misspelt []misspelling
}

// payloadRules is what the body of an operation must look like.
type payloadRules struct {
	registry huma.Registry
	schema   *huma.Schema
}

// Resolve reads the body that the gate has let in. Huma calls it and adds what is
// wrong with parameters.
func (p *Payload[T]) Resolve(ctx huma.Context) []error {
	rules, ok := ctx.Operation().Metadata[metaPayload].(payloadRules)
	if !ok {
		return []error{errors.New("the operation has no payload")}
	}
	x := exchangeOf(ctx.Context())
	tree, errs := rules.read(x.body, &p.nulls, &p.misspelt)
	x.body.json = bytes.Buffer{} // a send may take a while
	if len(errs) > 0 {
		return errs
	}
	if err := assign(tree, reflect.ValueOf(&p.given).Elem()); err != nil {
		return []error{err}
	}
	return nil
}

// read makes the values of a body's fields, and says everything that is wrong with
// them.
func (r payloadRules) read(from *body, nulls *[]string, misspelt *[]misspelling) (tree map[string]any, errs []error) {
	if problem := from.problem(); problem != "" {
		return nil, []error{&fieldError{gateway.FieldError{Field: "body", Message: problem}}}
	}
	read := newBodyReader(r.registry, from.json.Bytes())
	tree, problem := read.body(r.schema)
	if problem != "" {
		return nil, []error{&fieldError{gateway.FieldError{Field: "body", Message: problem}}}
	}
	*nulls, *misspelt = read.nulls, read.misspelt
	if from.sieve != nil && from.sieve.media != nil {
		if problem := from.sieve.media.problem(); problem != "" {
			read.errs = append(read.errs, &fieldError{gateway.FieldError{Field: from.sieve.field, Message: problem}})
		}
	}
	return tree, append(read.errs, r.check(tree)...)
}

// mediaField is the name of the field that may hold media; empty for none.
func (r payloadRules) mediaField() string {
	schema := r.schema
	for schema.Ref != "" {
		schema = r.registry.SchemaFromRef(schema.Ref)
	}
	for name, property := range schema.Properties {
		if property.Format == format.Media {
			return name
		}
	}
	return ""
}

// check returns everything that is wrong with a body. Required fields that are
// missing are null in tree afterwards.
func (r payloadRules) check(tree map[string]any) []error {
	own := &checker{registry: r.registry}
	own.object(r.schema, "", tree)
	var found huma.ValidateResult
	path := huma.NewPathBuffer([]byte("body"), len("body"))
	huma.Validate(r.registry, r.schema, path, huma.ModeWriteToServer, tree, &found)
	return append(own.errs, found.Errors...)
}

// checker looks for what a JSON schema can't say.
type checker struct {
	registry huma.Registry
	errs     []error
}

func (c *checker) add(field, message string) {
	c.errs = append(c.errs, &fieldError{gateway.FieldError{Field: field, Message: message}})
}

func (c *checker) value(schema *huma.Schema, field string, value any) {
	for schema.Ref != "" {
		schema = c.registry.SchemaFromRef(schema.Ref)
	}
	switch value := value.(type) {
	case map[string]any:
		c.object(schema, field+".", value)
	case []any:
		if schema.Items != nil {
			for i, item := range value {
				c.value(schema.Items, fmt.Sprintf("%s[%d]", field, i), item)
			}
		}
	case string:
		c.text(schema, field, value)
	}
}

func (c *checker) object(schema *huma.Schema, prefix string, object map[string]any) {
	for schema.Ref != "" {
		schema = c.registry.SchemaFromRef(schema.Ref)
	}
	for _, name := range schema.Required {
		if _, ok := object[name]; !ok {
			object[name] = nil // so that what is missing is reported by its own name
		}
	}
	for name, property := range schema.Properties {
		if value, ok := object[name]; ok {
			c.value(property, prefix+name, value)
		}
	}
}

func (c *checker) text(schema *huma.Schema, field, text string) {
	if schema.Type != huma.TypeString {
		return
	}
	if strings.IndexByte(text, 0) >= 0 {
		c.add(field, "must not contain U+0000")
		return
	}
	if schema.MinLength != nil && *schema.MinLength > 0 && strings.TrimSpace(text) == "" {
		c.add(field, "must not be blank")
		return
	}
	if wrong := format.Check(schema.Format, text); wrong != "" {
		c.add(field, wrong)
	}
}

// assign fills target from a value that has been checked. Long strings, which
// may be media, are shared and not copied.
func assign(value any, target reflect.Value) error {
	if value == nil {
		return nil // null counts as absent
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		return assign(value, target.Elem())
	}
	switch value := value.(type) {
	case string:
		return assignText(value, target)
	case bool:
		target.SetBool(value)
	case float64:
		if target.CanInt() {
			target.SetInt(int64(value)) // whole, and within the schema's bounds
		} else {
			target.SetFloat(value)
		}
	case []any:
		target.Set(reflect.MakeSlice(target.Type(), len(value), len(value)))
		for i, item := range value {
			if err := assign(item, target.Index(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for i := range target.NumField() {
			field := target.Type().Field(i)
			var given any = value // the fields of what is embedded stand in the same object
			if !field.Anonymous {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				given = value[name]
			}
			if err := assign(given, target.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func assignText(text string, target reflect.Value) error {
	if moment, ok := reflect.TypeAssert[*time.Time](target.Addr()); ok {
		parsed, err := time.Parse(time.RFC3339, text)
		*moment = parsed.UTC()
		return err
	}
	target.SetString(text)
	return nil
}
