package platform

import (
	"fmt"
)

// ErrorKind says whose fault an Error is.
type ErrorKind int

// The kinds of errors that a control call answers.
const (
	Invalid  ErrorKind = iota + 1 // the request is wrong
	NotFound                      // what it names does not exist
	Conflict                      // it cannot be done in this state
	Timeout                       // a client did not answer in time
)

// Error is a refusal whose text is meant for the person who called.
type Error struct {
	Kind    ErrorKind
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

func invalidf(field, format string, args ...any) error {
	return &Error{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

func notFound(message string) error {
	return &Error{Kind: NotFound, Message: message}
}

func conflictf(format string, args ...any) error {
	return &Error{Kind: Conflict, Message: fmt.Sprintf(format, args...)}
}
