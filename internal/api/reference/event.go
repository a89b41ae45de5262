package reference

import (
	"reflect"
	"strings"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
)

// event is a kind of event on the page.
type event struct {
	Kind, When string
	Fields     []field // of its data
}

func newEvents() []event {
	var events []event
	for _, described := range eventlog.Descriptions() {
		events = append(events, event{
			Kind: string(described.Data.Kind()), When: described.When, Fields: eventRows("", reflect.TypeOf(described.Data)),
		})
	}
	return events
}

// eventRows are the rows of a type's fields, and of the fields inside of these.
func eventRows(prefix string, of reflect.Type) []field {
	var rows []field
	for _, part := range contract.EventFields(of) {
		name, kind, inner := prefix+contract.FieldName(part), eventTypeName(part.Type), part.Type
		rows = append(rows, field{Name: name, Type: kind, Description: part.Tag.Get("doc")})
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

// eventTypeName is the name of a field's type on the page.
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
