// Participants of groups, and those who want to join.

package groups

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// Result is what became of an action on one person.
type Result struct {
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

func newResults(named []string, results []gateway.MemberResult) []Result {
	shown := make([]Result, len(results))
	for i, result := range results {
		shown[i] = Result{Participant: named[i], ID: contract.TextOrNil(string(result.Party.Address()))}
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

// Results are what became of an action on each person.
type Results struct {
	Results []Result `json:"results" nullable:"false" doc:"One result for each of the participants, in their order."`
}

type participantsBody struct {
	Action       string   `json:"action" enum:"add,remove,promote,demote" doc:"promote makes administrators, demote makes ordinary members of them." example:"add"`
	Participants []string `json:"participants" nullable:"false" maxItems:"256" minLength:"1" format:"recipient" doc:"People, at most 256: phone numbers, personal chat IDs or LIDs." example:"5511988887766"`
	Invite       bool     `json:"invite,omitempty" fingerprint:"if set" default:"false" doc:"With add: send the platform's invitation, as a message, to whoever can't be added because of their privacy settings." sample:"-"`
}

type participantsInput struct {
	Path
	contract.JSON[participantsBody]
}

func (r resource) changeParticipants() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeGroupParticipants", Tag: Tag,
		Summary: "Add, remove, promote or demote participants",
		Description: "Does the same to each person, and answers what became of each: one who can't be added does not keep the others out. " +
			"Whoever lets nobody add him gets an invitation from the platform; `invite` sends it to them, or send them the group's invite link.",
		Codes: codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *participantsInput) (*contract.Answer[Results], error) {
		given := in.Given()
		people, err := parsePeople(given.Participants)
		if err != nil {
			return nil, err
		}
		action := gateway.MemberAction(given.Action)
		if given.Invite && action != gateway.MembersAdd {
			return nil, gateway.InvalidFields(gateway.FieldError{Field: "invite", Message: "must not be true: only who is added can be invited"})
		}
		results, err := r.use.ChangeMembers(ctx, contract.Instance(ctx).ID, in.group, action, people, given.Invite)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Results]{Body: Results{Results: newResults(given.Participants, results)}}, nil
	})
}

// parsePeople reads people whose format has been checked.
func parsePeople(named []string) ([]gateway.Recipient, error) {
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

func (r resource) joinRequests() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listJoinRequests", Tag: Tag,
		Summary: "List join requests", Description: "Lists the people who have followed the invite link and wait for an administrator. The platform is asked.",
		Codes: codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *Path) (*contract.Answer[JoinRequests], error) {
		waiting, err := r.use.JoinRequests(ctx, contract.Instance(ctx).ID, in.group)
		if err != nil {
			return nil, err
		}
		answer := JoinRequests{Requests: make([]JoinRequest, len(waiting))}
		for i, request := range waiting {
			answer.Requests[i] = JoinRequest{
				ID: string(request.Party.Address()), LID: contract.TextOrNil(string(request.Party.LID)),
				Name: contract.TextOrNil(request.Party.Name), RequestedAt: contract.TimestampOrNil(request.At),
			}
		}
		return &contract.Answer[JoinRequests]{Body: answer}, nil
	})
}

type answerRequestsBody struct {
	Action       string   `json:"action" enum:"approve,reject" doc:"approve lets people in, reject ends their waiting." example:"approve"`
	Participants []string `json:"participants" nullable:"false" maxItems:"256" minLength:"1" format:"recipient" doc:"People who wait, at most 256: phone numbers, personal chat IDs or LIDs." example:"5511988887766"`
}

type answerRequestsInput struct {
	Path
	contract.JSON[answerRequestsBody]
}

func (r resource) answerJoinRequests() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "answerJoinRequests", Tag: Tag,
		Summary: "Approve or reject join requests", Description: "Answers what became of each person.",
		Codes: codes(gateway.CodeGroupAdminRequired, gateway.CodeGroupRefused, gateway.CodeGroupFull),
	}, func(ctx context.Context, in *answerRequestsInput) (*contract.Answer[Results], error) {
		given := in.Given()
		people, err := parsePeople(given.Participants)
		if err != nil {
			return nil, err
		}
		results, err := r.use.AnswerJoinRequests(ctx, contract.Instance(ctx).ID, in.group, given.Action == "approve", people)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Results]{Body: Results{Results: newResults(given.Participants, results)}}, nil
	})
}
