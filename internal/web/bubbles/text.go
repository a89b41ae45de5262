// Texts of others, made fit for a page. The templates escape them.

package bubbles

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many characters pages show of the texts of others.
const (
	MaxName  = 80    // of a name
	MaxLine  = 120   // of a text in a list, or in a quote
	MaxShown = 4_000 // of a text in a bubble
)

// Clip returns a text without what can't be shown, with at most limit characters. cut
// reports whether something is missing at its end.
func Clip(text string, limit int) (clipped string, cut bool) {
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

// Line returns the beginning of a text in one line.
func Line(text string, limit int) string {
	most := min(len(text), utf8.UTFMax*limit) // the rest would only be thrown away
	shown, cut := Clip(text[:most], limit)
	shown = strings.Join(strings.Fields(shown), " ")
	if (cut || most < len(text)) && shown != "" {
		shown += "…"
	}
	return shown
}

// Name returns what somebody is called. A name that has nothing to show is replaced by
// other.
func Name(text, other string) string {
	if shown := Line(text, MaxName); shown != "" {
		return shown
	}
	return other
}
