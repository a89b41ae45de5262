package contract

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/eventlog"
)

// eventSchemas makes the schemas of events from the types that they are written
// with. huma's schemas can't express a field that is an object or null.
type eventSchemas struct {
	registry   huma.Registry
	components map[string]*huma.Schema
}

// EventSchema adds the schema of an answer that has fields as events have them, under a name,
// and returns a reference to it.
func EventSchema(registry huma.Registry, name string, of reflect.Type) *huma.Schema {
	return eventSchemas{registry, registry.Map()}.named(of, name)
}

// documentEvents adds every kind of event to the document: as a webhook, and as a
// part of the schema Event, which the stream carries.
func documentEvents(document *Document) {
	schemas := eventSchemas{document.Components.Schemas, document.Components.Schemas.Map()}
	document.Webhooks = map[string]*huma.PathItem{}
	every := &huma.Schema{
		Description:   "An event, the same for webhooks and streams. New types and new fields may be added at any time.",
		Discriminator: &huma.Discriminator{PropertyName: "type", Mapping: map[string]string{}},
	}
	for _, described := range eventlog.Descriptions() {
		kind := described.Data.Kind()
		name := reflect.TypeOf(described.Data).Name()
		schemas.envelope(name+"Event", described)
		ref := &huma.Schema{Ref: componentsPrefix + name + "Event"}
		every.OneOf = append(every.OneOf, ref)
		every.Discriminator.Mapping[string(kind)] = ref.Ref
		document.Webhooks[string(kind)] = &huma.PathItem{Post: webhookOperation(name, described, ref)}
	}
	schemas.components["Event"] = every
}

// webhookOperation is the request that an endpoint gets for a kind of event.
func webhookOperation(name string, described eventlog.Description, schema *huma.Schema) *huma.Operation {
	header := func(name, description, example string) *huma.Param {
		return &huma.Param{
			Name: name, In: "header", Description: description,
			Schema: &huma.Schema{Type: huma.TypeString}, Example: example,
		}
	}
	return &huma.Operation{
		OperationID: "on" + name, Tags: []string{EventsTag},
		Summary:     string(described.Data.Kind()),
		Description: "Sent when " + described.When + ". Signed as Standard Webhooks describe, if a secret is set.",
		Security:    []map[string][]string{},
		Parameters: []*huma.Param{
			header("webhook-id", "The id of the event: the same on every delivery.", "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"),
			header("webhook-timestamp", "When this attempt was made, Unix time in seconds.", "1795012930"),
			header("webhook-signature", "Signatures, separated by spaces; missing if no secret is set.", "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonType: {Schema: schema}}},
		Responses: map[string]*huma.Response{
			"200":     {Description: "The event was accepted. Every 2xx means this."},
			"410":     {Description: "The endpoint wants no more events: the webhook is suspended."},
			"default": {Description: "The event was not accepted and is delivered again."},
		},
	}
}

// envelope adds the schema of the events of one kind.
func (s eventSchemas) envelope(name string, described eventlog.Description) {
	envelope := s.object(reflect.TypeFor[Event]())
	envelope.Description = strings.ToUpper(described.When[:1]) + described.When[1:] + "."
	envelope.Properties["type"] = &huma.Schema{
		Type: huma.TypeString, Description: "Type of the event.", Enum: []any{string(described.Data.Kind())},
	}
	data := s.named(reflect.TypeOf(described.Data), reflect.TypeOf(described.Data).Name()+"Data")
	envelope.Properties["data"] = data
	if kind := described.Data.Kind(); kind == eventlog.KindMessageReceived || kind == eventlog.KindMessageSent {
		// Only webhooks that want it have it, so it may be missing.
		envelope.Properties["mediaLink"] = s.named(reflect.TypeFor[MediaLink](), "EventMediaLink")
	}
	s.components[name] = envelope
}

// named adds the schema of a struct under a name, and returns a reference to it. It panics where
// the body of an operation has that name, as the registry does for two bodies.
func (s eventSchemas) named(of reflect.Type, name string) *huma.Schema {
	if taken := s.registry.TypeFromRef(componentsPrefix + name); taken != nil {
		panic("contract: the schemas of " + taken.String() + " and " + of.String() + " are both named " + name)
	}
	if _, known := s.components[name]; !known {
		s.components[name] = nil // it is being made
		s.components[name] = s.object(of)
	}
	return &huma.Schema{Ref: componentsPrefix + name}
}

// object is the schema of a struct, which refers to those of the structs that it embeds. No field of
// an event is ever left out, unless its type says so.
func (s eventSchemas) object(of reflect.Type) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	for field := range of.Fields() {
		if field.Anonymous {
			schema.AllOf = append(schema.AllOf, s.named(field.Type, field.Type.Name()))
			continue
		}
		property := s.value(field.Type)
		if property.Ref == "" {
			property.Description = field.Tag.Get("doc")
			if format := field.Tag.Get("format"); format != "" {
				property.Format = format
			}
			property.Enum = wordsOf(field, "enum")
			if words := wordsOf(field, "words"); len(words) > 0 {
				extended := property
				if property.Items != nil {
					extended = property.Items
				}
				extended.Extensions = map[string]any{openEnumExtension: words}
			}
		}
		name := FieldName(field)
		schema.Properties[name] = property
		if !strings.HasSuffix(field.Tag.Get("json"), ",omitempty") {
			schema.Required = append(schema.Required, name)
		}
	}
	return schema
}

// wordsOf returns the values that a tag lists for a field: enum all there are, words those that
// there are today.
func wordsOf(field reflect.StructField, tag string) (values []any) {
	for value := range strings.SplitSeq(field.Tag.Get(tag), ",") {
		if value != "" {
			values = append(values, value)
		}
	}
	return values
}

func (s eventSchemas) value(of reflect.Type) *huma.Schema {
	if of == reflect.TypeFor[eventlog.Time]() || of == reflect.TypeFor[Timestamp]() {
		return Timestamp{}.Schema(nil)
	}
	if own, ok := reflect.TypeAssert[huma.SchemaProvider](reflect.Zero(of)); ok && of.Kind() == reflect.Struct {
		return own.Schema(s.registry)
	}
	switch of.Kind() {
	case reflect.Pointer:
		inner := s.value(of.Elem())
		if inner.Ref != "" {
			return &huma.Schema{AnyOf: []*huma.Schema{inner, {Type: "null"}}}
		}
		inner.Nullable = true
		return inner
	case reflect.Slice:
		element := of.Elem()
		if element.Kind() == reflect.Pointer {
			element = element.Elem() // a list has no null items
		}
		return &huma.Schema{Type: huma.TypeArray, Items: s.value(element)}
	case reflect.Struct:
		return s.named(of, of.Name())
	case reflect.Bool:
		return &huma.Schema{Type: huma.TypeBoolean}
	case reflect.Int, reflect.Int64:
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	case reflect.Float64:
		return &huma.Schema{Type: huma.TypeNumber, Format: "double"}
	case reflect.Map:
		return &huma.Schema{Type: huma.TypeObject}
	default:
		return &huma.Schema{Type: huma.TypeString}
	}
}

// EventFields returns the fields that a type has in JSON, in their order.
func EventFields(of reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for field := range of.Fields() {
		if field.Anonymous {
			fields = append(fields, EventFields(field.Type)...)
		} else {
			fields = append(fields, field)
		}
	}
	return fields
}

// FieldName is the name that a field has in JSON.
func FieldName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
