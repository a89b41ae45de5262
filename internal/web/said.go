// What comes from below the pages: the words of refusals, in English, with values in them.

package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The files said/LANGUAGE.json have the sentences as the code has them, with the verbs of fmt in
// place of the values, and their translations with as many.
//
//go:embed said
var saidFiles embed.FS

// maxSaid bounds the sentences that are looked up, in bytes: what is longer stays English.
const maxSaid = 2000

// verb finds the places of values in a sentence.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[.0-9]*[a-z]`)

// sayings are the translations of sentences into one language.
type sayings struct {
	exact    map[string]string
	patterns []saying // in the order of the English
}

// saying is a sentence with values in it.
type saying struct {
	english    *regexp.Regexp
	translated string
}

// readSayings returns what reads the sentences of each language when the first is translated: pages
// without a refusal need none.
func readSayings(files fs.FS) (map[string]func() (sayings, error), error) {
	names, err := fs.Glob(files, "said/*.json")
	if err != nil {
		return nil, fmt.Errorf("web: find sentences: %w", err)
	}
	all := map[string]func() (sayings, error){}
	for _, name := range names {
		all[strings.TrimSuffix(path.Base(name), ".json")] = sync.OnceValues(func() (sayings, error) {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				return sayings{}, err
			}
			var texts map[string]string
			if err := json.Unmarshal(content, &texts); err != nil {
				return sayings{}, err
			}
			return newSayings(texts), nil
		})
	}
	return all, nil
}

// Said translates a sentence of a refusal, whose values stay as they are. One that is not known
// stays English.
func (w *Words) Said(lang, sentence string) string {
	read := w.said[lang]
	if read == nil || len(sentence) > maxSaid {
		return sentence
	}
	said, err := read()
	if err != nil {
		return sentence // a test reads every file
	}
	return said.say(sentence, true)
}

// newSayings makes the sentences of a file ready to be found.
func newSayings(texts map[string]string) sayings {
	made := sayings{exact: map[string]string{}}
	for _, english := range slices.Sorted(maps.Keys(texts)) {
		if !verb.MatchString(english) {
			made.exact[english] = texts[english]
			continue
		}
		var pattern strings.Builder
		rest := english
		for _, at := range verb.FindAllString(english, -1) {
			before, after, _ := strings.Cut(rest, at)
			pattern.WriteString(regexp.QuoteMeta(before) + "(.*?)")
			rest = after
		}
		whole := regexp.MustCompile("(?s)^" + pattern.String() + regexp.QuoteMeta(rest) + "$")
		made.patterns = append(made.patterns, saying{whole, texts[english]})
	}
	return made
}

// say translates a sentence, and the first sentence in it: "…; nothing was changed".
func (s sayings) say(sentence string, nested bool) string {
	if translated, ok := s.exact[sentence]; ok {
		return translated
	}
	best := -1 // of those that fit, the one that says most itself
	for n, known := range s.patterns {
		if known.english.MatchString(sentence) && (best < 0 || len(known.translated) > len(s.patterns[best].translated)) {
			best = n
		}
	}
	if best < 0 {
		return sentence
	}
	values, n := s.patterns[best].english.FindStringSubmatch(sentence), 0
	for at, value := range values[1:] {
		if nested {
			values[at+1] = s.say(value, false)
		}
		// Words that are not known would leave a sentence in two languages.
		if values[at+1] == value && strings.Count(value, " ") > 1 {
			return sentence
		}
	}
	return verb.ReplaceAllStringFunc(s.patterns[best].translated, func(place string) string {
		n++
		at := n
		if index := verb.FindStringSubmatch(place)[1]; index != "" {
			at, _ = strconv.Atoi(index) // digits
		}
		if at >= len(values) {
			return place
		}
		return values[at]
	})
}
