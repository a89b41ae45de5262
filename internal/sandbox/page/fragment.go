// The parts of the page that change while somebody looks at it.

package page

import (
	"bytes"
	"context"
	"encoding/hex"
	"hash/fnv"
	"html/template"
	"net/http"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/web"
)

// view is what the page shows in one moment.
type view struct {
	Place place
	Row   row
	Sides []side
}

// view reads what the page shows at a place. Where nothing is chosen, the first phone is
// open.
func (p *Page) view(ctx context.Context, at place) (view, error) {
	phones, err := p.config.Profiles.List(ctx)
	if err != nil {
		return view{}, err
	}
	chosen := at
	if at, err = p.resolve(ctx, at, phones); err != nil {
		return view{}, err
	}
	shown := view{Place: at}
	if shown.Row, err = p.row(ctx, at, phones); err != nil {
		return view{}, err
	}
	for _, where := range []string{left, right} {
		if where == right && at.Right.Number == "" {
			continue
		}
		one, err := p.side(ctx, where, at)
		if err != nil {
			return view{}, err
		}
		one.Picked = chosen.on(where).Chat != ""
		shown.Sides = append(shown.Sides, one)
	}
	return shown, nil
}

// resolve returns the place with what is open where nobody has chosen anything: the
// first phone, and the newest chat of each phone.
func (p *Page) resolve(ctx context.Context, at place, phones []account.Phone) (place, error) {
	if at.Left.Number == "" {
		at.Left, at.Right = at.Right, openPhone{}
	}
	if at.Left.Number == "" && len(phones) > 0 {
		at.Left.Number = phones[0].Number
	}
	for _, where := range []string{left, right} {
		open := at.on(where)
		if open.Number == "" || open.Chat != "" {
			continue
		}
		of, found, err := p.config.Profiles.Look(ctx, open.Number)
		if err != nil || !found {
			return at, err
		}
		lines, err := p.config.Phones.ChatLines(ctx, of.Number)
		if err != nil {
			return at, err
		}
		if len(lines) > 0 {
			open.Chat = lines[0].ID
			at = at.with(where, open)
		}
	}
	return at, nil
}

// fragment is a part of the page, which is exchanged as a whole.
type fragment struct {
	ID   string // of its element
	HTML []byte
}

// seen is a short name of a fragment's content.
func (f fragment) seen() string {
	hash := fnv.New64a()
	_, _ = hash.Write(f.HTML) // a hash never fails
	return hex.EncodeToString(hash.Sum(nil))
}

// sideParts are the blocks of the template that make a side, in the order of the page.
func sideParts() []string { return []string{"head", "chats", "chat", "log", "write"} }

// fragments renders what a view shows.
func (p *Page) fragments(lang string, shown view) ([]fragment, error) {
	content, err := p.site.Render(lang, "phones", "row", shown.Row)
	if err != nil {
		return nil, err
	}
	all := []fragment{{ID: "phones", HTML: bytes.TrimSpace(content)}}
	for _, one := range shown.Sides {
		for _, part := range sideParts() {
			if content, err = p.site.Render(lang, "phones", part, one); err != nil {
				return nil, err
			}
			all = append(all, fragment{ID: one.Element + part, HTML: bytes.TrimSpace(content)})
		}
	}
	return all, nil
}

// shownPage is the dot of the layout.
type shownPage struct {
	Title  string
	Texts  map[string]string // for the script
	Row    template.HTML
	Sides  []shownSide
	Stream string // the address of the stream
	Home   string
	Empty  bool
}

// shownSide is a side with its parts.
type shownSide struct {
	side

	Parts map[string]template.HTML
}

// show answers with the page.
func (p *Page) show(r *request) error {
	shown, err := p.view(r.Context(), placeOf(r.URL.Query()))
	if err != nil {
		return err
	}
	parts, err := p.fragments(r.lang(), shown)
	if err != nil {
		return err
	}
	query := shown.Place.values()
	whole := shownPage{
		Title: r.title(shown), Row: template.HTML(parts[0].HTML), Home: p.config.Home, Empty: shown.Row.Empty, //nolint:gosec // rendered by html/template
		Texts: map[string]string{
			"copied": r.words(web.Word("Copied.")), "close": r.words(web.Word("Close")),
			"failed":      r.words(web.Word("Something went wrong. The log says why.")),
			"unreachable": r.words(web.Word("The sandbox can't be reached.")),
			"file":        r.words(web.Word("File")),
		},
	}
	for n, one := range shown.Sides {
		side := shownSide{side: one, Parts: map[string]template.HTML{}}
		for i, part := range sideParts() {
			side.Parts[part] = template.HTML(parts[1+n*len(sideParts())+i].HTML) //nolint:gosec // rendered by html/template
		}
		whole.Sides = append(whole.Sides, side)
	}
	for _, part := range parts {
		query.Add("seen", part.seen())
	}
	whole.Stream = Path + "/ui/stream?" + query.Encode()
	p.site.Page(r.w, r.Request, http.StatusOK, "phones", whole)
	return nil
}

// title is the title of the browser's window.
func (r *request) title(shown view) string {
	for _, one := range shown.Sides {
		if one.Found {
			return one.Phone.Name + " · " + r.words(web.Word("Phones"))
		}
	}
	return r.words(web.Word("Phones"))
}
