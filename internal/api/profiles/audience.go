// Who sees the status posts of the account.

package profiles

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// StatusAudience is a page of the people who see the status posts of the account.
type StatusAudience struct {
	Rule string `json:"rule" enum:"contacts,only,contacts_except" doc:"What the owner of the account has chosen on the phone: the address book, some people only, or the address book without some people." example:"contacts"`

	contract.Envelope[StatusViewer]
}

// StatusViewer is somebody who sees the status posts.
type StatusViewer struct {
	ID   string  `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID  *string `json:"lid" nullable:"true" doc:"The LID; null where it is not known." example:"174823206119742@lid"`
	Name *string `json:"name" nullable:"true" doc:"The name that the person goes by; null where it is not known." example:"Ana Souza"`
}

type audienceInput struct {
	contract.InstancePath
	contract.Paging
}

func (r resource) audience() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getStatusAudience", Tag: Tag,
		Summary: "List who sees the status posts",
		Description: "Lists the people to whom a status post goes that is written now, in the order of their addresses, and what the owner of the account has chosen " +
			"for that on the phone. The platform is asked for the choice, and the address book is that of the phone.",
		Codes: codes(),
	}, func(ctx context.Context, in *audienceInput) (*contract.Answer[StatusAudience], error) {
		found, err := r.use.StatusAudience(ctx, contract.Instance(ctx).ID)
		if err != nil {
			return nil, err
		}
		first := min(in.Request().Offset(), len(found.People))
		page := gateway.Page[gateway.Party]{Items: found.People[first:min(first+in.Request().Limit, len(found.People))], Total: len(found.People)}
		return &contract.Answer[StatusAudience]{Body: StatusAudience{
			Rule: string(found.Rule),
			Envelope: contract.NewEnvelope(in.Paging, page, func(who gateway.Party) StatusViewer {
				return StatusViewer{ID: string(who.Address()), LID: contract.TextOrNil(string(who.LID)), Name: contract.TextOrNil(who.Name)}
			}),
		}}, nil
	})
}
