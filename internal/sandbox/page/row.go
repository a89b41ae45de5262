// The phones in a row.

package page

import (
	"context"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// maxRow bounds the phones in the row; others are found by the search.
const maxRow = 40

// fewPhones are found without a search.
const fewPhones = 12

// row is what the row of phones shows.
type row struct {
	Phones     []rowPhone
	Left       int // how many phones fit the search but are left out
	Search     string
	Searchable bool
	Empty      bool // there is no phone at all
	Faulty     bool // a fault is on
	Load       bool // the sandbox runs for load tests
	Home       string
	Place      place
}

// rowPhone is a phone in the row.
type rowPhone struct {
	handset

	Unread  int
	Here    bool   // it is open
	URL     string // opens it
	Beside  string // opens it beside the other one, "" if there is none
	Element string // its ID in the page
}

// handset is what the page shows of a phone itself.
type handset struct {
	Number      string
	Name        string
	Picture     string // the address of its picture, "" for none
	Linked      int    // how many devices are linked to it
	Connected   int    // and how many of them are connected
	Online      bool
	Registered  bool
	HidesNumber bool
	Banned      bool
	BannedUntil time.Time // zero if the ban has no end
	Restricted  time.Time // until then; zero if it is not restricted
}

// handsetOf returns what the page shows of a phone.
func handsetOf(shown account.Phone, now time.Time) handset {
	h := handset{
		Number: shown.Number, Name: bubbles.Name(shown.Name, shown.Number), Picture: pictureURL(shown.PictureID),
		Linked: len(shown.Devices), Connected: shown.Connected, Online: shown.Online, Registered: shown.Registered,
		HidesNumber: shown.HidesNumber, Banned: shown.BannedForGood,
	}
	if shown.BannedUntil.After(now) {
		h.Banned, h.BannedUntil = true, shown.BannedUntil
	}
	if shown.RestrictedUntil.After(now) {
		h.Restricted = shown.RestrictedUntil
	}
	return h
}

func pictureURL(id string) string {
	if id == "" {
		return ""
	}
	return profile.PicturePath + id
}

// row reads the row of phones. When there are many, it has those that fit the search,
// or the newest, and always those that are open.
func (p *Page) row(ctx context.Context, open place, phones []account.Phone) (row, error) {
	unread, err := p.config.Phones.Unread(ctx)
	if err != nil {
		return row{}, err
	}
	shown := row{
		Search: open.Search, Searchable: len(phones) > fewPhones || open.Search != "", Empty: len(phones) == 0,
		Faulty: p.config.Faults.Current().Any(), Load: p.config.Load, Home: p.config.Home, Place: open,
	}
	var fitting []account.Phone
	for _, phone := range phones {
		if fits(phone, open.Search) || phone.Number == open.Left.Number || phone.Number == open.Right.Number {
			fitting = append(fitting, phone)
		}
	}
	shown.Left = max(0, len(fitting)-maxRow)
	now := p.config.Now()
	for n, phone := range fitting {
		here := phone.Number == open.Left.Number || phone.Number == open.Right.Number
		if n < shown.Left && !here {
			continue
		}
		line := rowPhone{
			handset: handsetOf(phone, now), Unread: unread[phone.Number], Here: here,
			URL: open.with(left, openPhone{Number: phone.Number}).URL(), Element: "phone-" + phone.Number,
		}
		if open.Left.Number != "" && !here {
			line.Beside = open.with(right, openPhone{Number: phone.Number}).URL()
		}
		shown.Phones = append(shown.Phones, line)
	}
	return shown, nil
}

// fits reports whether a phone is one that somebody searches for.
func fits(phone account.Phone, search string) bool {
	search = strings.ToLower(strings.TrimSpace(search))
	return strings.Contains(phone.Number, strings.TrimPrefix(search, "+")) || strings.Contains(strings.ToLower(phone.Name), search)
}
