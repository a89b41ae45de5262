// People in groups: members, join requests, invite links.

package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// ParticipantResult is what became of an action on one person.
type ParticipantResult struct {
	Participant string      `json:"participant" doc:"The person, as the request names him." example:"5511988887766"`
	ID          *string     `json:"id" nullable:"true" doc:"Personal chat ID, or the LID if the number is not known; null if there is no such account." example:"5511988887766@s.whatsapp.net"`
	Error       *string     `json:"error" nullable:"true" doc:"Null if it is done; else why not: ALREADY_PARTICIPANT, NOT_PARTICIPANT, PARTICIPANT_PRIVACY, PARTICIPANT_LEFT, RECIPIENT_NOT_REGISTERED, GROUP_FULL, NO_JOIN_REQUEST, or PARTICIPANT_REFUSED for everything else." example:"PARTICIPANT_PRIVACY"`
	Message     *string     `json:"message" nullable:"true" doc:"Why not, for people; null if it is done." example:"the person's privacy settings don't allow adding: send the person the group's invite link"`
	Invitation  *Invitation `json:"invitation" doc:"The platform's invitation for somebody who can't be added; null if there is none."`
}

// Invitation is for one person.
type Invitation struct {
	Code      string              `json:"code" doc:"Its code, which only this person can use." example:"AbCdEfGhIjKlMnOp"`
	ExpiresAt *contract.Timestamp `json:"expiresAt" nullable:"true" doc:"Until when it can be used; null if that is not known."`
	MessageID *string             `json:"messageId" nullable:"true" doc:"The message with which it was sent to the person; null if it was not." example:"3EB0C431C26A1916E07A"`
	Error     *string             `json:"error" nullable:"true" doc:"Code of why it was not sent, though invite wanted it; else null."`
}

// TransformSchema permits null in place of the object, for which huma has no tag.
func (Invitation) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

func newResults(named []string, results []gateway.MemberResult) []ParticipantResult {
	shown := make([]ParticipantResult, len(results))
	for i, result := range results {
		shown[i] = ParticipantResult{Participant: named[i], ID: contract.TextOrNil(string(result.Party.Address()))}
		if refusal := result.Refusal; refusal != nil {
			shown[i].Error, shown[i].Message = &refusal.Code, &refusal.Message
		}
		if invited := result.Invitation; invited != nil {
			shown[i].Invitation = &Invitation{
				Code: invited.Code, ExpiresAt: contract.TimestampOrNil(invited.ExpiresAt), MessageID: contract.TextOrNil(invited.MessageID),
			}
			if invited.Failure != nil {
				shown[i].Invitation.Error = &invited.Failure.Code
			}
		}
	}
	return shown
}

// ParticipantResults are what became of an action on each person.
type ParticipantResults struct {
	Results []ParticipantResult `json:"results" nullable:"false" doc:"One result for each of the participants, in their order."`
}

type participantChangeBody struct {
	Action       string   `json:"action" enum:"add,remove,promote,demote" doc:"promote makes administrators, demote makes ordinary members of them." example:"add"`
	Participants []string `json:"participants" nullable:"false" maxItems:"256" minLength:"1" format:"recipient" doc:"People, at most 256: phone numbers, personal chat IDs or LIDs." example:"5511988887766"`
	Invite       bool     `json:"invite,omitempty" fingerprint:"if set" default:"false" doc:"With add: send the platform's invitation, as a message, to whoever can't be added because of their privacy settings." sample:"-"`
}

type participantsInput struct {
	GroupPath
	contract.JSON[participantChangeBody]
}

func (r groups) changeParticipants() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeGroupParticipants", Tag: tagGroups,
		Summary: "Change the participants of a group",
		Description: "Does the same to each person, and answers what became of each: one who can't be added does not keep the others out. " +
			"For people whose privacy settings forbid adding them, the platform makes an invitation; `invite` sends it to them, or send them the group's invite link.",
		Codes: groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *participantsInput) (ParticipantResults, error) {
		given := in.Given()
		people, err := parseParticipants(given.Participants)
		if err != nil {
			return ParticipantResults{}, err
		}
		action := gateway.MemberAction(given.Action)
		if given.Invite && action != gateway.MembersAdd {
			return ParticipantResults{}, gateway.InvalidField("invite", "must not be true: only who is added can be invited")
		}
		results, err := r.use.ChangeMembers(ctx, contract.Instance(ctx).ID, in.group, action, people, given.Invite)
		return ParticipantResults{Results: newResults(given.Participants, results)}, err
	})
}

// parseParticipants reads people whose format has been checked.
func parseParticipants(named []string) ([]gateway.Recipient, error) {
	people := make([]gateway.Recipient, len(named))
	for i, text := range named {
		who, err := gateway.ParseRecipient(text)
		if err != nil {
			return nil, fmt.Errorf("groups: the participants were checked: %w", err)
		}
		people[i] = who
	}
	return people, nil
}

// JoinRequest is somebody who waits to be approved.
type JoinRequest struct {
	ID          string              `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID         *string             `json:"lid" nullable:"true" doc:"The LID; null where it is not known." example:"174823206119742@lid"`
	Name        *string             `json:"name" nullable:"true" doc:"The name that the person goes by; null where it is not known." example:"Ana Souza"`
	RequestedAt *contract.Timestamp `json:"requestedAt" nullable:"true" doc:"Since when; null if that is not known."`
}

// JoinRequests are all who wait.
type JoinRequests struct {
	Requests []JoinRequest `json:"requests" nullable:"false" doc:"The people who wait, as the platform orders them."`
}

func (r groups) joinRequests() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listJoinRequests", Tag: tagGroups,
		Summary: "List join requests", Description: "Lists the people who have followed the invite link and wait for an administrator. The platform is asked.",
		Codes: groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *GroupPath) (JoinRequests, error) {
		waiting, err := r.use.JoinRequests(ctx, contract.Instance(ctx).ID, in.group)
		if err != nil {
			return JoinRequests{}, err
		}
		answer := JoinRequests{Requests: make([]JoinRequest, len(waiting))}
		for i, request := range waiting {
			answer.Requests[i] = JoinRequest{
				ID: string(request.Party.Address()), LID: contract.TextOrNil(string(request.Party.LID)),
				Name: contract.TextOrNil(request.Party.Name), RequestedAt: contract.TimestampOrNil(request.At),
			}
		}
		return answer, nil
	})
}

type answerJoinRequestsBody struct {
	Action       string   `json:"action" enum:"approve,reject" doc:"approve lets people in, reject ends their waiting." example:"approve"`
	Participants []string `json:"participants" nullable:"false" maxItems:"256" minLength:"1" format:"recipient" doc:"People who wait, at most 256: phone numbers, personal chat IDs or LIDs." example:"5511988887766"`
}

type answerRequestsInput struct {
	GroupPath
	contract.JSON[answerJoinRequestsBody]
}

func (r groups) answerJoinRequests() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "answerJoinRequests", Tag: tagGroups,
		Summary: "Answer join requests", Description: "Answers what became of each person.",
		Codes: groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *answerRequestsInput) (ParticipantResults, error) {
		given := in.Given()
		people, err := parseParticipants(given.Participants)
		if err != nil {
			return ParticipantResults{}, err
		}
		results, err := r.use.AnswerJoinRequests(ctx, contract.Instance(ctx).ID, in.group, given.Action == "approve", people)
		return ParticipantResults{Results: newResults(given.Participants, results)}, err
	})
}

// GroupInvite is the way into a group.
type GroupInvite struct {
	Code string `json:"code" doc:"The code in the link." example:"AbCdEfGhIjKlMnOpQrStUv"`
	Link string `json:"link" doc:"The link to hand out." example:"https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv"`
}

func (r groups) invite() contract.Endpoint {
	return r.inviteEndpoint(contract.Operation{
		ID: "getGroupInvite", Summary: "Get the invite link",
		Description: "Returns the link with which anybody can join, or ask to join if `approval` is on.",
	}, false)
}

func (r groups) resetInvite() contract.Endpoint {
	return r.inviteEndpoint(contract.Operation{
		ID: "resetGroupInvite", Summary: "Reset the invite link", Destructive: true,
		Description: "Makes a new link and returns it. The old one leads nowhere from now on.",
	}, true)
}

func (r groups) inviteEndpoint(op contract.Operation, reset bool) contract.Endpoint {
	op.Tag, op.Codes = tagGroups, groupCodes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull)
	return contract.Handle(op, func(ctx context.Context, in *GroupPath) (GroupInvite, error) {
		code, err := r.use.Invite(ctx, contract.Instance(ctx).ID, in.group, reset)
		return GroupInvite{Code: code, Link: gateway.InviteLink(code)}, err
	})
}

// InvitePath is the path of an invitation.
type InvitePath struct {
	contract.InstancePath

	Invite string `path:"invite" doc:"The code in an invite link, or the whole link, escaped for a URL." example:"AbCdEfGhIjKlMnOpQrStUv"`

	code string
}

// Resolve reads the code.
func (p *InvitePath) Resolve(huma.Context) []error {
	code, ok := gateway.ParseInvite(p.Invite)
	if !ok {
		return contract.Wrong("invite", "must be the code of an invite link, or a link that begins with https://"+gateway.InviteHost+"/")
	}
	p.code = code
	return nil
}

// InvitedGroup is the group that an invite link leads to.
type InvitedGroup struct {
	ID          string  `json:"id" doc:"Group chat ID." example:"120363041234567890@g.us"`
	Subject     string  `json:"subject" doc:"Name of the group." example:"Support team"`
	Description *string `json:"description" nullable:"true" doc:"Description of the group; null if there is none." example:"Questions of customers"`
	Owner       *string `json:"owner" nullable:"true" doc:"Personal chat ID of the owner, or the LID if the number is not known; null if the group has no owner." example:"5511999990000@s.whatsapp.net"`
	Creation    int64   `json:"creation" doc:"When the group was created, Unix time in seconds; 0 if unknown." example:"1795012930"`
	Size        int64   `json:"size" doc:"How many members it has; 0 if unknown." example:"12"`
	Approval    bool    `json:"approval" doc:"Whether an administrator has to approve who joins." example:"false"`
}

func (r groups) lookAt() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getInvitedGroup", Tag: tagGroups,
		Summary: "Look at an invite link", Description: "Returns the group that an invite link leads to. This account does not join it.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeInviteNotValid, gateway.CodeInviteExpired, gateway.CodeInviteRefused),
	}, func(ctx context.Context, in *InvitePath) (InvitedGroup, error) {
		group, err := r.use.LookAt(ctx, contract.Instance(ctx).ID, in.code)
		if err != nil {
			return InvitedGroup{}, err
		}
		return InvitedGroup{
			ID: string(group.ID), Subject: group.Subject, Description: contract.TextOrNil(group.Description),
			Owner: contract.TextOrNil(string(group.Owner.Address())), Creation: createdAt(group), Size: int64(group.Size), Approval: group.Rules.Approval,
		}, nil
	})
}

// JoinedGroup says where an invite link has led.
type JoinedGroup struct {
	ID     string `json:"id" doc:"Group chat ID." example:"120363041234567890@g.us"`
	Status string `json:"status" enum:"joined,requested" doc:"joined: this account is a member; requested: it waits for an administrator." example:"joined"`
}

func (r groups) join() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "joinGroup", Tag: tagGroups,
		Summary: "Join a group", Description: "Follows an invite link. Who is a member already stays one.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeInviteNotValid, gateway.CodeInviteExpired, gateway.CodeInviteRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *InvitePath) (JoinedGroup, error) {
		id, joined, err := r.use.Join(ctx, contract.Instance(ctx).ID, in.code)
		if err != nil {
			return JoinedGroup{}, err
		}
		status := "requested"
		if joined {
			status = "joined"
		}
		return JoinedGroup{ID: string(id), Status: status}, nil
	})
}
