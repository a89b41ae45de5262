// What is open on the page: one phone, or two side by side, each with a chat. The page's
// address says it, so that a reload and a bookmark show the same.

package page

import (
	"net/http"
	"net/url"
	"strconv"
)

// Path is the address of the page.
const Path = "/sandbox"

const (
	left  = "left"
	right = "right"
)

// maxQuery bounds a value in the page's address.
const maxQuery = 200

// openPhone is a phone that is open on one side of the page.
type openPhone struct {
	Number string // "": none
	Chat   string // "": nobody has chosen one
	Size   int    // how many messages are shown; 0: as many as usual
	Before int64  // 0: the newest ones, else those before that place
}

// place is what is open.
type place struct {
	Left, Right openPhone
	Search      string // narrows the row of phones
}

// placeOf reads the address of the page.
func placeOf(values url.Values) place {
	return place{Left: phoneOf(values, left), Right: phoneOf(values, right), Search: bounded(values.Get("search"))}
}

func phoneOf(values url.Values, side string) openPhone {
	open := openPhone{Number: bounded(values.Get(side)), Chat: bounded(values.Get(side + "Chat"))}
	open.Size, _ = strconv.Atoi(values.Get(side + "Size"))               // 0 if it is none
	open.Before, _ = strconv.ParseInt(values.Get(side+"Before"), 10, 64) // 0 if it is none
	open.Size = min(max(open.Size, 0), maxSize)
	open.Before = max(open.Before, 0)
	return open
}

func bounded(value string) string {
	if len(value) > maxQuery {
		return ""
	}
	return value
}

// placeFrom returns the place that the page shows from which a request comes.
func placeFrom(r *http.Request) place {
	address, err := url.Parse(r.Header.Get("HX-Current-URL"))
	if err != nil {
		return place{}
	}
	return placeOf(address.Query())
}

// values are the place as the query of an address.
func (p place) values() url.Values {
	values := url.Values{}
	set := func(name, value string) {
		if value != "" && value != "0" {
			values.Set(name, value)
		}
	}
	for side, open := range map[string]openPhone{left: p.Left, right: p.Right} {
		set(side, open.Number)
		set(side+"Chat", open.Chat)
		set(side+"Size", strconv.Itoa(open.Size))
		set(side+"Before", strconv.FormatInt(open.Before, 10))
	}
	set("search", p.Search)
	return values
}

// URL is the address of the page that shows the place.
func (p place) URL() string {
	if query := p.values().Encode(); query != "" {
		return Path + "?" + query
	}
	return Path
}

// on returns the phone that is open on a side.
func (p place) on(side string) openPhone {
	if side == right {
		return p.Right
	}
	return p.Left
}

// with returns the place with another phone on a side.
func (p place) with(side string, open openPhone) place {
	if side == right {
		p.Right = open
	} else {
		p.Left = open
	}
	return p
}
