package api

import (
	"context"
	"net/http"
	"sync"
	"time"

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
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"Name of the instance, for people." example:"Support"`
}

type createInstanceInput struct {
	contract.JSON[createInstanceBody]
}

type paymentBody struct {
	Pending bool `json:"pending" doc:"true closes the session of the instance and keeps its keys; false brings it back." example:"true"`
}

type paymentInput struct {
	contract.InstancePath
	contract.JSON[paymentBody]
}

// partnerInstances is the resource of instances in the partner interface.
type partnerInstances struct {
	use      InstanceManagement
	now      func() time.Time
	limits   func() Limits
	creating sync.Mutex // held while an instance is created within a limit
}

func newPartnerInstances(c Config) *partnerInstances {
	return &partnerInstances{use: c.Instances, now: c.Now, limits: c.Limits}
}

func (p *partnerInstances) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createInstance", Tag: tagPartner,
		Summary: "Create an instance", Description: "The new instance is not linked to an account yet. A key whose scope is limited to certain instances can't create one.",
		Status: http.StatusCreated, Audience: contract.Partners, Codes: []string{gateway.CodeInstanceLimit},
	}, func(ctx context.Context, in *createInstanceInput) (*contract.Answer[Instance], error) {
		own := contract.Key(ctx)
		if len(own.InstanceIDs) > 0 {
			return nil, gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
				"the API key's scope is limited to certain instances, and a new one would not be in it: use a partner key for the whole account")
		}
		instance, err := p.createWithin(ctx, own.AccountID, in.Given().Name)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Instance]{Body: newInstance(instance, p.now())}, nil
	})
}

// createWithin creates an instance unless the account has as many as it may.
func (p *partnerInstances) createWithin(ctx context.Context, accountID, name string) (gateway.Instance, error) {
	if most := p.limits().Instances; most > 0 {
		// Two requests at the same time must not both find the last place.
		p.creating.Lock()
		defer p.creating.Unlock()
		page, err := p.use.List(ctx, gateway.Key{AccountID: accountID}, gateway.PageRequest{Page: 1, Limit: 1})
		if err != nil {
			return gateway.Instance{}, err
		}
		if page.Total >= most {
			return gateway.Instance{}, gateway.Errorf(gateway.Conflict, gateway.CodeInstanceLimit,
				"the account has %d instances and may not have more: delete one, or ask the operator of the gateway", page.Total)
		}
	}
	return p.use.Create(ctx, accountID, name)
}

func (p *partnerInstances) delete() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteInstance", Tag: tagPartner,
		Summary: "Delete an instance", Description: "Logs the instance out, then removes it with its messages.",
		Audience: contract.Partners, Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (*struct{}, error) {
		return nil, p.use.Delete(ctx, contract.Instance(ctx).ID)
	})
}

func (p *partnerInstances) stop() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "stopInstance", Tag: tagPartner,
		Summary: "Stop an instance", Description: "Closes the session of the instance and keeps its keys; a restart brings it back.",
		Audience: contract.Partners, Codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Nothing, error) {
		return &contract.Nothing{}, p.use.Stop(ctx, contract.Instance(ctx).ID)
	})
}

func (p *partnerInstances) setPayment() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "setPayment", Tag: tagPartner,
		Summary: "Mark a payment", Description: "Marks the payment of an instance as pending or as paid.",
		Audience: contract.Partners, Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, in *paymentInput) (*contract.Answer[Instance], error) {
		instance, err := p.use.SetPayment(ctx, contract.Instance(ctx).ID, in.Given().Pending)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Instance]{Body: newInstance(instance, p.now())}, nil
	})
}
