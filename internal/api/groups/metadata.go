// The metadata of a group, as the contract has them.

package groups

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

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

func (r resource) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getGroup", Tag: Tag,
		Summary: "Get a group", Description: "Returns the data of a group that this account is a member of.",
		Codes: codes(),
	}, func(ctx context.Context, in *Path) (*contract.Answer[Group], error) {
		group, err := r.use.Get(ctx, contract.Instance(ctx).ID, in.group)
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
		Owner:        contract.TextOrNil(string(group.Owner.Address())),
		Creation:     creation(group),
		Participants: make([]Participant, len(group.Participants)),
	}
	for i, participant := range group.Participants {
		shown.Participants[i] = Participant{
			ID: string(participant.Party.Address()), Admin: contract.TextOrNil(string(participant.Role)),
		}
	}
	return shown
}

// creation is when a group was created, as the contract spells it.
func creation(group gateway.Group) int64 {
	if group.CreatedAt.IsZero() {
		return 0
	}
	return group.CreatedAt.Unix()
}
