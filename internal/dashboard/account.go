// The page of an instance's own messenger account: its profile, what it lets others see and do, what
// becomes of calls, its status posts, and whom it has blocked.

package dashboard

import (
	"cmp"
	"strings"

	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/web"
)

// blockedAtOnce is how many blocked people are shown at once.
const blockedAtOnce = 50

// accountView is the page.
type accountView struct {
	instanceHead

	Profile       gateway.OwnProfile
	Privacy       []setting
	Disappearing  []choice
	Audience      audience
	Blocked       []blocked
	Total         int    // of those who are blocked
	Before, After string // the first of them and the next; empty for none
}

// blocked is somebody who is blocked.
type blocked struct{ Party gateway.Party }

// Called is what people call them: a name, or the number.
func (b blocked) Called() string { return conversation.Name(b.Party) }

// showAccount shows the page.
func (p *pages) showAccount(r *frame.Request, found gateway.Instance) error {
	v := accountView{instanceHead: headOf(found, "account", r.Visitor.Actor.Role)}
	err := p.readAccount(r, &v)
	if v.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	return r.Page("account", frame.View{Title: found.Name, Section: "instances", Body: v})
}

// readAccount asks the platform what the account is like.
func (p *pages) readAccount(r *frame.Request, v *accountView) (err error) {
	id := v.Instance.ID
	if v.Profile, err = p.Profiles.Get(r.Context(), id); err != nil {
		return err
	}
	privacy, err := p.Profiles.Privacy(r.Context(), id)
	if err != nil {
		return err
	}
	v.Privacy, v.Disappearing = settingsOf(privacy), timersOf(privacy)
	posts, err := p.Profiles.StatusAudience(r.Context(), id)
	if err != nil {
		return err
	}
	v.Audience = audience{posts}
	page := frame.PageOf(r.URL.Query())
	people, err := p.Profiles.Blocked(r.Context(), id, gateway.PageRequest{Page: page, Limit: blockedAtOnce})
	if err != nil {
		return err
	}
	for _, one := range people.Items {
		v.Blocked = append(v.Blocked, blocked{one})
	}
	v.Total = people.Total
	v.Before, v.After = frame.Around("/instances/"+id+"/account", nil, page, blockedAtOnce, people.Total)
	return nil
}

// toAccount leads back to the page after something was done there.
func toAccount(r *frame.Request, id, detail string) error {
	r.Entry.Detail = detail
	return r.Go("/instances/" + id + "/account")
}

// changeProfile changes the name, and what the account says of itself.
func (p *pages) changeProfile(r *frame.Request, found gateway.Instance) error {
	before, err := p.Profiles.Get(r.Context(), found.ID)
	if err != nil {
		return err
	}
	var change profile.Change
	if name := strings.TrimSpace(r.PostFormValue("name")); name != before.Name {
		change.Name = &name
	}
	if about := strings.TrimSpace(r.PostFormValue("about")); about != before.About {
		change.About = &about
	}
	if change != (profile.Change{}) {
		if _, err := p.Profiles.Change(r.Context(), found.ID, change); err != nil {
			return err
		}
	}
	return toAccount(r, found.ID, "profile")
}

// changePicture makes a file the picture of the account, or takes the picture away.
func (p *pages) changePicture(r *frame.Request, found gateway.Instance) error {
	done, err := r.ReadForm("picture")
	if err != nil {
		return err
	}
	defer done()
	picture := media.Picture{Hints: media.Hints{Field: "picture"}}
	if r.FormValue("remove") == "" {
		if picture.Hints.Decoded, _, err = r.File("picture"); err != nil {
			return err
		}
	}
	if _, err := p.Profiles.Change(r.Context(), found.ID, profile.Change{Picture: &picture}); err != nil {
		return err
	}
	return toAccount(r, found.ID, "picture")
}

// changeCalls says what becomes of calls.
func (p *pages) changeCalls(r *frame.Request, found gateway.Instance) error {
	reject, text := r.PostFormValue("reject") != "", strings.TrimSpace(r.PostFormValue("text"))
	if _, err := p.Instances.Change(r.Context(), found.ID, instance.Settings{Sending: instance.SendingChange{RejectCalls: &reject, CallText: &text}}); err != nil {
		return err
	}
	return toAccount(r, found.ID, "calls")
}

// block blocks somebody, or no longer.
func (p *pages) block(r *frame.Request, found gateway.Instance) error {
	who, err := gateway.ParseRecipient(strings.TrimSpace(r.PostFormValue("who")))
	if err != nil || !who.IsPerson() {
		return gateway.InvalidField("who", "must be the number of a person with country code")
	}
	blocked, detail := r.PostFormValue("unblock") == "", "block"
	if !blocked {
		detail = "unblock"
	}
	if err := p.People.Block(r.Context(), found.ID, who, blocked); err != nil {
		return err
	}
	return toAccount(r, found.ID, detail)
}

// settingName is what people call a privacy setting.
func settingName(of gateway.PrivacySetting) web.Word {
	words := map[gateway.PrivacySetting]web.Word{
		gateway.PrivacyLastSeen:     web.Word("Last seen"),
		gateway.PrivacyOnline:       web.Word("Online"),
		gateway.PrivacyPicture:      web.Word("Profile picture"),
		gateway.PrivacyAbout:        web.Word("About"),
		gateway.PrivacyReadReceipts: web.Word("Read receipts"),
		gateway.PrivacyGroups:       web.Word("Groups"),
		gateway.PrivacyCalls:        web.Word("Who can call"),
	}
	return cmp.Or(words[of], web.Word("Who can message"))
}
