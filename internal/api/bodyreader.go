package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/gateway"
)

// problem says why a body can't be read at all, if it can't.
func (b *body) problem() string {
	content := b.json.Bytes()
	if len(content) == 0 {
		return "" // no body at all is an object without fields: the answer then names those that are missing
	}
	if !utf8.Valid(content) {
		return "must be UTF-8" // encoding/json would put something else in its place
	}
	offset := int64(0)
	if b.sieve != nil {
		offset = b.sieve.wrong
	}
	syntax, broken := errors.AsType[*json.SyntaxError](json.Unmarshal(content, &unread{}))
	switch {
	case offset > 0:
	case !broken:
		return ""
	case isForm(content):
		return "is form data; send JSON with content-type: application/json"
	case b.sieve != nil:
		offset = b.sieve.inBody(syntax.Offset)
	default:
		offset = syntax.Offset
	}
	return fmt.Sprintf("is not valid JSON (byte %d)", offset)
}

// unread is a JSON value that nobody needs: it is checked and not built.
type unread struct{}

// UnmarshalJSON takes everything.
func (*unread) UnmarshalJSON([]byte) error { return nil }

// isForm reports whether a body that is no JSON is what programs send that were
// not told to send JSON: the fields of a form.
func isForm(content []byte) bool {
	const enough = 256
	head := string(bytes.TrimLeft(content[:min(len(content), enough)], " \r\n\t"))
	return strings.HasPrefix(head, "--") || strings.HasPrefix(strings.ToUpper(head), "%7B") || formField.MatchString(head)
}

var formField = regexp.MustCompile(`^[\pL_][\pL\pN_.%\[\]-]*=`)

// bodyReader makes the values of a body's fields. It follows the schema: what the
// schema does not name is passed over, and a list ends where it is too long, so
// that a body never takes up much more memory than it has bytes.
type bodyReader struct {
	registry huma.Registry
	json     *json.Decoder
	empty    bool
	errs     []error
	nulls    []string
	misspelt []misspelling
}

func newBodyReader(registry huma.Registry, content []byte) *bodyReader {
	return &bodyReader{registry: registry, json: json.NewDecoder(bytes.NewReader(content)), empty: len(content) == 0}
}

// body reads the whole body, which is valid JSON or empty.
func (r *bodyReader) body(schema *huma.Schema) (tree map[string]any, problem string) {
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

func (r *bodyReader) value(schema *huma.Schema, field string) (any, error) {
	for schema.Ref != "" {
		schema = r.registry.SchemaFromRef(schema.Ref)
	}
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
func (r *bodyReader) object(schema *huma.Schema, field string) (map[string]any, error) {
	tree := map[string]any{}
	for r.json.More() {
		token, err := r.json.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		property, known := schema.Properties[name]
		if !known {
			r.noteMisspelt(schema, field, name)
			if err := r.json.Decode(&unread{}); err != nil {
				return nil, err
			}
			continue
		}
		// Of a name that is there twice, the last value counts.
		if tree[name], err = r.value(property, joinField(field, name)); err != nil {
			return nil, err
		}
	}
	if field == "" {
		for name, value := range tree {
			if value == nil {
				r.nulls = append(r.nulls, name)
			}
		}
	}
	_, err := r.json.Token()
	return tree, err
}

func joinField(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// list reads the items of a list that has begun. Of one that is too long that
// alone is said.
func (r *bodyReader) list(schema *huma.Schema, field string) (any, error) {
	items := []any{}
	for r.json.More() {
		if schema.MaxItems != nil && len(items) == *schema.MaxItems {
			r.errs = append(r.errs, &fieldError{gateway.FieldError{
				Field: field, Message: fmt.Sprintf("must have %d items or less", *schema.MaxItems),
			}})
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

// skip passes over the rest of an object or list that has begun.
func (r *bodyReader) skip() error {
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
