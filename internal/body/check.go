package body

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/body/format"
)

// check returns everything that is wrong with a body. Required fields that are
// missing are null in tree afterwards.
func (r Rules) check(tree map[string]any) []error {
	own := &checker{registry: r.Registry}
	own.object(r.Schema, "", tree)
	var found huma.ValidateResult
	path := huma.NewPathBuffer([]byte("body"), len("body"))
	huma.Validate(r.Registry, r.Schema, path, huma.ModeWriteToServer, tree, &found)
	return append(own.errs, found.Errors...)
}

// checker finds what a JSON schema can't express.
type checker struct {
	registry huma.Registry
	errs     []error
}

func (c *checker) add(field, message string) {
	c.errs = append(c.errs, Wrong(field, message))
}

func (c *checker) value(schema *huma.Schema, field string, value any) {
	schema = resolve(c.registry, schema)
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
	schema = resolve(c.registry, schema)
	for _, name := range schema.Required {
		if _, ok := object[name]; !ok {
			object[name] = nil // so that huma reports a missing field by its own name
		}
	}
	c.either(schema, prefix, object)
	for name, property := range schema.Properties {
		if value, ok := object[name]; ok {
			c.value(property, prefix+name, value)
		}
	}
}

// EitherOf is the extension of a schema that names two fields, of which an object has one and not both.
// A JSON schema can say so (oneOf), in sentences that no client understands.
const EitherOf = "x-either-of"

func (c *checker) either(schema *huma.Schema, prefix string, object map[string]any) {
	fields, ok := schema.Extensions[EitherOf].([2]string)
	if !ok {
		return
	}
	switch first, second := object[fields[0]], object[fields[1]]; {
	case first == nil && second == nil:
		c.add(prefix+fields[0], "is required")
	case first != nil && second != nil:
		c.add(prefix+fields[1], "must not be there beside "+fields[0])
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
