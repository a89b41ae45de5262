// Linking: a phone scans the codes that clients show.

package page

import (
	"time"

	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// shownCode is a code in the dialog.
type shownCode struct {
	ID, Name string
	Until    time.Time
	Typed    string // the code to type on this phone, "" if there is none
}

// scanDialog is what the dialog for linking shows.
type scanDialog struct {
	Path   string
	Number string
	Codes  []shownCode
	Home   string
}

// codes reads the codes that the phone can scan right now.
func (p *Page) codes(r *request) (scanDialog, error) {
	of, err := p.handsetOfPath(r)
	if err != nil {
		return scanDialog{}, err
	}
	shown, err := p.shown.Shown(r.Context())
	if err != nil {
		return scanDialog{}, err
	}
	dialog := scanDialog{Path: phonePath(of.Number), Number: of.Number, Home: p.config.Home}
	for _, code := range shown {
		one := shownCode{ID: code.ID, Name: bubbles.Name(code.Name, code.ID), Until: code.Until}
		if person, found, err := p.config.Profiles.Look(r.Context(), code.Number); err != nil {
			return scanDialog{}, err
		} else if code.Typed != "" && (found && person.Number == of.Number || code.Number == of.Number) {
			one.Typed = code.Typed
		}
		dialog.Codes = append(dialog.Codes, one)
	}
	return dialog, nil
}

// askScan answers with the dialog for linking.
func (p *Page) askScan(r *request) error {
	shown, err := p.codes(r)
	if err != nil {
		return err
	}
	return r.dialog("scan", shown)
}

// listCodes answers with the codes alone: they change every few seconds.
func (p *Page) listCodes(r *request) error {
	shown, err := p.codes(r)
	if err != nil {
		return err
	}
	return r.dialog("codes", shown)
}

// scan links the phone with the client whose code was chosen, pasted, photographed or
// typed.
func (p *Page) scan(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	of, err := p.handsetOfPath(r)
	if err != nil {
		return err
	}
	qr, typed, err := p.chosenCode(r)
	if err != nil {
		return err
	}
	if typed != "" {
		err = p.config.Linking.EnterCode(r.Context(), r.number(), typed)
	} else {
		err = p.config.Linking.Scan(r.Context(), r.number(), qr)
	}
	if err != nil {
		return err
	}
	if of.Passkey {
		return r.done(web.Word("Scanned. The account asks for its passkey now: sign where the code was shown."))
	}
	return r.done(web.Word("Linked."))
}

// chosenCode returns the text of the QR code that the form is about, or else the code to
// type.
func (p *Page) chosenCode(r *request) (qr, typed string, err error) {
	if id := r.field("id"); id != "" {
		shown, err := p.shown.Shown(r.Context())
		if err != nil {
			return "", "", err
		}
		for _, code := range shown {
			switch {
			case code.ID != id:
			case r.on("typed") && code.Typed != "":
				return "", code.Typed, nil
			default:
				return code.QR, "", nil
			}
		}
		return "", "", refusal.Conflictf("this code is not shown any more")
	}
	if typed := r.field("code"); typed != "" {
		return "", typed, nil
	}
	picture, err := r.file("picture")
	if err != nil {
		return "", "", err
	}
	if picture != nil {
		qr, err = scan.Picture(picture.content)
	} else {
		qr, err = scan.Read(r.field("text"))
	}
	if err != nil {
		return "", "", refusal.Invalidf("", "%s", err)
	}
	if qr == "" {
		return "", "", refusal.Invalidf("", "choose, paste or type a code")
	}
	return qr, "", nil
}
