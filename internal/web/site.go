// The pages of one part of the program, made from its templates.

package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/recado-project/recado/internal/required"
)

// layout is the template that every whole page is made with; it comes from a shared
// file and calls the block "content" of the page.
const layout = "layout"

// SiteConfig is what a site is made of. The first part is required.
type SiteConfig struct {
	// Rooms have the templates: a file NAME.html is a page, a file _NAME.html is shared
	// by all pages of all rooms.
	Rooms  []Files
	Words  *Words
	Assets *Assets
	Logger *slog.Logger

	// Zip lets pages be compressed. It is for pages without secrets: beside a text of
	// somebody else, the length of what is compressed tells of the secret.
	Zip bool
}

// Site renders pages. It is safe for concurrent use. A page is parsed when it is first
// asked for, so that a start does not wait for all of them.
type Site struct {
	config SiteConfig
	icons  func() (map[string]template.HTML, error) // the drawings by their names, read when one is first shown
	shared []string                                 // the texts of the shared files
	files  map[string]string                        // the text of each page
	mu     sync.Mutex
	parsed map[string]*template.Template // by language and page
}

// NewSite reads the files of the templates.
func NewSite(config SiteConfig) (*Site, error) {
	if err := required.Check("web", config); err != nil {
		return nil, err
	}
	if len(config.Rooms) == 0 {
		return nil, errors.New("web: the configuration lacks Rooms")
	}
	s := &Site{config: config, icons: sync.OnceValues(readIcons), files: map[string]string{}, parsed: map[string]*template.Template{}}
	for _, room := range config.Rooms {
		names, err := fs.Glob(room, "*.html")
		if err != nil {
			return nil, fmt.Errorf("web: find templates: %w", err)
		}
		for _, name := range names {
			content, err := fs.ReadFile(room, name)
			if err != nil {
				return nil, fmt.Errorf("web: read template: %w", err)
			}
			page := strings.TrimSuffix(name, ".html")
			if strings.HasPrefix(page, "_") {
				s.shared = append(s.shared, string(content))
			} else if _, taken := s.files[page]; taken {
				return nil, fmt.Errorf("web: there are two pages %s", page)
			} else {
				s.files[page] = string(content)
			}
		}
	}
	return s, nil
}

// Check reads every translation, and parses every page in every language, for tests. A program that
// never shows a page does not parse it.
func (s *Site) Check() error {
	var errs []error
	for _, lang := range s.config.Words.Languages()[1:] { // English has no translations
		_, err := s.config.Words.texts[lang]()
		errs = append(errs, err)
	}
	for page := range s.files {
		for _, lang := range s.config.Words.Languages() {
			_, err := s.template(lang, page)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Words are the translations of the site.
func (s *Site) Words() *Words { return s.config.Words }

// Language returns the language for a request.
func (s *Site) Language(r *http.Request) string { return s.config.Words.Language(r) }

// Page answers with a whole page: the layout around the page's block "content", with
// data as the dot of both.
func (s *Site) Page(w http.ResponseWriter, r *http.Request, status int, page string, data any) {
	s.Fragment(w, r, status, page, layout, data)
}

// Fragment answers with one block of a page, for a part of it that is exchanged.
func (s *Site) Fragment(w http.ResponseWriter, r *http.Request, status int, page, block string, data any) {
	lang := s.Language(r)
	content, err := s.Render(lang, page, block, data)
	if err != nil {
		s.config.Logger.ErrorContext(r.Context(), "page could not be rendered", slog.String("page", page), slog.Any("error", err))
		http.Error(w, s.config.Words.Text(lang, Word("This page can't be shown: the log says why.")), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", lang)
	header.Set("Vary", "Accept-Language, HX-Request")
	if s.config.Zip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content = zip(content)
	}
	if s.config.Zip {
		header.Add("Vary", "Accept-Encoding")
	}
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store") // pages show what only their user may see
	}
	w.WriteHeader(status)
	_, _ = w.Write(content) //nolint:gosec // html/template has escaped what it got
}

// Render renders one block of a page in a language.
func (s *Site) Render(lang, page, block string, data any) ([]byte, error) {
	parsed, err := s.template(lang, page)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	if err := parsed.ExecuteTemplate(&content, block, data); err != nil {
		return nil, fmt.Errorf("web: render %s: %w", page, err)
	}
	return content.Bytes(), nil
}

// template returns a page with the shared files, parsed for a language.
func (s *Site) template(lang, page string) (*template.Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := lang + " " + page
	if parsed := s.parsed[key]; parsed != nil {
		return parsed, nil
	}
	text, ok := s.files[page]
	if !ok {
		return nil, fmt.Errorf("web: there is no page %s", page)
	}
	parsed := template.New(page).Funcs(s.functions(lang)).Option("missingkey=error")
	// The page comes last: what it defines stands, whatever the layout has in its place.
	for _, part := range append(slices.Clone(s.shared), text) {
		if _, err := parsed.Parse(part); err != nil {
			return nil, fmt.Errorf("web: parse %s: %w", page, err)
		}
	}
	s.parsed[key] = parsed
	return parsed, nil
}
