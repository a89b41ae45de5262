package api

import (
	"reflect"
	"strings"

	"github.com/recado-project/recado/internal/eventlog"
)

// referenceEvent is a kind of event on the reference page.
type referenceEvent struct {
	Kind, When string
	Fields     []referenceField // of its data
}

func newReferenceEvents() []referenceEvent {
	var events []referenceEvent
	for _, told := range eventlog.Descriptions() {
		events = append(events, referenceEvent{
			Kind: string(told.Data.Kind()), When: told.When, Fields: eventRows("", reflect.TypeOf(told.Data)),
		})
	}
	return events
}

// eventRows are the rows of a type's fields, and of the fields inside of these.
func eventRows(prefix string, of reflect.Type) []referenceField {
	var rows []referenceField
	for _, field := range eventFields(of) {
		name, kind, inner := prefix+fieldName(field), eventTypeName(field.Type), field.Type
		rows = append(rows, referenceField{Name: name, Type: kind, Description: field.Tag.Get("doc")})
		if inner.Kind() == reflect.Slice {
			inner, name = inner.Elem(), name+"[]"
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[eventlog.Time]() {
			rows = append(rows, eventRows(name+".", inner)...)
		}
	}
	return rows
}

// eventTypeName is how the page calls the type of a field.
func eventTypeName(of reflect.Type) string {
	if of == reflect.TypeFor[eventlog.Time]() {
		return "string" // as everywhere
	}
	switch of.Kind() {
	case reflect.Pointer:
		return eventTypeName(of.Elem()) + " or null"
	case reflect.Slice:
		return "array of " + strings.TrimSuffix(eventTypeName(of.Elem()), " or null") + "s"
	case reflect.Struct:
		return "object"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	default:
		return "string"
	}
}
