// The search over all documents and operations.

package docpages

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/web"
)

const (
	// maxWords bounds the words of a search, maxFound the results that it shows.
	maxWords = 8
	maxFound = 20
	// maxExcerpt is how much of a section a result shows, in characters.
	maxExcerpt = 180
)

// index is what can be found, by language. It is read only, and safe for concurrent use.
type index map[string][]target

// target is a section or an operation.
type target struct {
	page, heading, text string
	to, lang            string
	route               string // of an operation; empty for a section

	// The same texts as a search compares them: each letter is one, without case and accent.
	foldedPage, foldedHeading, foldedText string
}

// found is a result of a search.
type found struct {
	Page    string // empty: the heading is that of the page
	Heading []part
	Excerpt []part
	Route   string
	To      string
	Lang    string
}

// part is a piece of a text.
type part struct {
	Text   string
	Marked bool // it was searched for
}

// newIndex reads all documents and operations.
func (p *pages) newIndex() (index, error) {
	b, err := p.book()
	if err != nil {
		return nil, err
	}
	all, err := p.Reference()
	if err != nil {
		return nil, err
	}
	made := index{}
	for _, lang := range b.languages {
		names := make([]string, 0, len(b.pages[web.English]))
		for name := range b.pages[web.English] {
			if name != "" { // the list is no document
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			one := b.page(name, lang)
			read, err := one.read()
			if err != nil {
				return nil, err
			}
			for _, s := range read.sections {
				t := target{page: read.Title, heading: s.heading, text: s.text, to: address(name), lang: one.lang}
				if s.anchor != "" {
					t.to += "#" + s.anchor // of letters, digits and hyphens
				}
				made[lang] = append(made[lang], t.fold())
			}
		}
		for _, group := range all.Groups {
			for _, op := range group.Operations {
				route := op.Method + " " + op.Path
				t := target{heading: op.Summary, text: route + " " + op.ID + " " + string(op.Description), to: Reference + "/" + op.ID, lang: web.English, route: route}
				made[lang] = append(made[lang], t.fold())
			}
		}
	}
	return made, nil
}

// fold adds the texts as a search compares them.
func (t target) fold() target {
	t.foldedPage, t.foldedHeading, t.foldedText = fold(t.page), fold(t.heading), fold(t.text)
	return t
}

// fold makes each letter of a text one without case and accent. It keeps their number.
func fold(text string) string {
	return strings.Map(func(letter rune) rune {
		if letter < utf8.RuneSelf {
			return unicode.ToLower(letter)
		}
		base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(letter)))
		return unicode.ToLower(base)
	}, text)
}

// find returns the best results for a search in a language, the best first. All words have to be in a section, its heading
// or the title of its page, as whole words or parts of them.
func (i index) find(lang, search string) []found {
	words := strings.Fields(fold(search))
	words = words[:min(len(words), maxWords)]
	targets := i[lang]
	if targets == nil {
		targets = i[web.English]
	}
	type ranked struct {
		*target

		rank int
	}
	var matches []ranked
	for n := range targets {
		if rank := targets[n].rank(words); rank > 0 {
			matches = append(matches, ranked{&targets[n], rank})
		}
	}
	slices.SortStableFunc(matches, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	var results []found
	for _, match := range matches[:min(len(matches), maxFound)] {
		result := found{
			Heading: mark(match.heading, match.foldedHeading, words), Route: match.route, To: match.to, Lang: match.lang,
		}
		if match.page != match.heading {
			result.Page = match.page
		}
		if match.route == "" {
			text, folded := excerpt(match.text, match.foldedText, words)
			result.Excerpt = mark(text, folded, words)
		}
		results = append(results, result)
	}
	return results
}

// rank says how well a target fits; 0: it does not. What is in a heading counts most, and there a whole word more
// than a part of one.
func (t *target) rank(words []string) int {
	rank, own := 0, false
	for _, word := range words {
		inHeading, inText := weigh(t.foldedHeading, word), weigh(t.foldedText, word)
		inPage := weigh(t.foldedPage, word)
		if inHeading+inText+inPage == 0 {
			return 0
		}
		own = own || inHeading+inText > 0
		rank += 10*inHeading + 2*inPage + min(inText, 5)
		if t.foldedHeading == word || t.route != "" && strings.Contains(t.foldedText, word) && strings.Contains(word, "/") {
			rank += 20 // it is what the word names
		}
	}
	if !own {
		return 0
	}
	return rank
}

// weigh says how much of a word is in a text: 0 none, 1 a part of another word, more where words begin with it or are it.
func weigh(text, word string) int {
	best, count := 0, 0
	for at := 0; count < 3; count++ {
		next := strings.Index(text[at:], word)
		if next < 0 {
			break
		}
		start, end := at+next, at+next+len(word)
		at = end
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		switch begins, ends := start == 0 || !isLetter(before), end == len(text) || !isLetter(after); {
		case begins && ends:
			best = max(best, 3)
		case begins:
			best = max(best, 2)
		default:
			best = max(best, 1)
		}
	}
	if best == 0 {
		return 0
	}
	return best + count - 1
}

func isLetter(letter rune) bool { return unicode.IsLetter(letter) || unicode.IsDigit(letter) }

// excerpt returns the part of a text around the first of some words, with the same part as it is compared.
func excerpt(text, folded string, words []string) (shown, shownFolded string) {
	first := -1
	for _, word := range words {
		if at := strings.Index(folded, word); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	letters, compared := []rune(text), []rune(folded)
	start := 0
	if first > 0 {
		start = max(0, utf8.RuneCountInString(folded[:first])-maxExcerpt/3)
		for start > 0 && !unicode.IsSpace(letters[start-1]) {
			start--
		}
	}
	end := min(len(letters), start+maxExcerpt)
	for end < len(letters) && !unicode.IsSpace(letters[end]) && end < start+maxExcerpt+20 {
		end++
	}
	shown, shownFolded = string(letters[start:end]), string(compared[start:end])
	if start > 0 {
		shown, shownFolded = "… "+shown, "… "+shownFolded
	}
	if end < len(letters) {
		shown, shownFolded = shown+" …", shownFolded+" …"
	}
	return shown, shownFolded
}

// mark marks the words of a search in a text. folded is the same text as it is compared.
func mark(text, folded string, words []string) []part {
	letters, compared := []rune(text), []rune(folded)
	marked := make([]bool, len(letters))
	for _, word := range words {
		for at := 0; ; {
			next := strings.Index(folded[at:], word)
			if next < 0 {
				break
			}
			start := utf8.RuneCountInString(folded[:at+next])
			for i := range utf8.RuneCountInString(word) {
				marked[start+i] = true
			}
			at += next + len(word)
		}
	}
	var parts []part
	for start, i := 0, 1; i <= len(compared); i++ {
		if i == len(compared) || marked[i] != marked[start] {
			parts = append(parts, part{string(letters[start:i]), marked[start]})
			start = i
		}
	}
	return parts
}

// searchView is what the page of a search shows.
type searchView struct {
	view

	Found []found
}

// search answers a search: with a page, or with the results alone while somebody types.
func (p *pages) search(r *frame.Request) error {
	b, err := p.book()
	if err != nil {
		return err
	}
	shown := searchView{view: view{Groups: b.groups(r.Lang()), Here: Root + "/search", Search: r.Search()}}
	if shown.Search != "" {
		all, err := p.index()
		if err != nil {
			return err
		}
		shown.Found = all.find(r.Lang(), shown.Search)
	}
	if r.Live() {
		r.W.Header().Set("Cache-Control", "private, no-cache")
		return r.Fragment("search", "found", shown)
	}
	return p.page(r, "search", r.Text(web.Word("Search")), shown)
}
