package docstest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// jsonFields returns the fields that a type has in JSON, in their order.
func jsonFields(of reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for field := range of.Fields() {
		if field.Anonymous {
			fields = append(fields, jsonFields(field.Type)...)
		} else if field.Tag.Get("json") != "" {
			fields = append(fields, field)
		}
	}
	return fields
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// writeFields writes the table of a type's fields, without those that like has.
func writeFields(t *testing.T, page *strings.Builder, of reflect.Type, like eventlog.Data) {
	t.Helper()
	listed := map[string]bool{}
	if like != nil {
		for _, field := range jsonFields(reflect.TypeOf(like)) {
			listed[jsonName(field)] = true
		}
	}
	page.WriteString("| field | type | meaning |\n| --- | --- | --- |\n")
	for _, field := range jsonFields(of) {
		if name := jsonName(field); !listed[name] {
			fmt.Fprintf(page, "| `%s` | %s | %s |\n", name, typeName(t, field.Type), field.Tag.Get("doc"))
		}
	}
}

// isTime reports whether a type is a time in JSON.
func isTime(of reflect.Type) bool {
	return of == reflect.TypeFor[eventlog.Time]() || of == reflect.TypeFor[contract.Timestamp]() || of == reflect.TypeFor[time.Time]()
}

// typeName is how the page calls a type.
func typeName(t *testing.T, of reflect.Type) string {
	t.Helper()
	if isTime(of) {
		return "time"
	}
	switch of.Kind() {
	case reflect.Pointer:
		return typeName(t, of.Elem()) + " or null"
	case reflect.Slice:
		return "array of " + strings.TrimSuffix(typeName(t, of.Elem()), " or null")
	case reflect.Struct:
		return fmt.Sprintf("[%s](#%s)", of.Name(), anchor(of.Name()))
	case reflect.Map:
		return "object"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	default:
		t.Errorf("what is a %s in JSON?", of)
		return ""
	}
}

// requireShape fails the test unless an example is an envelope with data of that
// type: every field is there and no other, each of its type, and null where it
// may be.
func requireShape(t *testing.T, e example, data eventlog.Data) {
	t.Helper()
	value, err := parse(e.envelope)
	if err != nil {
		t.Fatalf("%s: %v\n%s", e.title, err, e.envelope)
	}
	wrong := misshapen("the envelope", reflect.TypeFor[contract.Event](), value)
	if envelope, ok := value.(map[string]any); ok {
		wrong = append(wrong, misshapen("data", reflect.TypeOf(data), envelope["data"])...)
		if envelope["type"] != string(data.Kind()) {
			wrong = append(wrong, fmt.Sprintf("it is of the type %v", envelope["type"]))
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%s, %s: %s\n%s", data.Kind(), e.title, strings.Join(wrong, "; "), e.envelope)
	}
}

// misshapen says where a value is not of a type.
func misshapen(at string, of reflect.Type, value any) (wrong []string) {
	if of.Kind() == reflect.Pointer {
		if value == nil {
			return nil
		}
		of = of.Elem()
	}
	fits := false
	switch got := value.(type) {
	case string:
		fits = of.Kind() == reflect.String ||
			isTime(of) && regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(got)
	case bool:
		fits = of.Kind() == reflect.Bool
	case json.Number:
		_, err := got.Int64()
		fits = of.Kind() == reflect.Float64 || err == nil && (of.Kind() == reflect.Int || of.Kind() == reflect.Int64)
	case []any:
		if fits = of.Kind() == reflect.Slice; fits {
			for i, item := range got {
				wrong = append(wrong, misshapen(fmt.Sprintf("%s[%d]", at, i), of.Elem(), item)...)
			}
		}
	case map[string]any:
		fits = of.Kind() == reflect.Map
		if of.Kind() == reflect.Struct && !isTime(of) {
			return misshapenObject(at, of, got)
		}
	}
	if !fits {
		wrong = append(wrong, fmt.Sprintf("%s is %v, which is no %s", at, value, of))
	}
	return wrong
}

func misshapenObject(at string, of reflect.Type, object map[string]any) (wrong []string) {
	fields, found := jsonFields(of), 0
	for _, field := range fields {
		name := jsonName(field)
		value, ok := object[name]
		if !ok {
			if !strings.HasSuffix(field.Tag.Get("json"), ",omitempty") {
				wrong = append(wrong, fmt.Sprintf("%s.%s is missing", at, name))
			}
			continue
		}
		found++
		wrong = append(wrong, misshapen(at+"."+name, field.Type, value)...)
	}
	if len(object) > found {
		wrong = append(wrong, at+" has more fields than are documented")
	}
	return wrong
}

func TestEventsDocumentExamplesAreChecked(t *testing.T) {
	t.Parallel()
	const right = `{"messageId":"x","id":null,"chat":"c","chatLid":null,"status":"read",` +
		`"participant":{"jid":null,"lid":"l","name":null},"timestamp":"2026-11-20T14:22:10.000Z","failure":null}`
	for name, c := range cases.Sorted(map[string]struct {
		old, replacement string
		fits             bool
	}{
		"as it should be":          {`"x"`, `"x"`, true},
		"null where it may be":     {`{"jid":null,"lid":"l","name":null}`, `null`, true},
		"null where it may not be": {`"read"`, `null`, false},
		"another type":             {`"read"`, `1`, false},
		"a field less":             {`"id":null,`, ``, false},
		"a field more":             {`"id":null`, `"id":null,"more":1`, false},
		"one that may be left out": {`"id":null`, `"id":null,"clientData":"order 17"`, true},
		"a field less inside":      {`"jid":null,`, ``, false},
		"a time that is none":      {`2026-11-20T14:22:10.000Z`, `2026-11-20`, false},
		"an object for a text":     {`"x"`, `{}`, false},
		"a list for an object":     {`{"jid":null,"lid":"l","name":null}`, `[]`, false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(right, c.old) {
				t.Fatalf("%s is not there", c.old)
			}
			value, err := parse(strings.Replace(right, c.old, c.replacement, 1))
			if err != nil {
				t.Fatal(err)
			}
			if wrong := misshapen("data", reflect.TypeFor[eventlog.MessageStatus](), value); (len(wrong) == 0) != c.fits {
				t.Errorf("wrong: %q", wrong)
			}
		})
	}
}
