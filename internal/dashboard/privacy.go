// What the account lets others see and do, as a form shows it and is read.

package dashboard

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/web"
)

// offered are the settings in their order, each with what can be chosen here: exceptions among the
// contacts are made on the phone.
func offered() []setting {
	people := []gateway.PrivacyChoice{gateway.PrivacyAll, gateway.PrivacyContacts, gateway.PrivacyNone}
	return []setting{
		{of: gateway.PrivacyLastSeen, can: people},
		{of: gateway.PrivacyOnline, can: []gateway.PrivacyChoice{gateway.PrivacyAll, gateway.PrivacyAsLastSeen}},
		{of: gateway.PrivacyPicture, can: people},
		{of: gateway.PrivacyAbout, can: people},
		{of: gateway.PrivacyReadReceipts, can: []gateway.PrivacyChoice{gateway.PrivacyAll, gateway.PrivacyNone}},
		{of: gateway.PrivacyGroups, can: people},
		{of: gateway.PrivacyCalls, can: []gateway.PrivacyChoice{gateway.PrivacyAll, gateway.PrivacyKnown}},
		{of: gateway.PrivacyMessages, can: []gateway.PrivacyChoice{gateway.PrivacyAll, gateway.PrivacyContacts}},
	}
}

// setting is a privacy setting as the form shows it.
type setting struct {
	of  gateway.PrivacySetting
	can []gateway.PrivacyChoice

	Choices []choice
}

// Field is the name of the setting in the form.
func (s setting) Field() string { return string(s.of) }

// Name is what people call it.
func (s setting) Name() web.Word { return settingName(s.of) }

// choice is something that can be chosen.
type choice struct {
	Value  string // empty: it stays as it is on the phone
	Name   web.Word
	Chosen bool
}

// choiceName is for whom a setting holds.
func choiceName(of gateway.PrivacyChoice) web.Word {
	words := map[gateway.PrivacyChoice]web.Word{
		gateway.PrivacyAll:            web.Word("Everybody"),
		gateway.PrivacyContacts:       web.Word("Contacts"),
		gateway.PrivacyContactsExcept: web.Word("Contacts, except those excluded on the phone"),
		gateway.PrivacyNone:           web.Word("Nobody"),
		gateway.PrivacyKnown:          web.Word("Contacts and people written to"),
		gateway.PrivacyAsLastSeen:     web.Word("Same as Last seen"),
	}
	return cmp.Or(words[of], web.Word("As on the phone"))
}

// settingsOf are the settings with what is chosen now. What can't be chosen here is there as long
// as it is so.
func settingsOf(privacy gateway.Privacy) []setting {
	all := offered()
	for n := range all {
		now := privacy.Choices[all[n].of]
		if !slices.Contains(all[n].can, now) {
			all[n].Choices = append(all[n].Choices, choice{Name: choiceName(now), Chosen: true})
		}
		for _, one := range all[n].can {
			all[n].Choices = append(all[n].Choices, choice{Value: string(one), Name: choiceName(one), Chosen: one == now})
		}
	}
	return all
}

// timersOf are the times after which messages of new chats can disappear.
func timersOf(privacy gateway.Privacy) (all []choice) {
	for _, one := range []struct {
		days int
		name web.Word
	}{{0, web.Word("Off")}, {1, web.Word("24 hours")}, {7, web.Word("7 days")}, {90, web.Word("90 days")}} {
		all = append(all, choice{strconv.Itoa(one.days), one.name, privacy.Disappearing == days(one.days)})
	}
	if !slices.ContainsFunc(all, func(c choice) bool { return c.Chosen }) {
		all = slices.Insert(all, 0, choice{Name: choiceName(""), Chosen: true})
	}
	return all
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// changePrivacy changes the settings that are others than before.
func (p *pages) changePrivacy(r *frame.Request, found gateway.Instance) error {
	before, err := p.Profiles.Privacy(r.Context(), found.ID)
	if err != nil {
		return err
	}
	change := profile.PrivacyChange{Choices: map[gateway.PrivacySetting]gateway.PrivacyChoice{}}
	var wrong []gateway.FieldError
	for _, one := range offered() {
		given := gateway.PrivacyChoice(r.PostFormValue(one.Field()))
		if given != "" && !slices.Contains(one.can, given) {
			wrong = append(wrong, gateway.FieldError{Field: one.Field(), Message: "can't be chosen"})
		}
		change.Choices[one.of] = given
	}
	maps.DeleteFunc(change.Choices, func(of gateway.PrivacySetting, to gateway.PrivacyChoice) bool {
		return to == "" || to == before.Choices[of]
	})
	for _, timer := range timersOf(before) {
		if given := r.PostFormValue("disappearing"); given != "" && given == timer.Value && !timer.Chosen {
			n, _ := strconv.Atoi(timer.Value) // it was made from a number
			change.Disappearing = new(days(n))
		}
	}
	if len(wrong) > 0 {
		return gateway.InvalidFields(wrong...)
	}
	if len(change.Choices) > 0 || change.Disappearing != nil {
		if _, err := p.Profiles.ChangePrivacy(r.Context(), found.ID, change); err != nil {
			return err
		}
	}
	return toAccount(r, found.ID, "privacy")
}
