// Package groups holds the resources of groups and communities in the HTTP API: their
// requests and answers, and the part of the use cases that they need. The table of routes
// is in the room api.
package groups

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
)

// Tag groups the operations in the document and on the reference page.
const Tag = "Groups"

// UseCases are the use cases of groups and communities.
type UseCases interface {
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

// resource is the resource of groups and communities.
type resource struct{ use UseCases }

// Routes are the operations on groups, in the order in which the reference page shows them.
func Routes(use UseCases) []contract.Route {
	r := resource{use}
	get, post, put, patch, del := contract.Get, contract.Post, contract.Put, contract.Patch, contract.Delete
	const groups, one = "/api/instances/{instanceId}/groups", "/api/instances/{instanceId}/groups/{groupId}"
	const invites, communities = "/api/instances/{instanceId}/group-invites/{invite}", "/api/instances/{instanceId}/communities"
	return []contract.Route{
		get(groups, r.list()),
		post(groups, r.create()),
		get(one, r.get()),
		get(one+"/settings", r.settings()),
		patch(one, r.change()),
		post(one+"/participants", r.changeParticipants()),
		post(one+"/leave", r.leave()),
		get(one+"/invite", r.invite()),
		post(one+"/invite/reset", r.resetInvite()),
		get(one+"/join-requests", r.joinRequests()),
		post(one+"/join-requests", r.answerJoinRequests()),
		get(invites, r.lookAt()),
		post(invites+"/join", r.join()),
		get(communities, r.listCommunities()),
		post(communities, r.createCommunity()),
		get(communities+"/{communityId}/groups", r.linked()),
		put(communities+"/{communityId}/groups/{groupId}", r.link()),
		del(communities+"/{communityId}/groups/{groupId}", r.unlink()),
	}
}

// sessionCodes are the refusals of every operation that needs the platform.
func sessionCodes() []string {
	return []string{
		gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeRateLimited,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable, gateway.CodeValidation,
	}
}

// codes are the refusals of every operation on one group.
func codes(more ...string) []string {
	return append(append(sessionCodes(), gateway.CodeGroupNotFound), more...)
}

// Path is the path of a group.
type Path struct {
	contract.InstancePath

	GroupID string `path:"groupId" doc:"Group chat ID." example:"120363041234567890@g.us"`

	group gateway.JID
}

// Resolve reads the group chat ID.
func (p *Path) Resolve(huma.Context) (errs []error) {
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

// Details are what is known about a group without its members.
type Details struct {
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

func newDetails(of gateway.Group) Details {
	return Details{
		ID: string(of.ID), Subject: of.Subject, Description: contract.TextOrNil(of.Description),
		Owner: contract.TextOrNil(string(of.Owner.Address())), Creation: creation(of), Size: int64(of.Size),
		Admin: contract.TextOrNil(string(of.Role)), Messages: who(of.Rules.AdminsWrite), Info: who(of.Rules.AdminsEdit),
		Adding: who(of.Rules.AdminsAdd), Approval: of.Rules.Approval, Disappearing: int64(of.Rules.Disappearing.Seconds()),
		CommunityID: contract.TextOrNil(string(of.Community)), IsCommunity: of.IsCommunity, Announcement: of.Announces,
	}
}

func who(admins bool) string {
	if admins {
		return admin
	}
	return "all"
}

// admin is the value of a setting that only administrators have.
const admin = "admins"

type listInput struct {
	contract.InstancePath
	contract.Paging

	Subject string `query:"subject" maxLength:"100" doc:"Only groups whose subject has this text, in upper or lower case."`
}

func (r resource) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listGroups", Tag: Tag,
		Summary: "List groups",
		Description: "Lists the groups and communities of this account, oldest first, without their members. The platform is asked once in a " +
			"connection, with one question for all groups; afterwards its reports of changes are followed. While the instance is not connected, the groups are those that were listed last, as they were then; " +
			"it is INSTANCE_NOT_CONNECTED if they never were since the instance was linked. One that is not linked has none.",
		Codes: sessionCodes(),
	}, func(ctx context.Context, in *listInput) (*contract.Answer[contract.Envelope[Details]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, group.Filter{Subject: in.Subject}, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Details]]{Body: contract.NewEnvelope(in.Paging, page, newDetails)}, nil
	})
}

func (r resource) settings() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getGroupSettings", Tag: Tag,
		Summary: "Get the settings of a group", Description: "Returns what the list has of a group: who may do what in it, how many members it has, and its community.",
		Codes: codes(),
	}, func(ctx context.Context, in *Path) (*contract.Answer[Details], error) {
		found, err := r.use.Get(ctx, contract.Instance(ctx).ID, in.group)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Details]{Body: newDetails(found)}, nil
	})
}

func (r resource) leave() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "leaveGroup", Tag: Tag,
		Summary: "Leave a group", Description: "This account is no member of the group any more. The other members see that it left.",
		Codes: codes(),
	}, func(ctx context.Context, in *Path) (*struct{}, error) {
		return nil, r.use.Leave(ctx, contract.Instance(ctx).ID, in.group)
	})
}
