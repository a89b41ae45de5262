package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/format"
)

// fieldLister turns schemas into rows of the reference page. It walks the types
// that the schemas were made of, because a schema forgets the order of fields.
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
func (l fieldLister) parameter(parameter *huma.Param) referenceField {
	row := l.row(parameter.Name, parameter.Schema, parameter.Required)
	row.Where = parameter.In
	row.Description = parameter.Description
	return row
}

// headers are the rows of an answer's headers, by name.
func (l fieldLister) headers(operation *huma.Operation, status int) []referenceField {
	response := operation.Responses[strconv.Itoa(status)]
	if response == nil {
		return nil
	}
	var rows []referenceField
	for _, name := range slices.Sorted(maps.Keys(response.Headers)) {
		header := response.Headers[name]
		row := l.row(name, header.Schema, false)
		row.Where = "header"
		if header.Description != "" {
			row.Description = header.Description
		}
		rows = append(rows, row)
	}
	return rows
}

// list returns the rows of a body's fields, and of the fields inside of these.
func (l fieldLister) list(prefix string, body reflect.Type) []referenceField {
	return l.fields(prefix, body, l.schema(l.registry.Schema(body, true, "")))
}

func (l fieldLister) fields(prefix string, object reflect.Type, schema *huma.Schema) []referenceField {
	var rows []referenceField
	for field := range object.Fields() {
		if field.Anonymous {
			rows = append(rows, l.fields(prefix, field.Type, schema)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		row := l.row(prefix+name, property, slices.Contains(schema.Required, name))
		if description := field.Tag.Get("doc"); description != "" {
			row.Description = description
		}
		rows = append(rows, row)
		inner, below := field.Type, prefix+name+"."
		if inner.Kind() == reflect.Slice {
			inner, property, below = inner.Elem(), l.schema(property).Items, prefix+name+"[]."
		}
		if inner.Kind() == reflect.Struct && l.schema(property).Type == huma.TypeObject {
			rows = append(rows, l.list(below, inner)...)
		}
	}
	return rows
}

func (l fieldLister) row(name string, property *huma.Schema, required bool) referenceField {
	schema := l.schema(property)
	row := referenceField{Name: name, Type: schema.Type, Required: required, Description: property.Description}
	limits := schema
	if schema.Type == huma.TypeArray {
		limits = l.schema(schema.Items)
		row.Type = "array of " + limits.Type + "s"
	}
	if schema.Nullable {
		row.Type += " or null"
	}
	rule := func(text string, args ...any) { row.Rules = append(row.Rules, fmt.Sprintf(text, args...)) }
	if limits.Format != "" && limits.Type == huma.TypeString {
		words := limits.Format
		if own, ok := format.Explain(words); ok {
			words = own.Words
		}
		rule("%s", words)
	}
	if len(limits.Enum) > 0 {
		var values []string
		for _, value := range limits.Enum {
			if value != nil { // the type says so
				values = append(values, "`"+fmt.Sprint(value)+"`")
			}
		}
		rule("%s", strings.Join(values, ", "))
	}
	if limits.MinLength != nil && *limits.MinLength > 0 {
		rule("not blank")
	}
	if limits.MaxLength != nil {
		rule("at most %d characters", *limits.MaxLength)
	}
	switch {
	case limits.Minimum != nil && limits.Maximum != nil:
		rule("%v to %v", *limits.Minimum, *limits.Maximum)
	case limits.Minimum != nil:
		rule("%v or more", *limits.Minimum)
	}
	if schema.MinItems != nil {
		rule("at least %d", *schema.MinItems)
	}
	if schema.MaxItems != nil {
		rule("at most %d items", *schema.MaxItems)
	}
	if schema.Default != nil {
		rule("default `%v`", schema.Default)
	}
	return row
}
