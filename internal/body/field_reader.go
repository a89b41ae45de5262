package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fieldReader makes the values of a body's fields. It follows the schema: fields that
// the schema does not name are skipped, and a list ends where it is too long, so
// that a body never takes up much more memory than it has bytes.
type fieldReader struct {
	registry huma.Registry
	json     *json.Decoder
	empty    bool
	errs     []error
	notes    Notes
}

func newFieldReader(registry huma.Registry, content []byte) *fieldReader {
	return &fieldReader{registry: registry, json: json.NewDecoder(bytes.NewReader(content)), empty: len(content) == 0}
}

// body reads the whole body, which is valid JSON or empty.
func (r *fieldReader) body(schema *huma.Schema) (tree map[string]any, problem string) {
	if r.empty {
		return map[string]any{}, ""
	}
	value, err := r.value(schema, "")
	if number, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(number.Value, "number ") {
		return nil, fmt.Sprintf("has a number that is out of range (byte %d)", r.json.InputOffset())
	}
	tree, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, "must be a JSON object"
	}
	return tree, ""
}

func (r *fieldReader) value(schema *huma.Schema, field string) (any, error) {
	schema = resolve(r.registry, schema)
	token, err := r.json.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		if schema.Type == huma.TypeObject {
			return r.object(schema, field)
		}
		return map[string]any{}, r.skip()
	case json.Delim('['):
		if schema.Type == huma.TypeArray {
			return r.list(schema, field)
		}
		return []any{}, r.skip()
	}
	return token, nil
}

// object reads the fields of an object that has begun.
func (r *fieldReader) object(schema *huma.Schema, field string) (map[string]any, error) {
	tree := map[string]any{}
	for r.json.More() {
		token, err := r.json.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		property, known := propertyOf(schema, name)
		if !known {
			r.noteMisspelt(schema, field, name)
			r.noteUnknown(joinField(field, name))
			if err := r.json.Decode(&unread{}); err != nil {
				return nil, err
			}
			continue
		}
		// If a name is there twice, the last value counts.
		if tree[name], err = r.value(property, joinField(field, name)); err != nil {
			return nil, err
		}
	}
	for name, value := range tree {
		if value == nil {
			r.notes.nulls = append(r.notes.nulls, joinField(field, name))
		}
	}
	_, err := r.json.Token()
	return tree, err
}

// propertyOf returns the schema of a field of an object, whose names the schema may leave open.
func propertyOf(schema *huma.Schema, name string) (*huma.Schema, bool) {
	if property, known := schema.Properties[name]; known {
		return property, true
	}
	property, open := schema.AdditionalProperties.(*huma.Schema)
	return property, open
}

func joinField(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// list reads the items of a list that has begun. The items of a list that is too long
// are not checked: its length is reported alone.
func (r *fieldReader) list(schema *huma.Schema, field string) (any, error) {
	items := []any{}
	for r.json.More() {
		if schema.MaxItems != nil && len(items) == *schema.MaxItems {
			r.errs = append(r.errs, Wrong(field, fmt.Sprintf("must have %d items or less", *schema.MaxItems)))
			return nil, r.skip()
		}
		item, err := r.value(schema.Items, field)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := r.json.Token()
	return items, err
}

// skip skips the rest of an object or list that has begun.
func (r *fieldReader) skip() error {
	for depth := 1; depth > 0; {
		token, err := r.json.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}
