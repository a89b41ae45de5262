package api

import (
	"context"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// InstanceControl are the use cases of an instance for everybody with an API key.
type InstanceControl interface {
	Get(ctx context.Context, id string) (gateway.Instance, error)
	List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	Restart(ctx context.Context, id string) error
	Logout(ctx context.Context, id string) error
}

// Instance is an instance as answers show it.
type Instance struct {
	InstanceID     string             `json:"instanceId" format:"uuid" doc:"Identifier of the instance." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Name           string             `json:"name" example:"Support"`
	Status         string             `json:"status" enum:"created,connecting,pending_qr_code_scan,connected,stopped,manually_stopped,error,qr_timeout,payment_pending" example:"connected"`
	MessengerJID   string             `json:"messengerJid" doc:"Personal chat ID of the linked account. This and the other messenger fields are empty while no account is linked." example:"5511999990000@s.whatsapp.net"`
	MessengerLID   string             `json:"messengerLid" doc:"LID of the linked account." example:"123456789012345@lid"`
	MessengerID    string             `json:"messengerId" doc:"Digits of the linked account." example:"5511999990000"`
	MessengerName  string             `json:"messengerName" doc:"Display name of the linked account." example:"Ana"`
	MessengerImage string             `json:"messengerProfilePicUrl" doc:"URL of the profile picture of the linked account." example:""`
	CreatedAt      contract.Timestamp `json:"createdAt"`
	UpdatedAt      contract.Timestamp `json:"updatedAt"`
}

func newInstance(shown gateway.Instance) Instance {
	return Instance{
		InstanceID:     shown.ID,
		Name:           shown.Name,
		Status:         string(shown.Status),
		MessengerJID:   string(shown.Profile.JID),
		MessengerLID:   string(shown.Profile.LID),
		MessengerID:    shown.Profile.JID.User(),
		MessengerName:  shown.Profile.Name,
		MessengerImage: shown.Profile.PictureURL,
		CreatedAt:      contract.Timestamp(shown.CreatedAt),
		UpdatedAt:      contract.Timestamp(shown.UpdatedAt),
	}
}

// instances is the resource of instances.
type instances struct{ control InstanceControl }

func (i instances) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listInstances", Tag: tagInstances,
		Summary:     "List instances",
		Description: "Lists the instances in the scope of the API key, oldest first.",
		Codes:       []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *contract.Paging) (*contract.Answer[contract.Envelope[Instance]], error) {
		page, err := i.control.List(ctx, contract.Key(ctx), in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[Instance]]{Body: contract.NewEnvelope(*in, page, newInstance)}, nil
	})
}

func (instances) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getInstance", Tag: tagInstances,
		Summary: "Get an instance", Description: "Returns one instance, as in the list.",
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Answer[Instance], error) {
		return &contract.Answer[Instance]{Body: newInstance(contract.Instance(ctx))}, nil
	})
}

func (i instances) restart() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "restartInstance", Tag: tagInstances,
		Summary: "Restart an instance",
		Description: "Reconnects a linked instance without a new code, or starts linking an instance that is not linked. " +
			"Returns when the instance is connecting.",
		Codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Nothing, error) {
		return &contract.Nothing{}, i.control.Restart(ctx, contract.Instance(ctx).ID)
	})
}

func (i instances) logout() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "logoutInstance", Tag: tagInstances,
		Summary: "Log out an instance",
		Description: "Ends the session on the platform, or a linking in progress, and removes its keys. The instance and its " +
			"messages stay. If the instance is not linked, nothing changes.",
		Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Nothing, error) {
		return &contract.Nothing{}, i.control.Logout(ctx, contract.Instance(ctx).ID)
	})
}
