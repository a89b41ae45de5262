// What comes from below the pages: the words of refusals, in English, with values in them.

package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
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
	texts func() (map[string]string, error) // as the file has them

	once     sync.Once
	exact    map[string]string
	patterns []saying
}

// saying is a sentence with values in it.
type saying struct {
	english    *regexp.Regexp
	translated string
}

// readSayings reads the sentences of every language.
func readSayings(files fs.FS) (map[string]*sayings, error) {
	names, err := fs.Glob(files, "said/*.json")
	if err != nil {
		return nil, fmt.Errorf("web: find sentences: %w", err)
	}
	all := map[string]*sayings{}
	for _, name := range names {
		all[strings.TrimSuffix(path.Base(name), ".json")] = &sayings{texts: func() (map[string]string, error) {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				return nil, err
			}
			var texts map[string]string
			err = json.Unmarshal(content, &texts)
			return texts, err
		}}
	}
	return all, nil
}

// Said translates a sentence of a refusal, whose values stay as they are. One that is not known
// stays English.
func (w *Words) Said(lang, sentence string) string {
	s := w.said[lang]
	if s == nil || len(sentence) > maxSaid {
		return sentence
	}
	s.once.Do(s.prepare)
	return s.say(sentence, true)
}

// HasSaid reports whether there is a translation of a sentence as the code has it.
func (w *Words) HasSaid(lang, sentence string) bool {
	s := w.said[lang]
	if s == nil {
		return lang == English
	}
	texts, err := s.texts()
	return err == nil && texts[sentence] != ""
}

// prepare is done when the first sentence is translated: pages without a refusal need none.
func (s *sayings) prepare() {
	texts, err := s.texts()
	if err != nil {
		return // a test reads every file
	}
	s.exact = map[string]string{}
	for english, translated := range texts {
		if !verb.MatchString(english) {
			s.exact[english] = translated
			continue
		}
		var pattern strings.Builder
		rest := english
		for _, at := range verb.FindAllString(english, -1) {
			before, after, _ := strings.Cut(rest, at)
			pattern.WriteString(regexp.QuoteMeta(before) + "(.*?)")
			rest = after
		}
		s.patterns = append(s.patterns, saying{regexp.MustCompile("(?s)^" + pattern.String() + regexp.QuoteMeta(rest) + "$"), translated})
	}
}

// say translates a sentence, and the first sentence in it: "…; nothing was changed".
func (s *sayings) say(sentence string, nested bool) string {
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
