package api

import (
	"context"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// InstanceControl are the use cases of an instance for everybody with an API key.
type InstanceControl interface {
	Get(ctx context.Context, id string) (gateway.Instance, error)
	List(ctx context.Context, key gateway.Key, page gateway.PageRequest) (gateway.Page[gateway.Instance], error)
	Change(ctx context.Context, id string, settings instance.Settings) (gateway.Instance, error)
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
	Proxy          string             `json:"proxy,omitempty" doc:"The proxy that all connections to the platform go through, with *** in place of the password; left out if none is set." example:"socks5h://user:***@proxy.example.org:1080"`
	ProxyProblem   string             `json:"proxyProblem,omitempty" enum:"proxy_unreachable,proxy_auth_failed,proxy_platform_unreachable" doc:"Why the instance does not come through its proxy now; left out if it does." example:"proxy_unreachable"`
	Device         *DeviceLabel       `json:"device,omitempty" doc:"What the phone lists of the device, from the next linking on; left out if nothing is set."`
	CreatedAt      contract.Timestamp `json:"createdAt"`
	UpdatedAt      contract.Timestamp `json:"updatedAt"`
}

// DeviceLabel is what a phone lists of a linked device.
type DeviceLabel struct {
	Name string `json:"name,omitempty" doc:"Its name; left out: Recado." example:"Front desk"`
	Kind string `json:"kind,omitempty" enum:"desktop,chrome,edge,firefox,opera,safari,ipad,tablet" doc:"What sort of device it is shown as; left out: desktop." example:"chrome"`
}

type changeInstanceBody struct {
	Name   *string          `json:"name,omitempty" minLength:"1" maxLength:"255" doc:"Name of the instance, for people. It can't be removed." example:"Support"`
	Proxy  *string          `json:"proxy,omitempty" nullable:"true" minLength:"1" maxLength:"2048" doc:"URL of a proxy: socks5, socks5h, http or https, with user name and password if it asks for them. With socks5 names are looked up by the gateway, with all others by the proxy. The masked URL of an answer changes nothing; null removes the proxy." example:"socks5h://user:password@proxy.example.org:1080"`
	Device *changeLabelBody `json:"device,omitempty" doc:"What the phone lists of the device, from the next linking on; null: the default."`
}

type changeLabelBody struct {
	Name *string `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"50" doc:"Its name; null: the default, Recado." example:"Front desk"`
	Kind *string `json:"kind,omitempty" nullable:"true" enum:"desktop,chrome,edge,firefox,opera,safari,ipad,tablet" doc:"What sort of device it is shown as; null: the default, desktop." example:"chrome"`
}

// TransformSchema permits null in place of the object, for which huma has no tag.
func (changeLabelBody) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

type changeInstanceInput struct {
	contract.InstancePath
	contract.JSON[changeInstanceBody]
}

// settings are the changes that a body asks for: a field that is absent changes nothing,
// null sets the default.
func (in *changeInstanceInput) settings() (instance.Settings, error) {
	if err := in.RefuseUnknown(); err != nil {
		return instance.Settings{}, err
	}
	if in.IsNull("name") {
		return instance.Settings{}, gateway.InvalidFields(gateway.FieldError{Field: "name", Message: "must not be null: an instance has a name"})
	}
	given := in.Given()
	settings := instance.Settings{Name: given.Name, Proxy: given.Proxy}
	if given.Device != nil {
		settings.DeviceName, settings.DeviceKind = given.Device.Name, given.Device.Kind
	}
	for field, setting := range map[string]**string{
		"proxy": &settings.Proxy, "device.name": &settings.DeviceName, "device.kind": &settings.DeviceKind,
	} {
		object, _, nested := strings.Cut(field, ".")
		if *setting == nil && (in.IsNull(field) || nested && in.IsNull(object)) {
			*setting = new(string)
		}
	}
	return settings, nil
}

func newInstance(shown gateway.Instance) Instance {
	made := Instance{
		InstanceID:     shown.ID,
		Name:           shown.Name,
		Status:         string(shown.Status),
		MessengerJID:   string(shown.Profile.JID),
		MessengerLID:   string(shown.Profile.LID),
		MessengerID:    shown.Profile.JID.User(),
		MessengerName:  shown.Profile.Name,
		MessengerImage: shown.Profile.PictureURL,
		Proxy:          shown.Proxy.Masked(),
		CreatedAt:      contract.Timestamp(shown.CreatedAt),
		UpdatedAt:      contract.Timestamp(shown.UpdatedAt),
	}
	if shown.Proxy != "" && shown.Reason.IsProxy() {
		made.ProxyProblem = string(shown.Reason)
	}
	if shown.Label != (gateway.DeviceLabel{}) {
		made.Device = &DeviceLabel{Name: shown.Label.Name, Kind: string(shown.Label.Kind)}
	}
	return made
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

func (i instances) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeInstance", Tag: tagInstances,
		Summary: "Change an instance",
		Description: "Changes the fields that are given, and no others; null sets a default. A new proxy is tried before it is set, " +
			"which may take half a minute; then the instance connects anew through it, and never without it. " +
			"Unknown fields are refused.",
		Codes: []string{gateway.CodeProxyUnreachable, gateway.CodeProxyAuthFailed, gateway.CodeProxyPlatform},
	}, func(ctx context.Context, in *changeInstanceInput) (*contract.Answer[Instance], error) {
		settings, err := in.settings()
		if err != nil {
			return nil, err
		}
		changed, err := i.control.Change(ctx, contract.Instance(ctx).ID, settings)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[Instance]{Body: newInstance(changed)}, nil
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
