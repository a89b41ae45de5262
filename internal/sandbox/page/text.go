// Texts of others, made fit for the page. The templates escape them.

package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName  = 80    // characters of a name
	maxLine  = 120   // of a text in a list, or in a quote
	maxShown = 4_000 // of a text in a bubble
)

// clip returns a text without what can't be shown, with at most limit characters. cut
// reports whether something is missing at its end.
func clip(text string, limit int) (clipped string, cut bool) {
	var kept strings.Builder
	count := 0
	for _, letter := range text {
		if letter == utf8.RuneError || letter != '\n' && unicode.IsControl(letter) || isDirection(letter) {
			continue
		}
		if count == limit {
			return kept.String(), true
		}
		kept.WriteRune(letter)
		count++
	}
	return kept.String(), false
}

// isDirection reports whether a character turns the direction of the text after it, also
// that of the page's own words.
func isDirection(letter rune) bool {
	return letter >= '\u202a' && letter <= '\u202e' || letter >= '\u2066' && letter <= '\u2069'
}

// line returns the beginning of a text in one line.
func line(text string, limit int) string {
	most := min(len(text), utf8.UTFMax*limit) // the rest would only be thrown away
	shown, cut := clip(text[:most], limit)
	shown = strings.Join(strings.Fields(shown), " ")
	if (cut || most < len(text)) && shown != "" {
		shown += "…"
	}
	return shown
}

// name returns what somebody is called. A name that has nothing to show is replaced by
// other.
func name(text, other string) string {
	if shown := line(text, maxName); shown != "" {
		return shown
	}
	return other
}
