package api

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/gateway"
)

const tagPartner = "Partner"

type createInstanceBody struct {
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"What the instance is for." example:"Support"`
}

type createInstanceInput struct {
	JSON[createInstanceBody]
}

type paymentBody struct {
	Pending bool `json:"pending" doc:"True closes the session and keeps its keys; false brings the instance back." example:"true"`
}

type paymentInput struct {
	InstancePath
	JSON[paymentBody]
}

func (s *service) registerPartner() {
	register(s, operation{
		id: "createInstance", method: http.MethodPost, path: "/api/partner/instances", tag: tagPartner,
		summary: "Create an instance", description: "The instance is linked to nothing yet. A key that reaches certain instances only can't create any.",
		status: http.StatusCreated, audience: partners, codes: []string{gateway.CodeInstanceLimit},
	}, s.createInstance)
	register(s, operation{
		id: "deleteInstance", method: http.MethodDelete, path: "/api/partner/instances/{instanceId}", tag: tagPartner,
		summary: "Delete an instance", description: "Logs it out, then removes it with its messages.",
		audience: partners, codes: []string{gateway.CodeUnavailable},
	}, s.deleteInstance)
	register(s, operation{
		id: "stopInstance", method: http.MethodPost, path: "/api/partner/instances/{instanceId}/stop", tag: tagPartner,
		summary: "Stop an instance", description: "Closes its session and keeps the keys; a restart brings it back.",
		audience: partners, codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, s.stopInstance)
	register(s, operation{
		id: "setPayment", method: http.MethodPut, path: "/api/partner/instances/{instanceId}/payment", tag: tagPartner,
		summary: "Mark a payment", description: "Marks the payment of an instance as pending or as settled.",
		audience: partners, codes: []string{gateway.CodeUnavailable},
	}, s.setPayment)
}

func (s *service) createInstance(ctx context.Context, in *createInstanceInput) (*answer[Instance], error) {
	own := exchangeOf(ctx).key
	if len(own.InstanceIDs) > 0 {
		return nil, gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
			"the API key reaches certain instances only, and would not reach a new one: use a partner key of the whole account")
	}
	instance, err := s.createWithin(ctx, own.AccountID, in.Given().Name)
	if err != nil {
		return nil, err
	}
	return &answer[Instance]{newInstance(instance)}, nil
}

func (s *service) deleteInstance(ctx context.Context, _ *InstancePath) (*struct{}, error) {
	return nil, s.Instances.Delete(ctx, exchangeOf(ctx).instance.ID)
}

func (s *service) stopInstance(ctx context.Context, _ *InstancePath) (*nothing, error) {
	return &nothing{}, s.Instances.Stop(ctx, exchangeOf(ctx).instance.ID)
}

func (s *service) setPayment(ctx context.Context, in *paymentInput) (*answer[Instance], error) {
	instance, err := s.Instances.SetPayment(ctx, exchangeOf(ctx).instance.ID, in.Given().Pending)
	if err != nil {
		return nil, err
	}
	return &answer[Instance]{newInstance(instance)}, nil
}
