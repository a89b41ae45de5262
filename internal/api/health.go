// The operations that say whether the gateway works.

package api

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// readyRetry is when to ask again.
const readyRetry = time.Second

// Health is the answer when all is well.
type Health struct {
	Status string `json:"status" enum:"ok" example:"ok"`
}

// health is the resource of the program's own state.
type health struct {
	check func(ctx context.Context) error // of what serving requests needs
}

func (health) alive() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getHealth", Tag: tagHealth, Audience: contract.Everybody,
		Summary: "Check that the program is alive", Description: "Returns 200 as long as the program runs.",
	}, func(context.Context, *struct{}) (*contract.Answer[Health], error) {
		return &contract.Answer[Health]{Body: Health{Status: "ok"}}, nil
	})
}

func (h health) ready() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getReadiness", Tag: tagHealth, Audience: contract.Everybody,
		Summary: "Check that it can serve requests", Description: "Returns 200 while the database answers.",
		Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *struct{}) (*contract.Answer[Health], error) {
		if err := h.check(ctx); err != nil {
			contract.LogFailure(ctx, fmt.Errorf("api: not ready: %w", err))
			failure := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the gateway can't serve requests now")
			failure.RetryAfter = readyRetry
			return nil, failure
		}
		return &contract.Answer[Health]{Body: Health{Status: "ok"}}, nil
	})
}
