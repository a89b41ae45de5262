package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	tagHealth = "Health"

	// readyRetry is when to ask again.
	readyRetry = time.Second
)

// Health says that all is well.
type Health struct {
	Status string `json:"status" enum:"ok" example:"ok"`
}

func (s *service) registerHealth() {
	register(s, operation{
		id: "getHealth", method: http.MethodGet, path: "/healthz", tag: tagHealth, audience: everybody,
		summary: "Is the program alive", description: "Answers as long as the program runs.",
	}, s.health)
	register(s, operation{
		id: "getReadiness", method: http.MethodGet, path: "/readyz", tag: tagHealth, audience: everybody,
		summary: "Can it serve requests", description: "Answers 200 while the database does.",
		codes: []string{gateway.CodeUnavailable},
	}, s.readiness)
}

func (s *service) health(context.Context, *struct{}) (*answer[Health], error) {
	return &answer[Health]{Health{Status: "ok"}}, nil
}

func (s *service) readiness(ctx context.Context, _ *struct{}) (*answer[Health], error) {
	if err := s.Ready(ctx); err != nil {
		exchangeOf(ctx).failure = fmt.Errorf("api: not ready: %w", err)
		failure := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the gateway can't serve requests now")
		failure.RetryAfter = readyRetry
		return nil, failure
	}
	return &answer[Health]{Health{Status: "ok"}}, nil
}
