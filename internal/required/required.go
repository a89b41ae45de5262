// Package required checks what a constructor is given.
package required

import (
	"fmt"
	"reflect"
	"slices"
)

// Check returns an error that names the first field of a config which is nil, though it is none of the
// optional ones. Fields are looked at if they are interfaces, functions or pointers. room is the name of
// the caller's package. It panics if an optional field does not exist.
func Check(room string, config any, optional ...string) error {
	value := reflect.ValueOf(config)
	for _, name := range optional {
		if !value.FieldByName(name).IsValid() {
			panic(fmt.Sprintf("required: %s has no field %s", value.Type(), name))
		}
	}
	for i := range value.NumField() {
		switch field := value.Type().Field(i); field.Type.Kind() {
		case reflect.Interface, reflect.Func, reflect.Pointer:
			if value.Field(i).IsNil() && !slices.Contains(optional, field.Name) {
				return fmt.Errorf("%s: the configuration lacks %s", room, field.Name)
			}
		default: // its zero value may be meant
		}
	}
	return nil
}
