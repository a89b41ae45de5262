// Texts of others, made fit for a page. The templates escape them.

package bubbles

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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

// Piece is a part of a text.
type Piece struct {
	Text   string
	Marked bool // it was searched for
}

// Excerpt returns the line of a text around the first word that a search has found, with these words
// marked. As in the search, a word of it is the beginning of one of the text; case and accents don't count.
func Excerpt(text, search string) []Piece {
	clipped, _ := Clip(text, MaxShown)
	letters := []rune(strings.Join(strings.Fields(clipped), " "))
	compared, at := folded(letters)
	searched, _ := folded([]rune(search))
	marked, first := make([]bool, len(letters)), -1
	for _, word := range strings.FieldsFunc(string(searched), func(letter rune) bool { return !isWord(letter) }) {
		word := []rune(word)
		for n := 0; n+len(word) <= len(compared); n++ {
			if n > 0 && isWord(compared[n-1]) || !slices.Equal(compared[n:n+len(word)], word) {
				continue
			}
			if first < 0 || at[n] < first {
				first = at[n]
			}
			for _, place := range at[n : n+len(word)] {
				marked[place] = true
			}
		}
	}
	return piecesOf(letters, marked, first)
}

// piecesOf is the part of a text around its first letter that is marked.
func piecesOf(letters []rune, marked []bool, first int) []Piece {
	start := max(0, first-MaxLine/4)
	for start > 0 && letters[start-1] != ' ' && start < first {
		start++ // with a whole word
	}
	end := min(len(letters), start+MaxLine)
	var pieces []Piece
	for n := start; n < end; n++ {
		if n > 0 && unicode.Is(unicode.Mn, letters[n]) {
			marked[n] = marked[n-1] // an accent stays with its letter
		}
		if n == start || marked[n] != marked[n-1] {
			pieces = append(pieces, Piece{Marked: marked[n]})
		}
		pieces[len(pieces)-1].Text += string(letters[n])
	}
	if start > 0 {
		pieces = append([]Piece{{Text: "… "}}, pieces...)
	}
	if end < len(letters) {
		pieces = append(pieces, Piece{Text: "…"})
	}
	return pieces
}

// folded are letters without case and accents, and where each of them was.
func folded(letters []rune) (compared []rune, at []int) {
	for n, letter := range letters {
		for _, part := range norm.NFKD.String(string(letter)) {
			if !unicode.Is(unicode.Mn, part) {
				compared, at = append(compared, unicode.ToLower(part)), append(at, n)
			}
		}
	}
	return compared, at
}

func isWord(letter rune) bool { return unicode.IsLetter(letter) || unicode.IsDigit(letter) }

// Name returns what somebody is called. A name that has nothing to show is replaced by
// other.
func Name(text, other string) string {
	if shown := Line(text, MaxName); shown != "" {
		return shown
	}
	return other
}
