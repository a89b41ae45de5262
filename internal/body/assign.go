package body

import (
	"reflect"
	"strings"
	"time"
)

// assign fills target from a value that has been checked. Long strings, which
// may be media, are shared and not copied.
func assign(value any, target reflect.Value) error {
	if value == nil {
		return nil // null counts as absent
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		return assign(value, target.Elem())
	}
	switch value := value.(type) {
	case string:
		return assignText(value, target)
	case bool:
		target.SetBool(value)
	case float64:
		if target.CanInt() {
			target.SetInt(int64(value)) // whole, and within the schema's bounds
		} else {
			target.SetFloat(value)
		}
	case []any:
		target.Set(reflect.MakeSlice(target.Type(), len(value), len(value)))
		for i, item := range value {
			if err := assign(item, target.Index(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return assignFields(value, target)
	}
	return nil
}

func assignFields(object map[string]any, target reflect.Value) error {
	if target.Kind() == reflect.Map {
		return assignEntries(object, target)
	}
	for i := range target.NumField() {
		field := target.Type().Field(i)
		var given any = object // the fields of an embedded struct stand in the same object
		if !field.Anonymous {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			given = object[name]
		}
		if err := assign(given, target.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// assignEntries fills a map, whose keys are texts. A null counts as absent.
func assignEntries(object map[string]any, target reflect.Value) error {
	target.Set(reflect.MakeMapWithSize(target.Type(), len(object)))
	for name, value := range object {
		if value == nil {
			continue
		}
		entry := reflect.New(target.Type().Elem()).Elem()
		if err := assign(value, entry); err != nil {
			return err
		}
		target.SetMapIndex(reflect.ValueOf(name), entry)
	}
	return nil
}

func assignText(text string, target reflect.Value) error {
	if moment, ok := reflect.TypeAssert[*time.Time](target.Addr()); ok {
		parsed, err := time.Parse(time.RFC3339, text)
		*moment = parsed.UTC()
		return err
	}
	target.SetString(text)
	return nil
}
