package contract

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Sample makes a value of a body's type from the examples of its fields, for the
// document. A field whose tag sample is "-" stays empty: it only makes sense
// together with an earlier request.
func Sample(body reflect.Type) any {
	value := reflect.New(body).Elem()
	fillSample(value)
	return value.Interface()
}

// Sampled is a type that has an example of its own.
type Sampled interface {
	// Sample returns a value of the type.
	Sample() any
}

// sampleTime is the time of everything in examples.
func sampleTime() time.Time { return time.Date(2026, 11, 20, 14, 22, 10, 123e6, time.UTC) }

func fillSample(value reflect.Value) {
	if value.CanConvert(reflect.TypeFor[time.Time]()) {
		value.Set(reflect.ValueOf(sampleTime()).Convert(value.Type()))
		return
	}
	if own, ok := reflect.TypeAssert[Sampled](value); ok {
		value.Set(reflect.ValueOf(own.Sample()))
		return
	}
	if value.Kind() == reflect.Slice {
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fillSample(value.Index(0))
		return
	}
	if value.Kind() != reflect.Struct {
		return
	}
	for field, inner := range value.Fields() {
		if field.IsExported() && field.Tag.Get("sample") != "-" {
			fillField(field, inner)
		}
	}
}

// fillField fills a field from its example. A pointer without an example stays nil,
// which is null.
func fillField(field reflect.StructField, value reflect.Value) {
	example, given := field.Tag.Lookup("example")
	if value.Kind() == reflect.Pointer {
		if !given && value.Type().Elem() != reflect.TypeFor[Timestamp]() {
			return
		}
		value.Set(reflect.New(value.Type().Elem()))
		value = value.Elem()
	}
	switch {
	case !given && field.Tag.Get("format") == "uuid":
		value.SetString("019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11")
	case !given:
		fillSample(value)
	case value.Kind() == reflect.Slice:
		for item := range strings.SplitSeq(example, ",") {
			value.Set(reflect.Append(value, reflect.ValueOf(item)))
		}
	default:
		setExample(value, example)
	}
}

func setExample(value reflect.Value, example string) {
	switch value.Kind() {
	case reflect.String:
		value.SetString(example)
	case reflect.Bool:
		value.SetBool(example == "true")
	case reflect.Int, reflect.Int64:
		number, _ := strconv.ParseInt(example, 10, 64) // a test checks examples against their schemas
		value.SetInt(number)
	case reflect.Float64:
		number, _ := strconv.ParseFloat(example, 64) // likewise
		value.SetFloat(number)
	default:
		fillSample(value)
	}
}
