// Where the links of documents lead.

package docpages

import (
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// repository is where the files are that documents link to and the program does not have.
const repository = "https://github.com/recado-project/recado/blob/HEAD/"

// link returns where a link in a file leads on the pages, and whether that is another site. A link to what is not there
// stays as it is.
func (b *book) link(from, destination string) (to string, outside bool) {
	parsed, err := url.Parse(destination)
	if err != nil || parsed.Scheme != "" || parsed.Host != "" || parsed.Path == "" {
		return destination, err == nil && parsed.Host != ""
	}
	fragment := ""
	if parsed.Fragment != "" {
		fragment = "#" + parsed.Fragment
	}
	target := path.Join(path.Dir(from), parsed.Path)
	if found := b.byFile[target]; found != nil {
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
