package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// problem says why a body can't be read at all; empty means that it can.
func (b *Body) problem() string {
	content := b.json.Bytes()
	if len(content) == 0 {
		return "" // counts as an object without fields: the answer names those that are missing
	}
	if !utf8.Valid(content) {
		return "must be UTF-8" // encoding/json would replace what is not
	}
	offset := int64(0)
	if b.sieve != nil {
		offset = b.sieve.wrong
	}
	syntax, broken := errors.AsType[*json.SyntaxError](json.Unmarshal(content, &unread{}))
	switch {
	case offset > 0:
	case !broken:
		return ""
	case isForm(content):
		return "is form data; send JSON with content-type: application/json"
	case b.sieve != nil:
		offset = b.sieve.inBody(syntax.Offset)
	default:
		offset = syntax.Offset
	}
	return fmt.Sprintf("is not valid JSON (byte %d)", offset)
}

// unread is a JSON value that is checked and not built.
type unread struct{}

// UnmarshalJSON takes everything.
func (*unread) UnmarshalJSON([]byte) error { return nil }

// isForm reports whether a body that is not JSON looks like the fields of a form,
// which many programs send unless they are asked for JSON.
func isForm(content []byte) bool {
	const enough = 256
	head := string(bytes.TrimLeft(content[:min(len(content), enough)], " \r\n\t"))
	return strings.HasPrefix(head, "--") || strings.HasPrefix(strings.ToUpper(head), "%7B") || formField.MatchString(head)
}

var formField = regexp.MustCompile(`^[\pL_][\pL\pN_.%\[\]-]*=`)
