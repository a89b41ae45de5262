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

// Readiness is the answer when requests can be served. What it says of the platform is for
// people: it is ready as well if the platform refuses the version.
type Readiness struct {
	Status        string        `json:"status" enum:"ok" example:"ok"`
	Version       string        `json:"version" doc:"The version of the gateway." example:"1.4.0"`
	ClientVersion ClientVersion `json:"clientVersion" doc:"The version of the messenger's web client that instances claim to be."`
}

// ClientVersion is a version of the messenger's web client, and how it is doing.
type ClientVersion struct {
	Version      string              `json:"version" doc:"What instances claim at their next connection." example:"2.3000.1045649367"`
	Source       string              `json:"source" enum:"built_in,looked_up,set" doc:"Whether the program has it built in, has looked it up, or was given it by --platform-version." example:"built_in"`
	LookedUpAt   *contract.Timestamp `json:"lookedUpAt" nullable:"true" doc:"When a newest version was found last; null: never." example:"2026-11-23T09:00:00.000Z"`
	RefusedSince *contract.Timestamp `json:"refusedSince" nullable:"true" doc:"Since when the platform refuses the version as outdated; null if it does not."`
	Trouble      *string             `json:"trouble" nullable:"true" doc:"Why the last look-up was of no use; null if it was."`
}

// health is the resource of the program's own state.
type health struct {
	check         func(ctx context.Context) error // of what serving requests needs
	clientVersion func() gateway.ClientVersion
	version       string // of the program
}

func (health) alive() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getHealth", Tag: tagHealth, Audience: contract.Everybody,
		Summary: "Check that the program is alive", Description: "Returns 200 as long as the program runs.",
	}, func(context.Context, *struct{}) (Health, error) {
		return Health{Status: "ok"}, nil
	})
}

func (h health) ready() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getReadiness", Tag: tagHealth, Audience: contract.Everybody,
		Summary: "Check that it can serve requests", Description: "Returns 200 while the database answers and the gateway is not about to stop, and says which version of the messenger's web client is in use.",
		Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *struct{}) (Readiness, error) {
		if err := h.check(ctx); err != nil {
			if _, planned := gateway.AsError(err); !planned { // a start or a stop is no failure
				contract.LogFailure(ctx, fmt.Errorf("api: not ready: %w", err))
			}
			failure := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the gateway can't serve requests now")
			failure.RetryAfter = readyRetry
			return Readiness{}, failure
		}
		v := h.clientVersion()
		return Readiness{Status: "ok", Version: h.version, ClientVersion: ClientVersion{
			Version: v.Version, Source: string(v.Source), LookedUpAt: contract.TimestampOrNil(v.LookedUpAt),
			RefusedSince: contract.TimestampOrNil(v.RefusedSince), Trouble: contract.TextOrNil(v.Trouble),
		}}, nil
	})
}
