// The operation that checks numbers.

package api

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/format"
)

type numbersBody struct {
	Numbers []string `json:"numbers" nullable:"false" minLength:"1" format:"number" maxItems:"500" doc:"Phone numbers with country code, Brazilian mobile numbers of 11 digits, or personal chat IDs; at most 500." example:"5511988887766,11977776655"`
}

type numbersInput struct {
	contract.InstancePath
	contract.JSON[numbersBody]
}

// NumberCheck is the answer about one number.
type NumberCheck struct {
	Number string `json:"number" doc:"The digits that were looked up." example:"5511988887766"`
	Exists bool   `json:"exists" doc:"Whether the number has an account." example:"true"`
	JID    string `json:"jid,omitempty" doc:"Personal chat ID of the account; left out if there is none." example:"5511988887766@s.whatsapp.net"`
}

// NumberChecks are the answers about all numbers.
type NumberChecks struct {
	Results []NumberCheck `json:"results" nullable:"false" doc:"One result for each given number, in the same order, duplicates included."`
}

func (p people) checkNumbers() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "checkNumbers", Tag: tagDirectory,
		Summary: "Check numbers", Description: "Asks the platform which numbers have an account. Its answers are remembered for an hour. " +
			"What it is asked counts towards the instance's budget (`numberChecks`): a request that does not fit into what is left is refused, and nothing is asked.",
		Codes: sessionCodes(),
	}, func(ctx context.Context, in *numbersInput) (*contract.Answer[NumberChecks], error) {
		given := in.Given().Numbers
		numbers := make([]string, len(given))
		for i, text := range given {
			number, ok := format.ParseNumber(text)
			if !ok {
				return nil, fmt.Errorf("api: number %d was checked", i)
			}
			numbers[i] = number
		}
		registrations, err := p.directory.CheckNumbers(ctx, contract.Instance(ctx).ID, numbers)
		if err != nil {
			return nil, err
		}
		results := make([]NumberCheck, len(registrations))
		for i, registration := range registrations {
			results[i] = NumberCheck{Number: registration.Number, Exists: registration.Exists}
			if registration.Exists {
				results[i].JID = string(registration.JID)
			}
		}
		return &contract.Answer[NumberChecks]{Body: NumberChecks{Results: results}}, nil
	})
}
