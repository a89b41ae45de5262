package api

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/gateway"
)

type presenceBody struct {
	Addressee

	Presence string `json:"presence" enum:"composing,recording,paused,available,unavailable" doc:"composing: typing; recording: recording audio; paused: neither any more; available: online; unavailable: offline." example:"composing"`
}

type presenceInput struct {
	InstancePath
	JSON[presenceBody]
}

func (s *service) registerPresence() {
	register(s, operation{
		id: "sendPresence", method: http.MethodPost, path: "/api/instances/{instanceId}/presence", tag: tagDirectory,
		summary: "Send presence",
		description: "Shows a contact that this account is typing or recording, or stops showing it. " +
			"Online and offline are shown to everybody who may see them, not to one contact.",
		status: http.StatusNoContent,
		codes:  append(sessionCodes(), gateway.CodeNotRegistered),
	}, s.sendPresence)
}

func (s *service) sendPresence(ctx context.Context, in *presenceInput) (*struct{}, error) {
	to, err := parseRecipient(in.Given().To)
	if err != nil {
		return nil, err
	}
	return nil, s.Directory.SendPresence(ctx, exchangeOf(ctx).instance.ID, to, gateway.Presence(in.Given().Presence))
}
