package api

import (
	"context"
	"net/http"
	"sync"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// InstanceManagement are the use cases of an instance for partners.
type InstanceManagement interface {
	Create(ctx context.Context, accountID, name string) (gateway.Instance, error)
	List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	Stop(ctx context.Context, id string) error
	SetPayment(ctx context.Context, id string, pending bool) (gateway.Instance, error)
	Delete(ctx context.Context, id string) error
}

type createInstanceBody struct {
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"What the instance is for." example:"Support"`
}

type createInstanceInput struct {
	contract.JSON[createInstanceBody]
}

type paymentBody struct {
	Pending bool `json:"pending" doc:"True closes the session and keeps its keys; false brings the instance back." example:"true"`
}

type paymentInput struct {
	contract.InstancePath
	contract.JSON[paymentBody]
}

// partnerInstances is the resource of instances in the partner interface.
type partnerInstances struct {
	use      InstanceManagement
	most     int        // instances of an account; 0: any number
	creating sync.Mutex // held while an instance is created within a limit
}

func newPartnerInstances(c Config) *partnerInstances {
	return &partnerInstances{use: c.Instances, most: c.Limits.Instances}
}

func (p *partnerInstances) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createInstance", Tag: tagPartner,
		Summary: "Create an instance", Description: "The instance is linked to nothing yet. A key that reaches certain instances only can't create any.",
		Status: http.StatusCreated, Audience: contract.Partners, Codes: []string{gateway.CodeInstanceLimit},
	}, func(ctx context.Context, in *createInstanceInput) (*contract.Answer[Instance], error) {
		own := contract.Key(ctx)
		if len(own.InstanceIDs) > 0 {
			return nil, gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
				"the API key reaches certain instances only, and would not reach a new one: use a partner key of the whole account")
		}
		instance, err := p.createWithin(ctx, own.AccountID, in.Given().Name)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Instance]{Body: newInstance(instance)}, nil
	})
}

// createWithin creates an instance unless the account has as many as it may.
func (p *partnerInstances) createWithin(ctx context.Context, accountID, name string) (gateway.Instance, error) {
	if p.most > 0 {
		// Two requests at the same time must not both find the last place.
		p.creating.Lock()
		defer p.creating.Unlock()
		page, err := p.use.List(ctx, gateway.Key{AccountID: accountID}, gateway.PageRequest{Page: 1, Limit: 1})
		if err != nil {
			return gateway.Instance{}, err
		}
		if page.Total >= p.most {
			return gateway.Instance{}, gateway.Errorf(gateway.Conflict, gateway.CodeInstanceLimit,
				"the account has %d instances, and may have no more: delete one, or ask whoever runs the gateway", page.Total)
		}
	}
	return p.use.Create(ctx, accountID, name)
}

func (p *partnerInstances) delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteInstance", Tag: tagPartner,
		Summary: "Delete an instance", Description: "Logs it out, then removes it with its messages.",
		Audience: contract.Partners, Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (*struct{}, error) {
		return nil, p.use.Delete(ctx, contract.Instance(ctx).ID)
	})
}

func (p *partnerInstances) stop() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "stopInstance", Tag: tagPartner,
		Summary: "Stop an instance", Description: "Closes its session and keeps the keys; a restart brings it back.",
		Audience: contract.Partners, Codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Nothing, error) {
		return &contract.Nothing{}, p.use.Stop(ctx, contract.Instance(ctx).ID)
	})
}

func (p *partnerInstances) setPayment() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "setPayment", Tag: tagPartner,
		Summary: "Mark a payment", Description: "Marks the payment of an instance as pending or as settled.",
		Audience: contract.Partners, Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, in *paymentInput) (*contract.Answer[Instance], error) {
		instance, err := p.use.SetPayment(ctx, contract.Instance(ctx).ID, in.Given().Pending)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Instance]{Body: newInstance(instance)}, nil
	})
}
