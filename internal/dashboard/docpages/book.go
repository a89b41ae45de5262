// What docs/ has, in the order of its list.

package docpages

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"

	"github.com/recado-project/recado/internal/web"
)

const (
	ending = ".md"
	// listFile is the list of a folder's documents. In English it is the list of all pages.
	listFile = "README" + ending
)

// book is all documents. It is read only, and safe for concurrent use.
type book struct {
	files     fs.FS
	markdown  goldmark.Markdown
	languages []string                    // that there are documents in, English first
	pages     map[string]map[string]*page // by language and name
	byFile    map[string]*page
	lists     map[string][]group // by language
}

// page is one document in one language.
type page struct {
	name, lang string
	file       string
	read       func() (*content, error) // rendered when somebody asks for it
	own        func() ([]string, error) // the anchors of its headings as GitHub has them, in their order
}

// group is one part of the list.
type group struct {
	Name    string
	Lang    string // of its name and entries
	Entries []entry
}

// entry is one line of the list.
type entry struct {
	Title, About string
	To           string
	Outside      bool // it leads to another site
}

// address is where the page of a name is.
func address(name string) string {
	if name == "" {
		return Root
	}
	return Root + "/" + name
}

// nameOf returns the name of a file's page: its path without the ending, and for the list of a folder the folder.
func nameOf(file string) string {
	if path.Base(file) == listFile {
		return strings.TrimPrefix(path.Dir(file), ".")
	}
	return strings.TrimSuffix(file, ending)
}

// readBook finds the documents and reads their list.
func readBook(files fs.FS, languages []string) (*book, error) {
	b := &book{files: files, markdown: newMarkdown(), pages: map[string]map[string]*page{}, byFile: map[string]*page{}, lists: map[string][]group{}}
	err := fs.WalkDir(files, ".", func(file string, item fs.DirEntry, err error) error {
		if err != nil || item.IsDir() || path.Ext(file) != ending {
			return err
		}
		p := &page{name: nameOf(file), lang: web.English, file: file}
		if folder, rest, _ := strings.Cut(file, "/"); slices.Contains(languages, folder) {
			p.name, p.lang = nameOf(rest), folder
		}
		p.read = sync.OnceValues(func() (*content, error) { return b.render(p) })
		p.own = sync.OnceValues(func() ([]string, error) { return b.ownAnchors(p) })
		if b.pages[p.lang] == nil {
			b.pages[p.lang] = map[string]*page{}
		}
		b.pages[p.lang][p.name], b.byFile[file] = p, p
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("docpages: find documents: %w", err)
	}
	for _, lang := range languages {
		if b.pages[lang] == nil {
			continue
		}
		b.languages = append(b.languages, lang)
		if list := b.pages[lang][""]; list != nil {
			if b.lists[lang], err = b.readList(list); err != nil {
				return nil, err
			}
		}
	}
	if len(b.lists[web.English]) == 0 {
		return nil, errors.New("docpages: " + listFile + " lists no pages")
	}
	return b, nil
}

// readList reads the list of all pages: a heading is a group, and each row of the table below it a page.
func (b *book) readList(list *page) ([]group, error) {
	source, document, err := b.parse(list)
	if err != nil {
		return nil, err
	}
	var groups []group
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		switch node := node.(type) {
		case *ast.Heading:
			groups = append(groups, group{Name: plain(source, node), Lang: list.lang})
		case *tables.Table:
			last := &groups[len(groups)-1]
			for row := node.FirstChild(); row != nil; row = row.NextSibling() {
				link, ok := row.FirstChild().FirstChild().(*ast.Link)
				if !ok {
					continue
				}
				to, outside := b.link(list.file, string(link.Destination))
				last.Entries = append(last.Entries, entry{
					Title: plain(source, link), About: plain(source, row.FirstChild().NextSibling()), To: to, Outside: outside,
				})
			}
		}
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.Entries) == 0 }), nil
}

// groups returns the list for a language.
func (b *book) groups(lang string) []group {
	if list := b.lists[lang]; len(list) > 0 {
		return list
	}
	return b.lists[web.English]
}

// page returns the page of a name in the first of some languages that it is in, or in English; nil if there is none.
func (b *book) page(name string, languages ...string) *page {
	for _, lang := range append(languages, web.English) {
		if found := b.pages[lang][name]; found != nil && name != "" {
			return found
		}
	}
	return nil
}

// around returns what is before and after an address in the list; nil for none.
func (b *book) around(lang, here string) (before, next *entry) {
	var all []entry
	for _, g := range b.groups(lang) {
		for _, e := range g.Entries {
			if !e.Outside && e.To != Reference {
				all = append(all, e)
			}
		}
	}
	at := slices.IndexFunc(all, func(e entry) bool { return e.To == here })
	if at > 0 {
		before = &all[at-1]
	}
	if at >= 0 && at+1 < len(all) {
		next = &all[at+1]
	}
	return before, next
}
