// What is wrong with a command line itself.

package terminal

import (
	"fmt"
	"net/url"
	"strings"
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

// CheckRoot refuses a public address with a path: pages, links and cookies of the gateway are for the
// root of its host. An empty address is none.
func CheckRoot(public string) error {
	address, err := url.Parse(public)
	if err != nil || strings.Trim(address.Path, "/") == "" && address.RawQuery == "" && address.Fragment == "" {
		return nil //nolint:nilerr // what is no address is refused as that
	}
	return WrongUsage("--public-url %q has a path: the gateway's pages are at the root of their address, so give it a host name of its own, such as %s://messages.%s",
		public, address.Scheme, address.Host)
}
