// How groups are made and changed.

package groups

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/media"
)

type createBody struct {
	Subject      string   `json:"subject" minLength:"1" maxLength:"100" doc:"Name of the group, at most 100 characters." example:"Support team"`
	Participants []string `json:"participants,omitempty" nullable:"false" maxItems:"256" minLength:"1" format:"recipient" doc:"People to add, at most 256: phone numbers, personal chat IDs or LIDs. This account is a member anyway." example:"5511988887766"`
	Description  string   `json:"description,omitempty" maxLength:"2048" doc:"Description of the group, at most 2,048 characters." example:"Questions of customers"`
	Picture      string   `json:"picture,omitempty" minLength:"1" format:"media" doc:"Picture of the group: a base64 data URI, or an http(s) URL. It is made small enough." sample:"-"`
	Invite       bool     `json:"invite,omitempty" fingerprint:"if set" default:"false" doc:"Send the platform's invitation, as a message, to whoever can't be added because of their privacy settings." sample:"-"`
	CommunityID  string   `json:"communityId,omitempty" doc:"Community in which the group is made; this account must be an administrator of it." sample:"-"`
}

type createInput struct {
	contract.InstancePath
	contract.JSON[createBody]
}

// Created is a group that was made.
type Created struct {
	Details

	Results []Result     `json:"results" nullable:"false" doc:"What became of each of the participants, in their order."`
	Failed  []FailedPart `json:"failed" nullable:"false" doc:"What the platform refused after the group was made; usually empty."`
}

// FailedPart is a field of a request that could not be set.
type FailedPart struct {
	Field   string `json:"field" doc:"The field of the request." example:"picture"`
	Error   string `json:"error" doc:"Code of the refusal." example:"PLATFORM_ERROR"`
	Message string `json:"message" doc:"Why, for people."`
}

func (r resource) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createGroup", Tag: Tag, Status: http.StatusCreated,
		Summary: "Create a group",
		Description: "Makes a group with this account as its owner. Whoever can't be added is named in `results` with a code; the group is made all the same. " +
			"Description and picture are set afterwards; if the platform refuses one of them, `failed` says so.",
		Codes: append(sessionCodes(), gateway.CodeMediaFetchFailed, gateway.CodeGroupAdminRequired, gateway.CodeGroupNotFound, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *createInput) (*contract.Answer[Created], error) {
		given := in.Given()
		people, err := parsePeople(given.Participants)
		if err != nil {
			return nil, err
		}
		draft := group.Draft{Subject: given.Subject, Description: given.Description, People: people, Picture: picture(ctx, given.Picture), Invite: given.Invite}
		if given.CommunityID != "" {
			community, ok := gateway.ParseJID(given.CommunityID)
			if !ok || !community.IsGroup() {
				return nil, gateway.InvalidFields(gateway.FieldError{Field: "communityId", Message: "must be a group chat ID ending in @" + gateway.GroupSuffix})
			}
			draft.Community = community
		}
		created, err := r.use.Create(ctx, contract.Instance(ctx).ID, draft)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Created]{Body: newCreated(created, given.Participants)}, nil
	})
}

func newCreated(created group.Created, named []string) Created {
	shown := Created{Details: newDetails(created.Group), Results: newResults(named, created.Results), Failed: []FailedPart{}}
	for _, failed := range created.Failed {
		shown.Failed = append(shown.Failed, FailedPart{Field: failed.Field, Error: failed.Refusal.Code, Message: failed.Refusal.Message})
	}
	return shown
}

// picture is the picture that a body holds; nil for none.
func picture(ctx context.Context, input string) *group.Picture {
	hints := media.Hints{Field: "picture"}
	if inline := contract.Media(ctx); inline != nil {
		hints.Decoded = inline
		return &group.Picture{Hints: hints}
	}
	if input == "" {
		return nil
	}
	return &group.Picture{Input: input, Hints: hints}
}

type changeGroupBody struct {
	Subject      *string `json:"subject,omitempty" minLength:"1" maxLength:"100" doc:"Name of the group, at most 100 characters. It can't be removed." example:"Support team"`
	Description  *string `json:"description,omitempty" nullable:"true" maxLength:"2048" doc:"Description of the group, at most 2,048 characters; null or empty removes it." example:"Questions of customers"`
	Picture      *string `json:"picture,omitempty" nullable:"true" minLength:"1" format:"media" doc:"Picture of the group: a base64 data URI, or an http(s) URL; null removes it." sample:"-"`
	Messages     *string `json:"messages,omitempty" enum:"all,admins" doc:"Who writes: all members, or administrators only." example:"admins"`
	Info         *string `json:"info,omitempty" enum:"all,admins" doc:"Who changes subject, description and picture." example:"admins"`
	Adding       *string `json:"adding,omitempty" enum:"all,admins" doc:"Who adds people." example:"admins"`
	Approval     *bool   `json:"approval,omitempty" doc:"Whether those who follow the invite link wait for an administrator." example:"true"`
	Disappearing *int64  `json:"disappearing,omitempty" minimum:"0" maximum:"7776000" doc:"After how many seconds messages disappear: 86400 (a day), 604800 (a week) or 7776000 (90 days); 0: never." example:"604800"`
}

type changeInput struct {
	Path
	contract.JSON[changeGroupBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changeInput) change(ctx context.Context) (group.Change, error) {
	if err := in.RefuseUnknown(); err != nil {
		return group.Change{}, err
	}
	given := in.Given()
	var wrong []gateway.FieldError
	for _, field := range []string{"subject", "messages", "info", "adding", "approval", "disappearing"} {
		if in.IsNull(field) {
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must not be null: leave it out to change nothing"})
		}
	}
	if given.Disappearing != nil && !slices.Contains([]int64{0, 86_400, 604_800, 7_776_000}, *given.Disappearing) {
		wrong = append(wrong, gateway.FieldError{Field: "disappearing", Message: "must be one of: 0, 86400, 604800, 7776000"})
	}
	if len(wrong) > 0 {
		return group.Change{}, gateway.InvalidFields(wrong...)
	}
	change := group.Change{
		Subject: given.Subject, Description: given.Description, AdminsWrite: admins(given.Messages), AdminsEdit: admins(given.Info),
		AdminsAdd: admins(given.Adding), Approval: given.Approval,
	}
	if in.IsNull("description") {
		change.Description = new(string)
	}
	input := ""
	if given.Picture != nil {
		input = *given.Picture
	}
	if change.Picture = picture(ctx, input); in.IsNull("picture") {
		change.Picture = &group.Picture{}
	}
	if given.Disappearing != nil {
		change.Disappearing = new(time.Duration(*given.Disappearing) * time.Second)
	}
	if change == (group.Change{}) {
		return group.Change{}, gateway.InvalidFields(gateway.FieldError{Field: "body", Message: "must have a field to change"})
	}
	return change, nil
}

func admins(who *string) *bool {
	if who == nil {
		return nil
	}
	return new(*who == admin)
}

func (r resource) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeGroup", Tag: Tag,
		Summary: "Change a group",
		Description: "Changes what the body names and leaves the rest. If a field is wrong, nothing is changed. The platform has a request for each field: " +
			"if it refuses one after others were changed, the error says in its message which were changed and which were not.",
		Codes: codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeMediaFetchFailed),
	}, func(ctx context.Context, in *changeInput) (*contract.Answer[Details], error) {
		change, err := in.change(ctx)
		if err != nil {
			return nil, err
		}
		changed, err := r.use.Change(ctx, contract.Instance(ctx).ID, in.group, change)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Details]{Body: newDetails(changed)}, nil
	})
}
