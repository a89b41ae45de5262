package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// GroupPath is the path of a group.
type GroupPath struct {
	contract.InstancePath

	GroupID string `path:"groupId" doc:"Group chat ID." example:"120363041234567890@g.us"`

	group gateway.JID
}

// Resolve reads the group chat ID.
func (p *GroupPath) Resolve(huma.Context) []error {
	group, ok := gateway.ParseJID(p.GroupID)
	if !ok || !group.IsGroup() {
		return contract.Wrong("groupId", "must be a group chat ID ending in @"+gateway.GroupSuffix)
	}
	p.group = group
	return nil
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

func (p people) group() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getGroup", Tag: tagDirectory,
		Summary: "Get a group", Description: "Returns the data of a group that this account is a member of.",
		Codes: append(sessionCodes(), gateway.CodeValidation, gateway.CodeGroupNotFound),
	}, func(ctx context.Context, in *GroupPath) (*contract.Answer[Group], error) {
		group, err := p.directory.Group(ctx, contract.Instance(ctx).ID, in.group)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Group]{Body: newGroup(group)}, nil
	})
}

func newGroup(group gateway.Group) Group {
	shown := Group{
		ID:           string(group.ID),
		Subject:      group.Subject,
		Description:  contract.TextOrNil(group.Description),
		Owner:        contract.TextOrNil(string(personalID(group.Owner))),
		Participants: make([]Participant, len(group.Participants)),
	}
	if !group.CreatedAt.IsZero() {
		shown.Creation = group.CreatedAt.Unix()
	}
	for i, participant := range group.Participants {
		shown.Participants[i] = Participant{
			ID: string(personalID(participant.Party)), Admin: contract.TextOrNil(string(participant.Role)),
		}
	}
	return shown
}

// personalID is the personal chat ID of a party, or the LID if the platform does not
// disclose the number.
func personalID(party gateway.Party) gateway.JID {
	if party.JID != "" {
		return party.JID
	}
	return party.LID
}
