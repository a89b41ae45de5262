// Package web is what the pages of the program share: templates with translations,
// files for the browser, headers that keep foreign scripts out, and live streams. The
// dashboard and the sandbox's page are made with it. It knows neither instances nor
// phones.
package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// English is the language that the templates are written in.
const English = "en"

//go:embed locale
var ownWords embed.FS

// maxAcceptLanguage bounds the header that a browser names its languages with.
const maxAcceptLanguage = 200

// Word is a text of the program in English, which a template translates with t. Code
// that gives a template such a text converts it from a literal, and a test finds it so.
type Word string

// Words are the translations of the texts of pages. They are read only, and safe for
// concurrent use.
type Words struct {
	languages []string // English first
	matcher   language.Matcher
	texts     map[string]func() (map[string]string, error) // by language: translations by the English text
	said      map[string]func() (sayings, error)           // by language
}

// ReadWords finds the translations of all rooms: each has files locale/LANGUAGE.json,
// an object of English texts and their translations. Two rooms may translate the same
// text if they do it in the same way. A language is read when a page is first shown in it:
// a start should not wait for them.
func ReadWords(rooms ...Files) (*Words, error) {
	w := &Words{languages: []string{English}, texts: map[string]func() (map[string]string, error){}}
	tags, found := []language.Tag{language.English}, map[string][]translations{}
	for _, room := range append([]Files{ownWords}, rooms...) {
		files, err := fs.Glob(room, "locale/*.json")
		if err != nil {
			return nil, fmt.Errorf("web: find translations: %w", err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(path.Base(file), ".json")
			if found[name] == nil {
				tag, err := language.Parse(name)
				if err != nil {
					return nil, fmt.Errorf("web: %s is no language: %w", name, err)
				}
				w.languages, tags = append(w.languages, name), append(tags, tag)
			}
			found[name] = append(found[name], translations{room, file})
		}
	}
	for name, files := range found {
		w.texts[name] = sync.OnceValues(func() (map[string]string, error) { return readTranslations(files) })
	}
	w.matcher = language.NewMatcher(tags)
	var err error
	w.said, err = readSayings(saidFiles)
	return w, err
}

// translations is a file of them.
type translations struct {
	room fs.FS
	file string
}

// readTranslations reads the files of one language.
func readTranslations(files []translations) (map[string]string, error) {
	all := map[string]string{}
	for _, from := range files {
		content, err := fs.ReadFile(from.room, from.file)
		if err != nil {
			return nil, fmt.Errorf("web: read translations: %w", err)
		}
		var texts map[string]string
		if err := json.Unmarshal(content, &texts); err != nil {
			return nil, fmt.Errorf("web: read translations in %s: %w", from.file, err)
		}
		for english, translated := range texts {
			if before, ok := all[english]; ok && before != translated {
				return nil, errors.New("web: " + from.file + " has another translation than another room of " + english)
			}
			all[english] = translated
		}
	}
	return all, nil
}

// in returns the translations into a language; none for English.
func (w *Words) in(lang string) map[string]string {
	read := w.texts[lang]
	if read == nil {
		return nil
	}
	texts, err := read()
	if err != nil {
		return nil // Site.Check tells of it
	}
	return texts
}

// Language returns the language for a request, by what the browser asks for.
func (w *Words) Language(r *http.Request) string {
	header := r.Header.Get("Accept-Language")
	if len(header) > maxAcceptLanguage {
		return English
	}
	wanted, _, err := language.ParseAcceptLanguage(header)
	if err != nil || len(wanted) == 0 {
		return English
	}
	_, index, _ := w.matcher.Match(wanted...)
	return w.languages[index]
}

// Languages returns the languages that there are, English first.
func (w *Words) Languages() []string { return w.languages }

// Text translates a text, and puts the arguments into it as fmt does. A text without a
// translation stays as it is.
func (w *Words) Text(lang string, text Word, args ...any) string {
	translated, ok := w.in(lang)[string(text)]
	if !ok {
		translated = string(text)
	}
	if len(args) == 0 {
		return translated
	}
	return fmt.Sprintf(translated, args...)
}

// Has reports whether there is a translation of a text.
func (w *Words) Has(lang, text string) bool {
	_, ok := w.in(lang)[text]
	return ok || lang == English
}
