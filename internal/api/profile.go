// The instance's own messenger account: profile, privacy settings, block list, audience of status posts.

package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/profile"
)

// profiles is the resource of the account.
type profiles struct {
	use      *profile.Service
	blocking People
}

// Profile is what others see of the account.
type Profile struct {
	ID       string    `json:"id" doc:"Personal chat ID of the account." example:"5511999990000@s.whatsapp.net"`
	LID      *string   `json:"lid" nullable:"true" doc:"Its LID; null where it is not known." example:"174823206119742@lid"`
	Name     string    `json:"name" doc:"The name that the account goes by; empty where it is not known yet." example:"Corner shop"`
	About    string    `json:"about" doc:"What it says about itself; empty if it says nothing." example:"Open from 8 to 18"`
	Picture  *string   `json:"picture" nullable:"true" doc:"URL of its picture; null if it has none." example:"https://pps.example/v/t61/picture.jpg"`
	Business *Business `json:"business" doc:"What it says of itself as a business; null if it is none."`
}

// Business is the profile of a business account.
type Business struct {
	Address    string          `json:"address" doc:"Empty if it names none." example:"Rua Augusta 100, São Paulo"`
	Email      string          `json:"email" doc:"Empty if it names none." example:"shop@example.com"`
	Categories []string        `json:"categories" nullable:"false" doc:"What sort of business it is, in the platform's words." example:"Shopping & retail"`
	TimeZone   string          `json:"timeZone" doc:"Time zone of the hours; empty if it names none." example:"America/Sao_Paulo"`
	Hours      []BusinessHours `json:"hours" nullable:"false" doc:"When it is open; empty if it does not say."`
}

// TransformSchema permits null in place of the object, for which huma has no tag.
func (Business) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

// BusinessHours is when a business is open on a day.
type BusinessHours struct {
	Day    string `json:"day" doc:"The day, as the platform writes it." example:"mon"`
	Mode   string `json:"mode" doc:"specific_hours, open_24h or appointment_only." example:"specific_hours"`
	Opens  string `json:"opens" doc:"Minutes after midnight; empty with other modes." example:"480"`
	Closes string `json:"closes" doc:"Minutes after midnight; empty with other modes." example:"1080"`
}

func newOwnProfile(of gateway.OwnProfile) Profile {
	shown := Profile{
		ID: string(of.JID), LID: contract.TextOrNil(string(of.LID)), Name: of.Name, About: of.About, Picture: contract.TextOrNil(of.PictureURL),
	}
	shown.Business = newBusiness(of.Business)
	return shown
}

// newBusiness shows what a business says of itself; nil for none.
func newBusiness(of *gateway.Business) *Business {
	if of == nil {
		return nil
	}
	shown := &Business{
		Address: of.Address, Email: of.Email, TimeZone: of.TimeZone,
		Categories: append([]string{}, of.Categories...), Hours: make([]BusinessHours, len(of.Hours)),
	}
	for i, hours := range of.Hours {
		shown.Hours[i] = BusinessHours(hours)
	}
	return shown
}

func (r profiles) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getProfile", Tag: tagProfiles,
		Summary:     "Get the profile of the account",
		Description: "Returns what others see of the messenger account of this instance, as far as its privacy settings let them. The platform is asked.",
		Codes:       sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, _ *contract.InstancePath) (Profile, error) {
		return contract.Answered(newOwnProfile)(r.use.Get(ctx, contract.Instance(ctx).ID))
	})
}

type profileChangeBody struct {
	Name    *string `json:"name,omitempty" minLength:"1" maxLength:"25" doc:"The name that the account goes by, at most 25 characters. It can't be removed." example:"Corner shop"`
	About   *string `json:"about,omitempty" nullable:"true" maxLength:"139" doc:"What the account says about itself, at most 139 characters; null or empty removes it." example:"Open from 8 to 18"`
	Picture *string `json:"picture,omitempty" nullable:"true" minLength:"1" format:"media" doc:"Picture of the account: a base64 data URI, an http(s) URL, or an upload (upload:<id>); null removes it. It is made small, and square." sample:"-"`
}

type changeProfileInput struct {
	contract.InstancePath
	contract.JSON[profileChangeBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changeProfileInput) change(ctx context.Context) (profile.Change, error) {
	if err := in.RefuseUnknown(); err != nil {
		return profile.Change{}, err
	}
	var wrong fieldErrors
	wrong.refuseNull(in, "name")
	given := in.Given()
	change := profile.Change{Name: given.Name, About: given.About}
	if in.IsNull("about") {
		change.About = new(string)
	}
	if change.Picture = pictureIn(ctx, orZero(given.Picture)); in.IsNull("picture") {
		change.Picture = &media.Picture{}
	}
	if len(wrong) == 0 && change == (profile.Change{}) {
		return change, nothingToChange()
	}
	return change, wrong.err()
}

func (r profiles) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeProfile", Tag: tagProfiles,
		Summary: "Change the profile of the account",
		Description: "Changes what the body names and leaves the rest; everybody sees it, on the phone too. If a field is wrong, nothing is changed. The platform has a request for each field: " +
			"if it refuses one after others were changed, the error says in its message which were changed and which were not.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeProfileRefused, gateway.CodeNotSynced, gateway.CodeMediaFetchFailed),
	}, func(ctx context.Context, in *changeProfileInput) (Profile, error) {
		change, err := in.change(ctx)
		if err != nil {
			return Profile{}, err
		}
		return contract.Answered(newOwnProfile)(r.use.Change(ctx, contract.Instance(ctx).ID, change))
	})
}

// ListedPerson is somebody in a list of people.
type ListedPerson struct {
	ID   string  `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID  *string `json:"lid" nullable:"true" doc:"The LID; null where it is not known." example:"174823206119742@lid"`
	Name *string `json:"name" nullable:"true" doc:"The name that the person goes by; null where it is not known." example:"Ana Souza"`
}

func newListedPerson(who gateway.Party) ListedPerson {
	return ListedPerson{ID: string(who.Address()), LID: contract.TextOrNil(string(who.LID)), Name: contract.TextOrNil(who.Name)}
}

func (r profiles) blocks() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listBlocks", Tag: tagProfiles,
		Summary: "List blocked people",
		Description: "Lists the people whom the account has blocked, here or on the phone, in the order of their addresses. The platform is asked once in a " +
			"connection, with one question for all; afterwards its reports of changes are followed.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[ListedPerson], error) {
		return contract.Listed(in.Paging, newListedPerson)(r.use.Blocked(ctx, contract.Instance(ctx).ID, in.Request()))
	})
}

func (r profiles) block() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagProfiles, Codes: sessionCodes(gateway.CodeValidation, gateway.CodeNotRegistered, gateway.CodeBlockRefused)},
		contract.Named{
			ID: "putBlock", Summary: "Block somebody",
			Description: "The person can't write to this account or call it any more, and sees one tick. Blocking somebody who is blocked changes nothing.",
		},
		contract.Named{
			ID: "deleteBlock", Summary: "Unblock somebody",
			Description: "The person can write to this account again. Unblocking somebody who is not blocked changes nothing.",
		},
		func(ctx context.Context, in *PersonPath, on bool) error {
			return r.blocking.Block(ctx, contract.Instance(ctx).ID, in.person, on)
		})
}

// Privacy is what the account lets others see and do.
type Privacy struct {
	LastSeen       *string `json:"lastSeen" nullable:"true" enum:"all,contacts,contacts_except,none" doc:"Who sees when the account was last online. contacts_except: all contacts but those whom the phone excludes. Here and below, null if the platform says something that the gateway does not know." example:"contacts"`
	Online         *string `json:"online" nullable:"true" enum:"all,same_as_last_seen" doc:"Who sees that it is online." example:"all"`
	ProfilePicture *string `json:"profilePicture" nullable:"true" enum:"all,contacts,contacts_except,none" doc:"Who sees its picture." example:"all"`
	About          *string `json:"about" nullable:"true" enum:"all,contacts,contacts_except,none" doc:"Who sees what it says about itself." example:"all"`
	ReadReceipts   *bool   `json:"readReceipts" nullable:"true" doc:"Whether others learn that their messages were read; if not, this account does not learn it either." example:"true"`
	Groups         *string `json:"groups" nullable:"true" enum:"all,contacts,contacts_except,none" doc:"Who adds the account to groups; others have to invite it." example:"contacts"`
	Calls          *string `json:"calls" nullable:"true" enum:"all,known" doc:"Whose calls ring. known: of people who were written to, or are contacts." example:"all"`
	Messages       *string `json:"messages" nullable:"true" enum:"all,contacts" doc:"Who writes to the account." example:"all"`
	Disappearing   int64   `json:"disappearing" doc:"After how many seconds messages disappear in chats that begin from now on; 0: never." example:"0"`
}

func newPrivacy(of gateway.Privacy) Privacy {
	choice := func(setting gateway.PrivacySetting, of gateway.Privacy) *string {
		return contract.TextOrNil(string(of.Choices[setting]))
	}
	shown := Privacy{
		LastSeen: choice(gateway.PrivacyLastSeen, of), Online: choice(gateway.PrivacyOnline, of), ProfilePicture: choice(gateway.PrivacyPicture, of),
		About: choice(gateway.PrivacyAbout, of), Groups: choice(gateway.PrivacyGroups, of), Calls: choice(gateway.PrivacyCalls, of),
		Messages: choice(gateway.PrivacyMessages, of), Disappearing: int64(of.Disappearing.Seconds()),
	}
	switch of.Choices[gateway.PrivacyReadReceipts] {
	case gateway.PrivacyAll:
		shown.ReadReceipts = new(true)
	case gateway.PrivacyNone:
		shown.ReadReceipts = new(false)
	default: // not known
	}
	return shown
}

func (r profiles) privacy() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPrivacy", Tag: tagProfiles,
		Summary: "Get the privacy settings", Description: "Returns what the messenger account of this instance lets others see and do. The platform is asked.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, _ *contract.InstancePath) (Privacy, error) {
		return contract.Answered(newPrivacy)(r.use.Privacy(ctx, contract.Instance(ctx).ID))
	})
}

type privacyChangeBody struct {
	LastSeen       *string `json:"lastSeen,omitempty" enum:"all,contacts,none" doc:"Who sees when the account was last online. Exceptions among the contacts are made on the phone." example:"contacts"`
	Online         *string `json:"online,omitempty" enum:"all,same_as_last_seen" doc:"Who sees that it is online." example:"same_as_last_seen"`
	ProfilePicture *string `json:"profilePicture,omitempty" enum:"all,contacts,none" doc:"Who sees its picture." example:"contacts"`
	About          *string `json:"about,omitempty" enum:"all,contacts,none" doc:"Who sees what it says about itself." example:"contacts"`
	ReadReceipts   *bool   `json:"readReceipts,omitempty" doc:"Whether others learn that their messages were read, and this account that its own were. Groups always have these receipts." example:"false"`
	Groups         *string `json:"groups,omitempty" enum:"all,contacts,none" doc:"Who adds the account to groups." example:"contacts"`
	Calls          *string `json:"calls,omitempty" enum:"all,known" doc:"Whose calls ring." example:"known"`
	Messages       *string `json:"messages,omitempty" enum:"all,contacts" doc:"Who writes to the account." sample:"-"`
	Disappearing   *int64  `json:"disappearing,omitempty" minimum:"0" maximum:"7776000" doc:"After how many seconds messages disappear in chats that begin from now on: 86400 (a day), 604800 (a week) or 7776000 (90 days); 0: never." example:"604800"`
}

type changePrivacyInput struct {
	contract.InstancePath
	contract.JSON[privacyChangeBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changePrivacyInput) change() (profile.PrivacyChange, error) {
	change := profile.PrivacyChange{Choices: map[gateway.PrivacySetting]gateway.PrivacyChoice{}}
	if err := in.RefuseUnknown(); err != nil {
		return change, err
	}
	given := in.Given()
	var wrong fieldErrors
	wrong.refuseNull(in, "lastSeen", "online", "profilePicture", "about", "readReceipts", "groups", "calls", "messages", "disappearing")
	change.Disappearing = wrong.disappearing("disappearing", given.Disappearing)
	for setting, choice := range map[gateway.PrivacySetting]*string{
		gateway.PrivacyLastSeen: given.LastSeen, gateway.PrivacyOnline: given.Online, gateway.PrivacyPicture: given.ProfilePicture,
		gateway.PrivacyAbout: given.About, gateway.PrivacyGroups: given.Groups, gateway.PrivacyCalls: given.Calls, gateway.PrivacyMessages: given.Messages,
	} {
		if choice != nil {
			change.Choices[setting] = gateway.PrivacyChoice(*choice)
		}
	}
	if given.ReadReceipts != nil {
		change.Choices[gateway.PrivacyReadReceipts] = gateway.PrivacyNone
		if *given.ReadReceipts {
			change.Choices[gateway.PrivacyReadReceipts] = gateway.PrivacyAll
		}
	}
	if len(wrong) == 0 && len(change.Choices) == 0 && change.Disappearing == nil {
		return change, nothingToChange()
	}
	return change, wrong.err()
}

func (r profiles) changePrivacy() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changePrivacy", Tag: tagProfiles,
		Summary: "Change the privacy settings",
		Description: "Changes what the body names and leaves the rest, on the phone too. The platform has a request for each setting: " +
			"if it refuses one after others were changed, the error says in its message which were changed and which were not.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodePrivacyRefused),
	}, func(ctx context.Context, in *changePrivacyInput) (Privacy, error) {
		change, err := in.change()
		if err != nil {
			return Privacy{}, err
		}
		return contract.Answered(newPrivacy)(r.use.ChangePrivacy(ctx, contract.Instance(ctx).ID, change))
	})
}

// StatusAudience is a page of the people who see the status posts of the account.
type StatusAudience struct {
	Rule string `json:"rule" enum:"contacts,only,contacts_except" doc:"What the owner of the account has chosen on the phone: the address book, some people only, or the address book without some people." example:"contacts"`

	contract.Envelope[ListedPerson]
}

func (r profiles) audience() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listStatusAudience", Tag: tagProfiles,
		Summary: "List who sees the status posts",
		Description: "Lists the people to whom a status post goes that is written now, in the order of their addresses, and what the owner of the account has chosen " +
			"for that on the phone. The platform is asked for the choice, and the address book is that of the phone.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, in *instanceList) (StatusAudience, error) {
		found, err := r.use.StatusAudience(ctx, contract.Instance(ctx).ID)
		if err != nil {
			return StatusAudience{}, err
		}
		page := gateway.PageOf(found.People, in.Request())
		return StatusAudience{
			Rule:     string(found.Rule),
			Envelope: contract.NewEnvelope(in.Paging, page, newListedPerson),
		}, nil
	})
}
