// The privacy settings of the account.

package profiles

import (
	"context"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/profile"
)

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

func (r resource) privacy() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPrivacy", Tag: Tag,
		Summary: "Get the privacy settings", Description: "Returns what the messenger account of this instance lets others see and do. The platform is asked.",
		Codes: codes(),
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Answer[Privacy], error) {
		found, err := r.use.Privacy(ctx, contract.Instance(ctx).ID)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Privacy]{Body: newPrivacy(found)}, nil
	})
}

type changePrivacyBody struct {
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
	contract.JSON[changePrivacyBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changePrivacyInput) change() (profile.PrivacyChange, error) {
	none := profile.PrivacyChange{}
	if err := in.RefuseUnknown(); err != nil {
		return none, err
	}
	var wrong []gateway.FieldError
	for _, field := range []string{"lastSeen", "online", "profilePicture", "about", "readReceipts", "groups", "calls", "messages", "disappearing"} {
		if in.IsNull(field) {
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must not be null: leave it out to change nothing"})
		}
	}
	given := in.Given()
	if given.Disappearing != nil && !slices.Contains([]int64{0, 86_400, 604_800, 7_776_000}, *given.Disappearing) {
		wrong = append(wrong, gateway.FieldError{Field: "disappearing", Message: "must be one of: 0, 86400, 604800, 7776000"})
	}
	if len(wrong) > 0 {
		return none, gateway.InvalidFields(wrong...)
	}
	change := profile.PrivacyChange{Choices: map[gateway.PrivacySetting]gateway.PrivacyChoice{}}
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
	if given.Disappearing != nil {
		change.Disappearing = new(time.Duration(*given.Disappearing) * time.Second)
	}
	if len(change.Choices) == 0 && change.Disappearing == nil {
		return none, gateway.InvalidFields(gateway.FieldError{Field: "body", Message: "must have a field to change"})
	}
	return change, nil
}

func (r resource) changePrivacy() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changePrivacy", Tag: Tag,
		Summary: "Change the privacy settings",
		Description: "Changes what the body names and leaves the rest, on the phone too. The platform has a request for each setting: " +
			"if it refuses one after others were changed, the error says in its message which were changed and which were not.",
		Codes: codes(gateway.CodePrivacyRefused),
	}, func(ctx context.Context, in *changePrivacyInput) (*contract.Answer[Privacy], error) {
		change, err := in.change()
		if err != nil {
			return nil, err
		}
		changed, err := r.use.ChangePrivacy(ctx, contract.Instance(ctx).ID, change)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Privacy]{Body: newPrivacy(changed)}, nil
	})
}
