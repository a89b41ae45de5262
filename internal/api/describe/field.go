package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/body/format"
	"github.com/recado-project/recado/internal/reference"
)

// fieldLister turns schemas into rows of the reference. It walks the types that the schemas
// were made of, because a schema does not keep the order of fields.
type fieldLister struct {
	registry huma.Registry
}

func (l fieldLister) schema(of *huma.Schema) *huma.Schema {
	for of.Ref != "" {
		of = l.registry.SchemaFromRef(of.Ref)
	}
	return of
}

// parameter is the row of a parameter.
func (l fieldLister) parameter(parameter *huma.Param) reference.Field {
	row := l.row(parameter.Name, parameter.Schema, parameter.Required)
	row.Where = parameter.In
	row.Description = reference.Text(parameter.Description)
	schema := l.schema(parameter.Schema)
	for _, example := range append(parameter.Schema.Examples, schema.Examples...) {
		if row.Example == "" && example != "-" { // which says that there is none
			row.Example = fmt.Sprint(example)
		}
	}
	for _, value := range schema.Enum {
		row.Values = append(row.Values, fmt.Sprint(value))
	}
	if schema.Type == huma.TypeBoolean {
		row.Values = []string{"true", "false"}
	}
	return row
}

// headers are the rows of an answer's headers, by name.
func (l fieldLister) headers(operation *huma.Operation, status int) []reference.Field {
	response := operation.Responses[strconv.Itoa(status)]
	if response == nil {
		return nil
	}
	var rows []reference.Field
	for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
		header := response.Headers[name]
		row := l.row(name, header.Schema, false)
		row.Where = "header"
		if header.Description != "" {
			row.Description = reference.Text(header.Description)
		}
		rows = append(rows, row)
	}
	return rows
}

// list returns the rows of a body's fields, and of the fields inside of these.
func (l fieldLister) list(prefix string, body reflect.Type) []reference.Field {
	return l.fields(prefix, body, l.schema(l.registry.Schema(body, true, "")))
}

func (l fieldLister) fields(prefix string, object reflect.Type, schema *huma.Schema) []reference.Field {
	var rows []reference.Field
	for part := range object.Fields() {
		if part.Anonymous {
			rows = append(rows, l.fields(prefix, part.Type, l.embedded(part.Type, schema))...)
			continue
		}
		name := contract.FieldName(part)
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		row := l.row(prefix+name, property, slices.Contains(schema.Required, name))
		if description := part.Tag.Get("doc"); description != "" {
			row.Description = reference.Text(description)
		}
		rows = append(rows, row)
		inner, below := part.Type, prefix+name+"."
		if inner.Kind() == reflect.Slice {
			inner, property, below = inner.Elem(), l.schema(property).Items, prefix+name+"[]."
		}
		if inner.Kind() == reflect.Struct && l.schema(property).Type == huma.TypeObject {
			rows = append(rows, l.fields(below, inner, l.schema(property))...)
		}
	}
	return rows
}

// embedded is the schema of a type that is embedded in an object: one that the object's schema
// refers to, or that schema itself, which has the fields too.
func (l fieldLister) embedded(part reflect.Type, object *huma.Schema) *huma.Schema {
	for _, included := range object.AllOf {
		if strings.HasSuffix(included.Ref, "/"+part.Name()) {
			return l.schema(included)
		}
	}
	return object
}

// row is the row of a field or a parameter.
func (l fieldLister) row(name string, property *huma.Schema, required bool) reference.Field {
	schema := l.schema(property)
	row := reference.Field{Name: name, Type: schema.Type, Required: required, Description: reference.Text(property.Description)}
	limits := schema
	if schema.Type == huma.TypeArray {
		limits = l.schema(schema.Items)
		row.Type = "array of " + limits.Type + "s"
	}
	if schema.Nullable {
		row.Type += " or null"
	}
	row.Rules = append(valueRules(limits), listRules(schema)...)
	return row
}

// valueRules are the rules for a value, in words.
func valueRules(limits *huma.Schema) []reference.Text {
	var rules []reference.Text
	add := func(text string, args ...any) { rules = append(rules, reference.Text(fmt.Sprintf(text, args...))) }
	if limits.Format != "" && limits.Type == huma.TypeString {
		words := limits.Format
		if own, ok := format.Explain(words); ok {
			words = own.Words
		}
		add("%s", words)
	}
	if len(limits.Enum) > 0 {
		var values []string
		for _, value := range limits.Enum {
			if value != nil { // the type says so
				values = append(values, "`"+fmt.Sprint(value)+"`")
			}
		}
		add("%s", strings.Join(values, ", "))
	}
	if limits.MinLength != nil && *limits.MinLength > 0 {
		add("not blank")
	}
	if limits.MaxLength != nil {
		add("at most %d characters", *limits.MaxLength)
	}
	switch {
	case limits.Minimum != nil && limits.Maximum != nil:
		add("%v to %v", *limits.Minimum, *limits.Maximum)
	case limits.Minimum != nil:
		add("%v or more", *limits.Minimum)
	}
	return rules
}

// listRules are the rules for a field as a whole, in words.
func listRules(schema *huma.Schema) []reference.Text {
	var rules []reference.Text
	add := func(text string, args ...any) { rules = append(rules, reference.Text(fmt.Sprintf(text, args...))) }
	if schema.MinItems != nil {
		add("at least %d", *schema.MinItems)
	}
	if schema.MaxItems != nil {
		add("at most %d items", *schema.MaxItems)
	}
	if schema.Default != nil {
		if text, err := json.Marshal(schema.Default); err == nil { // it may be behind a pointer
			add("default `%s`", strings.Trim(string(text), `"`))
		}
	}
	return rules
}
