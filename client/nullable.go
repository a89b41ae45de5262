package client

import "encoding/json"

// Nullable is a field of a change that can be set, be set to null, or stay as it is: Set, Null and
// the zero value. What null means is said of each field; mostly it removes what is there.
type Nullable[T any] struct {
	given bool
	value *T
}

// Set is a field that is to have a value.
func Set[T any](value T) Nullable[T] { return Nullable[T]{given: true, value: &value} }

// SetIf is Set of what a pointer leads to; nil leaves the field as it is.
func SetIf[T any](value *T) Nullable[T] { return Nullable[T]{given: value != nil, value: value} }

// Null is a field that is to be null.
func Null[T any]() Nullable[T] { return Nullable[T]{given: true} }

// IsZero reports whether the field stays as it is.
func (n Nullable[T]) IsZero() bool { return !n.given }

// MarshalJSON returns the JSON of the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }
