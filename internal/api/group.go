// Groups: listing, making, changing, leaving.

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/media"
)

// Groups are the use cases of groups and communities.
type Groups interface {
	OwnGroups
	Members
	Invites
	Communities
}

// OwnGroups are the use cases of the groups that the account is in.
type OwnGroups interface {
	Get(ctx context.Context, instanceID string, id gateway.JID) (gateway.Group, error)
	List(ctx context.Context, instanceID string, filter group.Filter, page gateway.PageRequest) (gateway.Page[gateway.Group], error)
	Create(ctx context.Context, instanceID string, draft group.Draft) (group.Created, error)
	Change(ctx context.Context, instanceID string, id gateway.JID, change group.Change) (gateway.Group, error)
	Leave(ctx context.Context, instanceID string, id gateway.JID) error
}

// Members are the use cases of the people in a group, and of those who wait.
type Members interface {
	ChangeMembers(ctx context.Context, instanceID string, id gateway.JID, action gateway.MemberAction, people []gateway.Recipient, invite bool) ([]gateway.MemberResult, error)
	JoinRequests(ctx context.Context, instanceID string, id gateway.JID) ([]gateway.JoinRequest, error)
	AnswerJoinRequests(ctx context.Context, instanceID string, id gateway.JID, approve bool, people []gateway.Recipient) ([]gateway.MemberResult, error)
}

// Invites are the use cases of the links of groups.
type Invites interface {
	Invite(ctx context.Context, instanceID string, id gateway.JID, reset bool) (code string, err error)
	LookAt(ctx context.Context, instanceID, code string) (gateway.Group, error)
	Join(ctx context.Context, instanceID, code string) (id gateway.JID, joined bool, err error)
}

// Communities are the use cases of groups that belong to others.
type Communities interface {
	Linked(ctx context.Context, instanceID string, community gateway.JID, page gateway.PageRequest) (gateway.Page[gateway.Group], error)
	Link(ctx context.Context, instanceID string, community, group gateway.JID, linked bool) error
}

// groups is the resource of groups and communities.
type groups struct{ use Groups }

// groupCodes are the refusals of every operation on one group.
func groupCodes(more ...string) []string {
	return sessionCodes(append(more, gateway.CodeValidation, gateway.CodeGroupNotFound)...)
}

// GroupPath is the path of a group.
type GroupPath struct {
	contract.InstancePath

	GroupID string `path:"groupId" doc:"Group chat ID." example:"120363041234567890@g.us"`

	group gateway.JID
}

// Resolve reads the group chat ID.
func (p *GroupPath) Resolve(huma.Context) (errs []error) {
	p.group, errs = parseGroup("groupId", p.GroupID)
	return errs
}

// CommunityPath is the path of a community.
type CommunityPath struct {
	contract.InstancePath

	CommunityID string `path:"communityId" doc:"Chat ID of the community." example:"120363041234567890@g.us"`

	community gateway.JID
}

// Resolve reads the chat ID of the community.
func (p *CommunityPath) Resolve(huma.Context) (errs []error) {
	p.community, errs = parseGroup("communityId", p.CommunityID)
	return errs
}

func parseGroup(field, text string) (gateway.JID, []error) {
	id, ok := gateway.ParseJID(text)
	if !ok || !id.IsGroup() {
		return "", contract.Wrong(field, "must be a group chat ID ending in @"+gateway.GroupSuffix)
	}
	return id, nil
}

// GroupDetails are what is known about a group without its members.
type GroupDetails struct {
	ID          string  `json:"id" doc:"Group chat ID." example:"120363041234567890@g.us"`
	Subject     string  `json:"subject" doc:"Name of the group." example:"Support team"`
	Description *string `json:"description" nullable:"true" doc:"Description of the group; null if there is none." example:"Questions of customers"`
	Owner       *string `json:"owner" nullable:"true" doc:"Personal chat ID of the owner, or the LID if the number is not known; null if the group has no owner." example:"5511999990000@s.whatsapp.net"`
	Creation    int64   `json:"creation" doc:"When the group was created, Unix time in seconds; 0 if unknown." example:"1795012930"`
	Size        int64   `json:"size" doc:"How many members it has; 0 if unknown." example:"12"`
	Admin       *string `json:"admin" nullable:"true" enum:"superadmin,admin" doc:"Role of this account, if it is an administrator; null if it is not." example:"admin"`

	Messages     string `json:"messages" enum:"all,admins" doc:"Who writes: all members, or administrators only." example:"all"`
	Info         string `json:"info" enum:"all,admins" doc:"Who changes subject, description and picture." example:"admins"`
	Adding       string `json:"adding" enum:"all,admins" doc:"Who adds people." example:"all"`
	Approval     bool   `json:"approval" doc:"Whether those who follow the invite link wait for an administrator." example:"false"`
	Disappearing int64  `json:"disappearing" doc:"After how many seconds messages disappear; 0: never." example:"0"`

	CommunityID  *string `json:"communityId" nullable:"true" doc:"Community that the group belongs to; null if there is none."`
	IsCommunity  bool    `json:"isCommunity" doc:"Whether it is a community: other groups belong to it, and nobody writes in it." example:"false"`
	Announcement bool    `json:"announcement" doc:"Whether it is the group in which its community announces." example:"false"`
}

func newDetails(of gateway.Group) GroupDetails {
	return GroupDetails{
		ID: string(of.ID), Subject: of.Subject, Description: contract.TextOrNil(of.Description),
		Owner: contract.TextOrNil(string(of.Owner.Address())), Creation: createdAt(of), Size: int64(of.Size),
		Admin: contract.TextOrNil(string(of.Role)), Messages: whoMay(of.Rules.AdminsWrite), Info: whoMay(of.Rules.AdminsEdit),
		Adding: whoMay(of.Rules.AdminsAdd), Approval: of.Rules.Approval, Disappearing: int64(of.Rules.Disappearing.Seconds()),
		CommunityID: contract.TextOrNil(string(of.Community)), IsCommunity: of.IsCommunity, Announcement: of.Announces,
	}
}

func whoMay(admins bool) string {
	if admins {
		return onlyAdmins
	}
	return "all"
}

// onlyAdmins is the value of a setting that only administrators have.
const onlyAdmins = "admins"

type listGroupsInput struct {
	contract.InstancePath
	contract.Paging

	Subject string `query:"subject" maxLength:"100" doc:"Only groups whose subject has this text, in upper or lower case."`
}

func (r groups) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listGroups", Tag: tagGroups,
		Summary: "List groups",
		Description: "Lists the groups and communities of this account, oldest first, without their members. The platform is asked once in a " +
			"connection, with one question for all groups; afterwards its reports of changes are followed. While the instance is not connected, the groups are those that were listed last, as they were then; " +
			"it is INSTANCE_NOT_CONNECTED if they never were since the instance was linked. One that is not linked has none.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, in *listGroupsInput) (contract.Envelope[GroupDetails], error) {
		return contract.Listed(in.Paging, newDetails)(r.use.List(ctx, contract.Instance(ctx).ID, group.Filter{Subject: in.Subject}, in.Request()))
	})
}

func (r groups) settings() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getGroupSettings", Tag: tagGroups,
		Summary: "Get the settings of a group", Description: "Returns what the list has of a group: who may do what in it, how many members it has, and its community.",
		Codes: groupCodes(),
	}, func(ctx context.Context, in *GroupPath) (GroupDetails, error) {
		return contract.Answered(newDetails)(r.use.Get(ctx, contract.Instance(ctx).ID, in.group))
	})
}

func (r groups) leave() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "leaveGroup", Tag: tagGroups, Destructive: true,
		Summary: "Leave a group", Description: "This account is no member of the group any more. The other members see that it left.",
		Codes: groupCodes(),
	}, func(ctx context.Context, in *GroupPath) error {
		return r.use.Leave(ctx, contract.Instance(ctx).ID, in.group)
	})
}

// Group is a group that the account is a member of.
type Group struct {
	ID           string        `json:"id" doc:"Group chat ID." example:"120363041234567890@g.us"`
	Subject      string        `json:"subject" doc:"Name of the group." example:"Support team"`
	Description  *string       `json:"description" nullable:"true" doc:"Description of the group; null if there is none." example:"Questions of customers"`
	Owner        *string       `json:"owner" nullable:"true" doc:"Personal chat ID of the owner, or the LID if the number is not known; null if the group has no owner." example:"5511999990000@s.whatsapp.net"`
	Creation     int64         `json:"creation" doc:"When the group was created, Unix time in seconds; 0 if unknown." example:"1795012930"`
	Participants []Participant `json:"participants" nullable:"false" doc:"Members of the group."`
}

// Participant is a member of a group.
type Participant struct {
	ID    string  `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511999990000@s.whatsapp.net"`
	Admin *string `json:"admin" nullable:"true" enum:"superadmin,admin" doc:"Role of an administrator; null for an ordinary member." example:"superadmin"`
}

func (r groups) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getGroup", Tag: tagGroups,
		Summary: "Get a group", Description: "Returns the data of a group that this account is a member of.",
		Codes: groupCodes(),
	}, func(ctx context.Context, in *GroupPath) (Group, error) {
		return contract.Answered(newGroup)(r.use.Get(ctx, contract.Instance(ctx).ID, in.group))
	})
}

func newGroup(of gateway.Group) Group {
	shown := Group{
		ID:           string(of.ID),
		Subject:      of.Subject,
		Description:  contract.TextOrNil(of.Description),
		Owner:        contract.TextOrNil(string(of.Owner.Address())),
		Creation:     createdAt(of),
		Participants: make([]Participant, len(of.Participants)),
	}
	for i, participant := range of.Participants {
		shown.Participants[i] = Participant{
			ID: string(participant.Party.Address()), Admin: contract.TextOrNil(string(participant.Role)),
		}
	}
	return shown
}

// createdAt is when a group was created, as the contract spells it.
func createdAt(of gateway.Group) int64 {
	if of.CreatedAt.IsZero() {
		return 0
	}
	return of.CreatedAt.Unix()
}

type newGroupBody struct {
	Subject      string   `json:"subject" minLength:"1" maxLength:"100" doc:"Name of the group, at most 100 characters." example:"Support team"`
	Participants []string `json:"participants,omitempty" nullable:"false" maxItems:"256" minLength:"1" format:"recipient" doc:"People to add, at most 256: phone numbers, personal chat IDs or LIDs. This account is a member anyway." example:"5511988887766"`
	Description  string   `json:"description,omitempty" maxLength:"2048" doc:"Description of the group, at most 2,048 characters." example:"Questions of customers"`
	Picture      string   `json:"picture,omitempty" minLength:"1" format:"media" doc:"Picture of the group: a base64 data URI, an http(s) URL, or an upload (upload:<id>). It is made small enough." sample:"-"`
	Invite       bool     `json:"invite,omitempty" fingerprint:"if set" default:"false" doc:"Send the platform's invitation, as a message, to whoever can't be added because of their privacy settings." sample:"-"`
	CommunityID  string   `json:"communityId,omitempty" doc:"Community in which the group is made; this account must be an administrator of it." sample:"-"`
}

// CreatedGroup is a group that was made.
type CreatedGroup struct {
	GroupDetails

	Results []ParticipantResult `json:"results" nullable:"false" doc:"What became of each of the participants, in their order."`
	Failed  []FailedPart        `json:"failed" nullable:"false" doc:"What the platform refused after the group was made; usually empty."`
}

// FailedPart is a field of a request that could not be set.
type FailedPart struct {
	Field   string `json:"field" doc:"The field of the request." example:"picture"`
	Error   string `json:"error" doc:"Code of the refusal." example:"PLATFORM_ERROR"`
	Message string `json:"message" doc:"Why, for people."`
}

func (r groups) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createGroup", Tag: tagGroups, Status: http.StatusCreated,
		Summary: "Create a group",
		Description: "Makes a group with this account as its owner. People who can't be added are named in `results` with a code; the group is made anyway. " +
			"Description and picture are set afterwards; if the platform refuses one of them, `failed` says so.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeMediaFetchFailed, gateway.CodeGroupAdminRequired, gateway.CodeGroupNotFound, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *instanceBody[newGroupBody]) (CreatedGroup, error) {
		given := in.Given()
		people, err := parseParticipants(given.Participants)
		if err != nil {
			return CreatedGroup{}, err
		}
		draft := group.Draft{Subject: given.Subject, Description: given.Description, People: people, Picture: pictureIn(ctx, given.Picture), Invite: given.Invite}
		if given.CommunityID != "" {
			community, ok := gateway.ParseJID(given.CommunityID)
			if !ok || !community.IsGroup() {
				return CreatedGroup{}, gateway.InvalidField("communityId", "must be a group chat ID ending in @"+gateway.GroupSuffix)
			}
			draft.Community = community
		}
		created, err := r.use.Create(ctx, contract.Instance(ctx).ID, draft)
		return newCreated(created, given.Participants), err
	})
}

func newCreated(created group.Created, named []string) CreatedGroup {
	shown := CreatedGroup{GroupDetails: newDetails(created.Group), Results: newResults(named, created.Results), Failed: []FailedPart{}}
	for _, failed := range created.Failed {
		shown.Failed = append(shown.Failed, FailedPart{Field: failed.Field, Error: failed.Refusal.Code, Message: failed.Refusal.Message})
	}
	return shown
}

type groupChangeBody struct {
	Subject      *string `json:"subject,omitempty" minLength:"1" maxLength:"100" doc:"Name of the group, at most 100 characters. It can't be removed." example:"Support team"`
	Description  *string `json:"description,omitempty" nullable:"true" maxLength:"2048" doc:"Description of the group, at most 2,048 characters; null or empty removes it." example:"Questions of customers"`
	Picture      *string `json:"picture,omitempty" nullable:"true" minLength:"1" format:"media" doc:"Picture of the group: a base64 data URI, an http(s) URL, or an upload (upload:<id>); null removes it." sample:"-"`
	Messages     *string `json:"messages,omitempty" enum:"all,admins" doc:"Who writes: all members, or administrators only." example:"admins"`
	Info         *string `json:"info,omitempty" enum:"all,admins" doc:"Who changes subject, description and picture." example:"admins"`
	Adding       *string `json:"adding,omitempty" enum:"all,admins" doc:"Who adds people." example:"admins"`
	Approval     *bool   `json:"approval,omitempty" doc:"Whether those who follow the invite link wait for an administrator." example:"true"`
	Disappearing *int64  `json:"disappearing,omitempty" minimum:"0" maximum:"7776000" doc:"After how many seconds messages disappear: 86400 (a day), 604800 (a week) or 7776000 (90 days); 0: never." example:"604800"`
}

type changeGroupInput struct {
	GroupPath
	contract.JSON[groupChangeBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changeGroupInput) change(ctx context.Context) (group.Change, error) {
	if err := in.RefuseUnknown(); err != nil {
		return group.Change{}, err
	}
	given := in.Given()
	var wrong fieldErrors
	wrong.refuseNull(in, "subject", "messages", "info", "adding", "approval", "disappearing")
	change := group.Change{
		Subject: given.Subject, Description: given.Description, AdminsWrite: forAdmins(given.Messages), AdminsEdit: forAdmins(given.Info),
		AdminsAdd: forAdmins(given.Adding), Approval: given.Approval, Disappearing: wrong.disappearing("disappearing", given.Disappearing),
	}
	if in.IsNull("description") {
		change.Description = new(string)
	}
	if change.Picture = pictureIn(ctx, orZero(given.Picture)); in.IsNull("picture") {
		change.Picture = &media.Picture{}
	}
	if len(wrong) == 0 && change == (group.Change{}) {
		return change, nothingToChange()
	}
	return change, wrong.err()
}

func forAdmins(who *string) *bool {
	if who == nil {
		return nil
	}
	return new(*who == onlyAdmins)
}

func (r groups) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeGroup", Tag: tagGroups,
		Summary: "Change a group",
		Description: "Changes what the body names and leaves the rest. If a field is wrong, nothing is changed. The platform has a request for each field: " +
			"if it refuses one after others were changed, the error says in its message which were changed and which were not.",
		Codes: groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeMediaFetchFailed),
	}, func(ctx context.Context, in *changeGroupInput) (GroupDetails, error) {
		change, err := in.change(ctx)
		if err != nil {
			return GroupDetails{}, err
		}
		return contract.Answered(newDetails)(r.use.Change(ctx, contract.Instance(ctx).ID, in.group, change))
	})
}
