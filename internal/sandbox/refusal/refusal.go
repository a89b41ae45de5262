// Package refusal has the errors that are meant for people who use the control API.
package refusal

import (
	"fmt"
)

// Kind says whose fault an Error is.
type Kind int

// The kinds of errors that a control call answers.
const (
	Invalid  Kind = iota + 1 // the request is wrong
	NotFound                 // what it names does not exist
	Conflict                 // it cannot be done in this state
	Timeout                  // a client did not answer in time
)

// Error is a refusal whose text is meant for the person who called.
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
