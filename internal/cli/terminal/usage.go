// What is wrong with a command line itself.

package terminal

import (
	"fmt"
	"net/url"
)

// UsageError is a mistake in the command line.
type UsageError struct{ message string }

// Error returns a text for people.
func (e *UsageError) Error() string { return e.message }

// WrongUsage makes a UsageError.
func WrongUsage(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// IsWebAddress reports whether text is an absolute http or https URL.
func IsWebAddress(text string) bool {
	address, err := url.Parse(text)
	return err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Host != ""
}
