// What the head of a page says about it.

package preview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxPage is how much of a page is read. What a preview shows stands at its beginning.
	maxPage = 1 << 20
	// maxToken bounds one tag or text of a page.
	maxToken = 128 << 10
)

// head is what a page says about itself. Its fields are empty where it says nothing.
type head struct {
	title, description string
	picture            *url.URL
}

var errNoPage = errors.New("preview: it is no page")

// readHead reads a page until its body begins, or up to a limit. Together with an error it
// returns what it has found until then.
func readHead(page io.Reader, contentType string, address *url.URL) (head, error) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "text/html" && kind != "application/xhtml+xml" {
		return head{}, errNoPage
	}
	said := words{charset: parameters["charset"], values: map[string]string{}}
	err = said.read(html.NewTokenizer(io.LimitReader(page, maxPage)))
	found := head{
		title:       said.first("og:title", "twitter:title", "<title>"),
		description: said.first("og:description", "twitter:description", "description"),
	}
	if picture := said.first("og:image:secure_url", "og:image:url", "og:image", "twitter:image"); picture != "" {
		if reference, parseErr := address.Parse(strings.TrimSpace(picture)); parseErr == nil && isWeb(reference) {
			gateway.EscapeURL(reference)
			found.picture = reference
		}
	}
	return found, err
}

func isWeb(address *url.URL) bool {
	return (address.Scheme == "http" || address.Scheme == "https") && address.Hostname() != "" && address.User == nil
}

// words are the texts in the head of a page, by the names of their tags.
type words struct {
	charset string // as declared; empty: not at all
	values  map[string]string
}

// read reads tags until the body begins.
func (w *words) read(page *html.Tokenizer) error {
	page.SetMaxBuf(maxToken)
	inTitle := false
	for {
		switch page.Next() {
		case html.ErrorToken:
			if err := page.Err(); !errors.Is(err, io.EOF) {
				return fmt.Errorf("preview: read page: %w", err)
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := page.TagName()
			switch string(name) {
			case "body":
				return nil
			case "title":
				inTitle = true
			case "meta":
				w.meta(page, more)
			}
		case html.TextToken:
			if inTitle {
				w.add("<title>", string(page.Text()))
			}
		case html.EndTagToken:
			name, _ := page.TagName()
			switch string(name) {
			case "head":
				return nil
			case "title":
				inTitle = false
			}
		default: // a comment, or the type of the document
		}
	}
}

// meta reads the attributes of a meta tag.
func (w *words) meta(page *html.Tokenizer, more bool) {
	var name, content string
	for more {
		var key, value []byte
		key, value, more = page.TagAttr()
		switch {
		case bytes.EqualFold(key, []byte("property")), bytes.EqualFold(key, []byte("name")) && name == "":
			name = strings.ToLower(strings.TrimSpace(string(value)))
		case bytes.EqualFold(key, []byte("content")):
			content = string(value)
		case bytes.EqualFold(key, []byte("charset")) && w.charset == "":
			w.charset = string(value)
		}
	}
	switch name {
	case "og:title", "twitter:title", "og:description", "twitter:description", "description",
		"og:image", "og:image:url", "og:image:secure_url", "twitter:image":
		w.add(name, content)
	}
}

// add notes a text, the first of its name.
func (w *words) add(name, text string) {
	if w.values[name] == "" && strings.TrimSpace(text) != "" {
		w.values[name] = text
	}
}

// first returns the first of some texts that the page has, in UTF-8.
func (w *words) first(names ...string) string {
	for _, name := range names {
		if text := w.decoded(w.values[name]); text != "" {
			return text
		}
	}
	return ""
}

// decoded returns a text in UTF-8; empty if it is in an encoding that is not known here: no
// title is better than a garbled one.
func (w *words) decoded(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	switch strings.ToLower(strings.TrimSpace(w.charset)) {
	case "", "iso-8859-1", "latin1", "windows-1252", "us-ascii", "iso-8859-15":
		decoded, err := charmap.Windows1252.NewDecoder().String(text)
		if err != nil {
			return ""
		}
		return decoded
	case "utf-8", "utf8":
		return strings.ToValidUTF8(text, "\uFFFD")
	default:
		return ""
	}
}
