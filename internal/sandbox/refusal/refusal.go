// Package refusal has the errors whose texts are for people who use the control
// API.
package refusal

import (
	"fmt"
)

// Kind says why a request was refused.
type Kind int

// The kinds of refusals.
const (
	Invalid  Kind = iota + 1 // the request is wrong
	NotFound                 // what it names does not exist
	Conflict                 // it cannot be done in this state
	Timeout                  // a client did not answer in time
)

// Error refuses a request of the control API. Its text is for the caller.
type Error struct {
	Kind    Kind
	Field   string // the field that is wrong, if it is one
	Message string
}

// Error returns the message.
func (e *Error) Error() string {
	if e.Field != "" {
		return e.Field + ": " + e.Message
	}
	return e.Message
}

// Invalidf refuses a request that is wrong; field is the field that is wrong, ""
// for none.
func Invalidf(field, format string, args ...any) error {
	return &Error{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// NotFoundf refuses a request for something that does not exist.
func NotFoundf(format string, args ...any) error {
	return &Error{Kind: NotFound, Message: fmt.Sprintf(format, args...)}
}

// Conflictf refuses a request that can't be met in this state.
func Conflictf(format string, args ...any) error {
	return &Error{Kind: Conflict, Message: fmt.Sprintf(format, args...)}
}
