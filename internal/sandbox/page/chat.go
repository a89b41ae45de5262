// Chats and groups: begun, looked at, changed.

package page

import (
	"strings"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// askChat answers with the dialog for a new chat or group. It offers the other phones.
func (p *Page) askChat(r *request) error {
	of, err := p.handsetOfPath(r)
	if err != nil {
		return err
	}
	all, err := p.config.Profiles.List(r.Context())
	if err != nil {
		return err
	}
	var others []handset
	for _, other := range all[max(0, len(all)-maxRow):] {
		if other.Number != of.Number && other.Registered {
			others = append(others, handsetOf(other, p.config.Now()))
		}
	}
	return r.dialog("begin", struct {
		Path, Side string
		Others     []handset
	}{phonePath(of.Number), r.side(), others})
}

// createChat opens the chat with a number, which gets a phone if it has none.
func (p *Page) createChat(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	of, err := p.handsetOfPath(r)
	if err != nil {
		return err
	}
	other, err := p.config.Profiles.Update(r.Context(), r.field("number"), profile.Update{})
	if err != nil {
		return err
	}
	return r.open(placeFrom(r.Request).with(r.side(), openPhone{Number: of.Number, Chat: other.JID}))
}

// createGroup creates a group, whose owner is the phone, and opens it.
func (p *Page) createGroup(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	of, err := p.handsetOfPath(r)
	if err != nil {
		return err
	}
	draft := group.Draft{Subject: r.field("subject"), Description: r.field("description"), Owner: of.Number}
	for _, number := range append(r.Form["member"], r.list("numbers")...) {
		draft.Members = append(draft.Members, group.NewMember{Number: number})
	}
	created, err := p.config.Groups.Create(r.Context(), draft)
	if err != nil {
		return err
	}
	return r.open(placeFrom(r.Request).with(r.side(), openPhone{Number: of.Number, Chat: created.ID}))
}

// member is a member of a group in its dialog.
type member struct {
	Number, Name string
	Admin, Owner bool
	Self         bool // it is the phone that looks
}

// aboutChat is the dialog of a chat.
type aboutChat struct {
	Path                 string
	ID                   string
	Person               *handset // nil for a group
	Subject, Description string
	Announcement         bool
	Admin                bool // the phone may change the group
	Members              []member
}

// askAboutChat answers with the dialog of a chat: what a person sees of the phone, or
// what the group is.
func (p *Page) askAboutChat(r *request) error {
	of, err := p.handsetOfPath(r)
	if err != nil {
		return err
	}
	about := aboutChat{Path: r.chatPath(), ID: r.chat()}
	if !strings.HasSuffix(about.ID, groupSuffix) {
		other, found, err := p.config.Profiles.Look(r.Context(), about.ID)
		if err != nil {
			return err
		}
		if !found {
			return refusal.NotFoundf("there is no such phone")
		}
		shown := handsetOf(other, p.config.Now())
		about.Person = &shown
		return r.dialog("about", about)
	}
	if err := p.aboutGroup(r, of, &about); err != nil {
		return err
	}
	return r.dialog("about", about)
}

// aboutGroup fills in the dialog of a group.
func (p *Page) aboutGroup(r *request, of account.Phone, about *aboutChat) error {
	info, err := p.config.Groups.Get(r.Context(), about.ID)
	if err != nil {
		return err
	}
	found, err := p.config.Groups.Find(r.Context(), numberOf(about.ID))
	if err != nil || found == nil {
		return err
	}
	about.Announcement = found.Announcement
	about.Subject, _ = bubbles.Clip(info.Subject, bubbles.MaxLine)
	if info.Description != nil {
		about.Description, _ = bubbles.Clip(*info.Description, bubbles.MaxShown)
	}
	for _, m := range info.Participants {
		person, _, err := p.config.Profiles.Look(r.Context(), m.ID)
		if err != nil {
			return err
		}
		one := member{
			Number: numberOf(m.ID), Name: bubbles.Name(person.Name, numberOf(m.ID)), Admin: m.Admin != nil,
			Owner: m.Admin != nil && *m.Admin == "superadmin", Self: m.ID == of.JID,
		}
		about.Admin = about.Admin || one.Self && one.Admin
		if len(about.Members) < maxListed {
			about.Members = append(about.Members, one)
		}
	}
	return nil
}

// maxListed bounds the members in the dialog of a group.
const maxListed = 200

// changeGroup changes a group in the name of the phone.
func (p *Page) changeGroup(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	change := group.Update{By: r.number(), Add: r.list("add")}
	if r.on("settings") {
		subject, description, announce := r.field("subject"), r.field("description"), r.on("announcement")
		change.Subject, change.Description, change.Announce = &subject, &description, &announce
	}
	if number := r.field("number"); number != "" {
		switch r.field("what") {
		case "remove":
			change.Remove = []string{number}
		case "promote":
			change.Promote = []string{number}
		case "demote":
			change.Demote = []string{number}
		}
	}
	picture, err := r.file("picture")
	if err != nil {
		return err
	}
	if picture != nil {
		change.SetPicture, change.Picture = true, picture.content
	}
	if _, err := p.config.Groups.Update(r.Context(), r.chat(), change); err != nil {
		return err
	}
	return r.done(web.Word("Saved."))
}
