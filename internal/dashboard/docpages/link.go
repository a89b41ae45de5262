// Where the links of documents lead.

package docpages

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"

	"github.com/recado-project/recado/internal/web"
)

// repository is where the files are that documents link to and the program does not have.
const repository = "https://github.com/recado-project/recado/blob/HEAD/"

// link returns where a link in a file leads on the pages, and whether that is another site. A link to what is not there
// stays as it is.
func (b *book) link(from, destination string) (to string, outside bool) {
	parsed, err := url.Parse(destination)
	if err != nil || parsed.Scheme != "" || parsed.Host != "" {
		return destination, err == nil && parsed.Host != ""
	}
	target, here := path.Join(path.Dir(from), parsed.Path), parsed.Path == ""
	if here {
		target = from
	}
	found, fragment := b.byFile[target], ""
	if found != nil {
		parsed.Fragment = b.shared(found, parsed.Fragment)
	}
	if parsed.Fragment != "" {
		fragment = "#" + parsed.Fragment
	}
	switch {
	case here:
		return fragment, false
	case found != nil:
		return address(found.name) + fragment, false
	}
	if target == specification {
		return Reference + fragment, false
	}
	if away, ok := strings.CutPrefix(target, "../"); ok {
		return repository + away + fragment, true
	}
	if info, err := fs.Stat(b.files, target); err == nil && !info.IsDir() {
		return address(target), false
	}
	return destination, false
}

// ownAnchors returns the anchors of a page's headings as GitHub has them, in their order.
func (b *book) ownAnchors(p *page) (own []string, err error) {
	source, document, err := b.parse(p)
	if err != nil {
		return nil, err
	}
	taken := anchors{}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		if title, ok := node.(*ast.Heading); ok {
			own = append(own, taken.add(plain(source, title)))
		}
	}
	return own, nil
}

// shared returns the anchor that a page's heading has in every language, so that a link is good in all of them: that of
// the same heading of the English page. A file links to headings as GitHub names them, which translates them.
func (b *book) shared(p *page, anchor string) string {
	original := b.pages[web.English][p.name]
	if p.lang == web.English || original == nil {
		return anchor
	}
	own, err := p.own()
	if err != nil {
		return anchor // who reads the page is told
	}
	english, err := original.own()
	if n := slices.Index(own, anchor); err == nil && n >= 0 && n < len(english) {
		return english[n]
	}
	return anchor
}

// anchors gives the headings of one document their anchors, as GitHub does: a link works there and here.
type anchors map[string]bool

// add returns the anchor of the next heading.
func (a anchors) add(heading string) string {
	slug := strings.Map(func(letter rune) rune {
		switch {
		case letter == ' ':
			return '-'
		case letter == '-', letter == '_', unicode.In(letter, unicode.Letter, unicode.Number, unicode.Mark):
			return unicode.ToLower(letter)
		default:
			return -1
		}
	}, heading)
	free := slug
	for n := 1; a[free]; n++ {
		free = slug + "-" + strconv.Itoa(n)
	}
	a[free] = true
	return free
}
