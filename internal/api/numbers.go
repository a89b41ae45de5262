package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/recado-project/recado/internal/api/format"
)

const tagDirectory = "People and groups"

type numbersBody struct {
	Numbers []string `json:"numbers" nullable:"false" minLength:"1" format:"number" maxItems:"500" doc:"Phone numbers with country code, Brazilian mobile numbers of 11 digits, or personal chat IDs; at most 500." example:"5511988887766,11977776655"`
}

type numbersInput struct {
	InstancePath
	JSON[numbersBody]
}

// NumberCheck is the answer about one number.
type NumberCheck struct {
	Number string `json:"number" doc:"Digits that were looked up." example:"5511988887766"`
	Exists bool   `json:"exists" doc:"Whether the number has an account." example:"true"`
	JID    string `json:"jid,omitempty" doc:"Personal chat ID of the account; left out where there is none." example:"5511988887766@s.whatsapp.net"`
}

// NumberChecks are the answers about all numbers.
type NumberChecks struct {
	Results []NumberCheck `json:"results" nullable:"false" doc:"In the order of the numbers, doubles included."`
}

func (s *service) registerNumbers() {
	register(s, operation{
		id: "checkNumbers", method: http.MethodPost, path: "/api/instances/{instanceId}/check-numbers", tag: tagDirectory,
		summary: "Check numbers", description: "Asks the platform which numbers have an account.",
		codes: sessionCodes(),
	}, s.checkNumbers)
}

func (s *service) checkNumbers(ctx context.Context, in *numbersInput) (*answer[NumberChecks], error) {
	numbers := make([]string, len(in.Given().Numbers))
	for i, text := range in.Given().Numbers {
		number, ok := format.ParseNumber(text)
		if !ok {
			return nil, fmt.Errorf("api: number %d was checked", i)
		}
		numbers[i] = number
	}
	registrations, err := s.Directory.CheckNumbers(ctx, exchangeOf(ctx).instance.ID, numbers)
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
	return &answer[NumberChecks]{NumberChecks{Results: results}}, nil
}
