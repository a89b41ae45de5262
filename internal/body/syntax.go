package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// problem says why a body can't be read at all; empty means that it can.
func (b *Body) problem() string {
	content := b.json.Bytes()
	if len(content) == 0 {
		return "" // counts as an object without fields: the answer names those that are missing
	}
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return "is compressed (gzip); send it as it is"
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
	if broken {
		if written := control(content, syntax.Offset); written != "" {
			return fmt.Sprintf("is not valid JSON: in a text there is %s (byte %d)", written, offset)
		}
	}
	return fmt.Sprintf("is not valid JSON (byte %d)", offset)
}

// control says which character at an offset texts can't have, as programs write it that put JSON
// together by hand; empty for none.
func control(content []byte, offset int64) string {
	if offset < 1 || offset > int64(len(content)) {
		return ""
	}
	switch c := content[offset-1]; {
	case c == '\n', c == '\r':
		return `a line break, which is written \n`
	case c == '\t':
		return `a tab, which is written \t`
	case c < ' ':
		return fmt.Sprintf(`a character that is written \u%04x`, c)
	}
	return ""
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
	return strings.HasPrefix(head, "--") || strings.HasPrefix(strings.ToUpper(head), "%7B") || isFormField(head)
}

// isFormField reports whether a text begins with the name of a field and an equals sign.
func isFormField(text string) bool {
	name, _, found := strings.Cut(text, "=")
	for at, r := range name {
		if !unicode.IsLetter(r) && r != '_' && (at == 0 || !unicode.IsNumber(r) && !strings.ContainsRune(".%[]-", r)) {
			return false
		}
	}
	return found && name != ""
}
