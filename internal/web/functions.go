// The functions that templates call.

package web

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"html"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/unicode/bidi"
)

// functions are what templates call, in a language.
func (s *Site) functions(lang string) template.FuncMap {
	words := s.config.Words
	printer := message.NewPrinter(language.Make(lang))
	date := words.Text(lang, Word("2006-01-02")) // each language has its own order and separators
	return template.FuncMap{
		// t translates a text and puts arguments into it.
		"t": func(text any, args ...any) string { return words.Text(lang, Word(fmt.Sprint(text)), args...) },
		// plural takes the text for one or for several, and puts the number into it.
		"plural": func(n int, one, several Word) string {
			if n == 1 {
				return words.Text(lang, one)
			}
			return words.Text(lang, several, printer.Sprint(n))
		},
		// once draws the key of a form that acts once, however often it is sent.
		"once": func() template.HTML { return hiddenKey(rand.Text()) },
		// said translates the words of a refusal, and makes a sentence of them.
		"said": func(message string) string { return Sentence(words.Said(lang, message)) },
		"lang": func() string { return lang },
		// number is how many there are, as the language groups digits. What is a name, such as a status or the
		// number of an event, stays as it is.
		"number": func(n any) string { return printer.Sprint(n) },
		"asset":  s.config.Assets.URL,
		"icon":   s.icon,
		// when is a moment; the browser writes it in its own time zone.
		"when":  func(at time.Time) template.HTML { return moment(at, date+" 15:04:05", "datetime") },
		"clock": func(at time.Time) template.HTML { return moment(at, "15:04", "time") },
		"since": func(at time.Time) template.HTML { return moment(at, date+" 15:04", "relative") },
		// day is the day of a moment, for the first of several that are on it in the browser's time
		// zone: the script shows it there. Without a script there is none.
		"day":     newDay,
		"bytes":   func(n int64) string { return size(printer, n) },
		"json":    script,
		"path":    url.PathEscape,
		"query":   url.QueryEscape,
		"dict":    dict,
		"initial": s.initial,
		"hue":     hue,
		"isolate": Isolate,
		"digest":  digest,
	}
}

// hiddenKey is the field with the key of a form.
func hiddenKey(key string) template.HTML {
	return template.HTML(`<input type="hidden" name="once" value="` + key + `">`) //nolint:gosec // letters and digits
}

// moment is a time element. Without a script it shows UTC in a layout; the page's script
// writes the same moment in the browser's time zone, or as a distance from now.
func moment(at time.Time, layout, style string) template.HTML {
	if at.IsZero() {
		return "—"
	}
	at = at.UTC()
	return template.HTML(`<time datetime="` + at.Format(time.RFC3339Nano) + `" data-moment="` + style + `">` + //nolint:gosec // digits and fixed words
		at.Format(layout) + `</time>`)
}

// newDay is the place for the day of a moment.
func newDay(at time.Time) template.HTML {
	return template.HTML(`<p class="pause" data-day="` + at.UTC().Format(time.RFC3339) + `" hidden></p>`) //nolint:gosec // digits and fixed words
}

// size writes a number of bytes for people, in their language.
func size(printer *message.Printer, n int64) string {
	const unit = 1024
	if n < unit {
		return printer.Sprint(n) + " B"
	}
	value, names := float64(n)/unit, "KMGTP"
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return printer.Sprintf("%.1f", value) + " " + names[:1] + "B"
}

// script writes a value as JSON for a data attribute, which a script reads.
func script(value any) (string, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("web: write JSON: %w", err)
	}
	return string(content), nil
}

// dict makes the dot of a template that needs several values.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("web: dict needs pairs")
	}
	made := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("web: %v is no name", pairs[i])
		}
		made[name] = pairs[i+1]
	}
	return made, nil
}

// initial is the first letter of a name, for who has no picture; a number has none, and is somebody.
func (s *Site) initial(name string) (template.HTML, error) {
	for _, letter := range strings.TrimSpace(name) {
		switch {
		case unicode.Is(unicode.Cf, letter): // nobody sees it
			continue
		case letter == '+':
			return `<i class="person"></i>`, nil
		}
		return template.HTML(html.EscapeString(strings.ToUpper(string(letter)))), nil //nolint:gosec // it is escaped
	}
	return "?", nil
}

// Isolate readies a name to stand within a sentence: whichever direction it is written in, the
// words around it stay where they are. Where it stands alone, its element has dir="auto" instead.
func Isolate(name string) string {
	const begin, end = "\u2068", "\u2069"
	turns := false
	name = strings.Map(func(letter rune) rune {
		properties, _ := bidi.LookupRune(letter)
		switch class := properties.Class(); {
		case class > bidi.Control: // it would change the direction of what follows
			return -1
		case class == bidi.R, class == bidi.AL, class == bidi.AN:
			turns = true
		}
		return letter
	}, name)
	if !turns {
		return name
	}
	return begin + name + end
}

// hues is how many colours there are for who has no picture.
const hues = 8

// digest is a short name of a text in a URL: another one if the text is another.
func digest(of string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(of)) // it never fails
	return strconv.FormatUint(hash.Sum64(), 36)
}

// hue is a number from 0 to 7 that is always the same for a name.
func hue(name string) int {
	sum := 0
	for _, b := range []byte(name) {
		sum = (sum*31 + int(b)) % 997
	}
	return sum % hues
}
