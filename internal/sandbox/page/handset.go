// Phones themselves: made, named, switched, banned, unlinked.

package page

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/passkey"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// askPhone answers with the dialog for another phone.
func (p *Page) askPhone(r *request) error { return r.dialog("phone", r.side()) }

// createPhone makes a phone, or finds it, and opens it.
func (p *Page) createPhone(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	var change profile.Update
	if called := r.field("name"); called != "" {
		change.Name = &called
	}
	of, err := p.config.Profiles.Update(r.Context(), r.field("number"), change)
	if err != nil {
		return err
	}
	return r.open(placeFrom(r.Request).with(r.side(), openPhone{Number: of.Number}))
}

// span is a duration that can be chosen.
type span struct {
	Seconds int64
	Name    web.Word
}

func spans() []span {
	return []span{
		{60, web.Word("1 minute")},
		{600, web.Word("10 minutes")},
		{int64(time.Hour / time.Second), web.Word("1 hour")},
		{int64(24 * time.Hour / time.Second), web.Word("1 day")},
	}
}

// handsetOfPath returns the phone that the path names.
func (p *Page) handsetOfPath(r *request) (account.Phone, error) {
	of, found, err := p.config.Profiles.Look(r.Context(), r.number())
	if err == nil && !found {
		err = refusal.NotFoundf("there is no such phone")
	}
	return of, err
}

// askHandset answers with the dialog of a phone's settings.
func (p *Page) askHandset(r *request) error {
	of, err := p.handsetOfPath(r)
	if err != nil {
		return err
	}
	passkeys, err := p.config.Passkeys.List(r.Context(), of.Number)
	if err != nil {
		return err
	}
	return r.dialog("handset", struct {
		handset

		JID, LID string
		Path     string
		Spans    []span
		Devices  []account.LinkedDevice
		Rule     account.PasskeyRule
		Passkeys []passkey.View
	}{handsetOf(of, p.config.Now()), of.JID, of.LID, phonePath(of.Number), spans(), of.LinkedDevices, of.PasskeyRule, passkeys})
}

// changeHandset changes a phone's name, picture and switches.
func (p *Page) changeHandset(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	called, registered, online, hidden := r.field("name"), r.on("registered"), r.on("online"), r.on("hidesNumber")
	seconds, err := r.integer("passkeySeconds")
	if err != nil {
		return err
	}
	rule := account.PasskeyRule{Needed: r.on("passkey"), Compare: r.on("passkeyCompare")}
	if seconds != nil {
		rule.Seconds = int(*seconds)
	}
	change := profile.Update{Registered: &registered, Online: &online, HideNumber: &hidden, Passkey: &rule}
	if before, err := p.handsetOfPath(r); err != nil {
		return err
	} else if called != bubbles.Name(before.Name, before.Number) {
		change.Name = &called
	}
	picture, err := r.file("picture")
	if err != nil {
		return err
	}
	if picture != nil {
		change.SetPicture, change.Picture = true, picture.content
	} else if r.on("removePicture") {
		change.SetPicture = true
	}
	if _, err := p.config.Profiles.Update(r.Context(), r.number(), change); err != nil {
		return err
	}
	return r.done(web.Word("Saved."))
}

// doHandset does something to a phone, or lets the platform do it.
func (p *Page) doHandset(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	what := r.PathValue("what")
	if what == "restrict" || what == "ban" {
		return p.punish(r, what)
	}
	done, known := p.deeds()[what]
	if !known {
		return refusal.NotFoundf("this can't be done to a phone")
	}
	if err := done.do(r.Context(), r.number()); err != nil {
		return err
	}
	return r.done(done.said)
}

// deed is something that can be done to a phone.
type deed struct {
	do   func(ctx context.Context, number string) error
	said web.Word // afterwards, "" if the page shows it
}

func (p *Page) deeds() map[string]deed {
	return map[string]deed{
		"online":  {func(ctx context.Context, number string) error { return p.setOnline(ctx, number, true) }, ""},
		"offline": {func(ctx context.Context, number string) error { return p.setOnline(ctx, number, false) }, ""},
		"unlink":  {p.config.Linking.Unlink, web.Word("All linked devices were removed.")},
		"lose-keys": {
			p.config.Phones.LoseKeys,
			web.Word("The phone has lost its keys. It asks for messages again that it can't decrypt."),
		},
		"replace":         {p.config.Sessions.Replace, web.Word("The linked devices were told that they connected elsewhere.")},
		"disconnect":      {p.config.Sessions.Disconnect, web.Word("The connections were cut.")},
		"confirm-passkey": {p.config.Linking.ConfirmPasskey, ""},
		"refuse-passkey":  {p.config.Linking.RefusePasskey, ""},
		"lift-ban":        {p.config.Sessions.LiftBan, ""},
		"lift-restriction": {
			func(ctx context.Context, number string) error { return p.config.Sessions.Restrict(ctx, number, 0) }, "",
		},
	}
}

func (p *Page) setOnline(ctx context.Context, number string, online bool) error {
	_, err := p.config.Profiles.Update(ctx, number, profile.Update{Online: &online})
	return err
}

// punish restricts or bans an account for as long as the form says.
func (p *Page) punish(r *request, what string) error {
	d, err := r.duration("seconds")
	if err != nil {
		return err
	}
	if what == "ban" {
		if err := p.config.Sessions.Ban(r.Context(), r.number(), d); err != nil {
			return err
		}
		return r.done(web.Word("The account is banned. Its devices can't log in."))
	}
	if err := p.config.Sessions.Restrict(r.Context(), r.number(), d); err != nil {
		return err
	}
	return r.done(web.Word("The account can't write to new contacts now."))
}
