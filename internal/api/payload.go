package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/gateway"
)

// Payload is the JSON body of a request, embedded in the input of an operation.
//
// It is no Body of huma: huma parses a body twice, takes field names in any
// case, refuses types of content, and reads before the order of the contract's
// checks allows it. Its schemas and its validation are used.
type Payload[T any] struct {
	given T
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
	tree, problem := parseObject(x.body)
	x.body = nil // a send may take a while, and this may be media
	if problem != "" {
		return []error{&fieldError{gateway.FieldError{Field: "body", Message: problem}}}
	}
	if errs := rules.check(tree); len(errs) > 0 {
		return errs
	}
	if err := assign(tree, reflect.ValueOf(&p.given).Elem()); err != nil {
		return []error{err}
	}
	return nil
}

// parseObject parses a body. No body at all is an object without fields: the
// answer then names those that are missing.
func parseObject(body []byte) (tree map[string]any, problem string) {
	if len(body) == 0 {
		return map[string]any{}, ""
	}
	if !utf8.Valid(body) {
		return nil, "must be UTF-8" // encoding/json would put something else in its place
	}
	err := json.Unmarshal(body, &tree)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Sprintf("is not valid JSON (byte %d)", syntax.Offset)
	}
	if number, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(number.Value, "number ") {
		return nil, fmt.Sprintf("has a number that is out of range (byte %d)", number.Offset)
	}
	if err != nil || tree == nil {
		return nil, "must be a JSON object"
	}
	return tree, ""
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
	if wrong := checkFormat(schema.Format, text); wrong != "" {
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
