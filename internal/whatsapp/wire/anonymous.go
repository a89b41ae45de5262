// What the platform client says, without the people that it is about.

package wire

import (
	"regexp"
	"strings"
)

var (
	// stanza is a node of the platform as the platform client writes it, which reaches to the end:
	// names, texts and keys may be in it.
	stanza = regexp.MustCompile(`(?s)<([a-z][\w:-]*)( [\w:-]+="|>.*</|/>).*`)
	// words are what a number or an identifier may be.
	words = regexp.MustCompile(`[0-9A-Za-z]+`)
	// digits are those of a phone number or a LID.
	digits = regexp.MustCompile(`\d{6,}`)
)

// Anonymous returns what the platform client says without phone numbers, LIDs and what a node
// of the platform holds. Identifiers of messages stay: by them a line is matched with a message.
func Anonymous(text string) string {
	text = stanza.ReplaceAllString(text, "<$1 …")
	return words.ReplaceAllStringFunc(text, func(word string) string {
		if isIdentifier(word) {
			return word
		}
		return digits.ReplaceAllString(word, "…")
	})
}

// isIdentifier reports whether a word can be the identifier of a message on the platform.
func isIdentifier(word string) bool {
	const shortest, longest = 12, 64
	fromLetter := strings.TrimLeft(word, "0123456789")
	return len(fromLetter) >= shortest && len(fromLetter) <= longest && strings.Trim(fromLetter, "0123456789ABCDEF") == ""
}

// anonymous is an error of the platform client that names nobody.
type anonymous struct{ error }

// Error returns what the error says without the people that it is about.
func (e anonymous) Error() string { return Anonymous(e.error.Error()) }

// Unwrap returns the error itself.
func (e anonymous) Unwrap() error { return e.error }
