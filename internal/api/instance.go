package api

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
)

// Instance is an instance as answers show it.
type Instance struct {
	InstanceID     string              `json:"instanceId" format:"uuid" doc:"Identifier of the instance." example:"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"`
	Name           string              `json:"name" example:"Support"`
	ExternalName   string              `json:"externalName,omitempty" doc:"What your programs call the instance; left out if nothing is set." example:"store-17"`
	Status         string              `json:"status" enum:"created,connecting,pending_qr_code_scan,connected,stopped,manually_stopped,error,qr_timeout,payment_pending" example:"connected"`
	MessengerJID   string              `json:"messengerJid" doc:"Personal chat ID of the linked account. This and the other messenger fields are empty while no account is linked." example:"5511999990000@s.whatsapp.net"`
	MessengerLID   string              `json:"messengerLid" doc:"LID of the linked account." example:"123456789012345@lid"`
	MessengerID    string              `json:"messengerId" doc:"Digits of the linked account." example:"5511999990000"`
	MessengerName  string              `json:"messengerName" doc:"Display name of the linked account." example:"Ana"`
	MessengerImage string              `json:"messengerProfilePicUrl" doc:"URL of the profile picture of the linked account." example:""`
	Proxy          string              `json:"proxy,omitempty" doc:"The proxy that all connections to the platform go through, with *** in place of the password; left out if none is set." example:"socks5h://user:***@proxy.example.org:1080"`
	ProxyProblem   string              `json:"proxyProblem,omitempty" enum:"proxy_unreachable,proxy_auth_failed,proxy_platform_unreachable" doc:"Why the instance does not come through its proxy now; left out if it does." example:"proxy_unreachable"`
	Device         *DeviceLabel        `json:"device,omitempty" doc:"What the phone lists of the device, from the next linking on; left out if nothing is set."`
	Pace           *Pace               `json:"pace,omitempty" doc:"How fast messages leave the queue; left out if nothing is set."`
	Typing         bool                `json:"typing,omitempty" doc:"Whether a chat is shown typing before a text from the queue; left out if not." example:"true"`
	NumberChecks   *Budget             `json:"numberChecks,omitempty" doc:"How many numbers the platform may be asked about; left out if nothing is set."`
	RejectCalls    bool                `json:"rejectCalls,omitempty" doc:"Whether calls of people are rejected; left out if not." example:"true"`
	CallText       string              `json:"rejectCallsText,omitempty" doc:"The text that a caller gets who was rejected; left out if there is none." example:"No calls here, please write."`
	Buttons        string              `json:"buttons,omitempty" enum:"refuse" doc:"refuse, if buttons and lists that programs send in the languages of other tools are refused; left out if they become polls." sample:"-"`
	ReadMessages   bool                `json:"readMessages,omitempty" doc:"Whether what people write is marked as read as soon as it is stored; left out if not." example:"true"`
	ReadStatuses   bool                `json:"readStatuses,omitempty" doc:"Whether status posts of contacts are marked as seen as soon as they are stored; left out if not." example:"true"`
	AlwaysOnline   bool                `json:"alwaysOnline,omitempty" doc:"Whether the account is shown online while the instance is connected; left out if not." example:"true"`
	IgnoreGroups   bool                `json:"ignoreGroups,omitempty" doc:"Whether nothing that comes in of groups is stored or delivered; left out if it is." example:"true"`
	Restricted     *contract.Timestamp `json:"restrictedUntil,omitempty" doc:"Until when the platform does not let the account write to new contacts, or an hour after it has last said so without an end; left out if it does."`
	CreatedAt      contract.Timestamp  `json:"createdAt"`
	UpdatedAt      contract.Timestamp  `json:"updatedAt"`
}

// DeviceLabel is what a phone lists of a linked device.
type DeviceLabel struct {
	Name string `json:"name,omitempty" doc:"Its name; left out: Recado." example:"Front desk"`
	Kind string `json:"kind,omitempty" enum:"desktop,chrome,edge,firefox,opera,safari,ipad,tablet" doc:"What sort of device it is shown as; left out: desktop." example:"chrome"`
}

// Pace is how fast messages of an instance leave the queue. What is left out is off.
type Pace struct {
	GapSeconds      float64 `json:"gapSeconds,omitempty" doc:"The time between two messages at least." example:"4"`
	JitterSeconds   float64 `json:"jitterSeconds,omitempty" doc:"The most that chance adds to the gap, anew for each message." example:"3.5"`
	PerMinute       int     `json:"perMinute,omitempty" doc:"Messages within any minute." example:"10"`
	NewChatsPerHour int     `json:"newChatsPerHour,omitempty" doc:"Messages within any hour that begin a chat." example:"10"`
	NewChatsPerDay  int     `json:"newChatsPerDay,omitempty" doc:"Messages within any day that begin a chat." example:"50"`
}

// Budget is how often something may happen. What is left out is off.
type Budget struct {
	PerHour int `json:"perHour,omitempty" doc:"Within any hour." example:"100"`
	PerDay  int `json:"perDay,omitempty" doc:"Within any day." example:"500"`
}

type paceChangeBody struct {
	GapSeconds      *float64 `json:"gapSeconds,omitempty" nullable:"true" minimum:"0" maximum:"3600" doc:"The time between two messages at least, to the millisecond; null or 0: none." example:"4"`
	JitterSeconds   *float64 `json:"jitterSeconds,omitempty" nullable:"true" minimum:"0" maximum:"3600" doc:"The most that chance adds to the gap, anew for each message; null or 0: nothing." example:"3.5"`
	PerMinute       *int     `json:"perMinute,omitempty" nullable:"true" minimum:"0" maximum:"600" doc:"Messages within any minute; null or 0: any number." example:"10"`
	NewChatsPerHour *int     `json:"newChatsPerHour,omitempty" nullable:"true" minimum:"0" maximum:"100000" doc:"Messages within any hour that begin a chat; null or 0: any number." example:"10"`
	NewChatsPerDay  *int     `json:"newChatsPerDay,omitempty" nullable:"true" minimum:"0" maximum:"100000" doc:"Messages within any day that begin a chat; null or 0: any number." example:"50"`
}

// TransformSchema permits null in place of the object.
func (paceChangeBody) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

type budgetChangeBody struct {
	PerHour *int `json:"perHour,omitempty" nullable:"true" minimum:"0" maximum:"100000" doc:"Within any hour; null or 0: any number." example:"100"`
	PerDay  *int `json:"perDay,omitempty" nullable:"true" minimum:"0" maximum:"100000" doc:"Within any day; null or 0: any number." example:"500"`
}

// TransformSchema permits null in place of the object.
func (budgetChangeBody) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

type instanceChangeBody struct {
	Name         *string           `json:"name,omitempty" minLength:"1" maxLength:"255" doc:"Name of the instance, for people. It can't be removed." example:"Support"`
	ExternalName *string           `json:"externalName,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"What your programs call the instance, and no other of the account; null: nothing." example:"store-17"`
	Proxy        *string           `json:"proxy,omitempty" nullable:"true" minLength:"1" maxLength:"2048" doc:"URL of a proxy: socks5, socks5h, http or https, with user name and password if it asks for them. With socks5 names are looked up by the gateway, with all others by the proxy. The masked URL of an answer changes nothing; null removes the proxy." example:"socks5h://user:password@proxy.example.org:1080"`
	Device       *deviceChangeBody `json:"device,omitempty" doc:"What the phone lists of the device, from the next linking on; null: the default."`

	Pace         *paceChangeBody   `json:"pace,omitempty" doc:"How fast messages leave the queue; null: as fast as they can."`
	Typing       *bool             `json:"typing,omitempty" nullable:"true" doc:"Whether a chat is shown typing before a text from the queue; null: not." example:"true"`
	NumberChecks *budgetChangeBody `json:"numberChecks,omitempty" doc:"How many numbers check-numbers may ask the platform about; null: any number."`

	RejectCalls *bool   `json:"rejectCalls,omitempty" nullable:"true" doc:"Whether calls of people are rejected as soon as they ring; those of groups ring. null: not." example:"true"`
	CallText    *string `json:"rejectCallsText,omitempty" nullable:"true" minLength:"1" maxLength:"1024" doc:"A text that a caller gets who was rejected, through the queue: once within an hour, and at most 60 callers within an hour. null: none." example:"No calls here, please write."`

	Buttons *string `json:"buttons,omitempty" nullable:"true" enum:"poll,refuse" doc:"What becomes of buttons and lists that programs send in the languages of other tools, and that phones do not show: poll, or refuse. null: poll." example:"refuse"`

	ReadMessages *bool `json:"readMessages,omitempty" nullable:"true" doc:"Whether what people write, in groups too, is marked as read as soon as it is stored, and they are told so. What the platform can't be told within a day is left unread for its author; posts of channels are left alone. null: not." example:"true"`
	ReadStatuses *bool `json:"readStatuses,omitempty" nullable:"true" doc:"Whether status posts of contacts are marked as seen as soon as they are stored, and they are told so. null: not." example:"true"`
	AlwaysOnline *bool `json:"alwaysOnline,omitempty" nullable:"true" doc:"Whether the account is shown online while the instance is connected. The phone may show no notifications meanwhile. null: not." example:"true"`
	IgnoreGroups *bool `json:"ignoreGroups,omitempty" nullable:"true" doc:"Whether nothing that comes in of groups is stored or delivered: messages, of this account's phone too, receipts, changes, calls. null: it is." example:"true"`
}

type deviceChangeBody struct {
	Name *string `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"50" doc:"Its name; null: the default, Recado." example:"Front desk"`
	Kind *string `json:"kind,omitempty" nullable:"true" enum:"desktop,chrome,edge,firefox,opera,safari,ipad,tablet" doc:"What sort of device it is shown as; null: the default, desktop." example:"chrome"`
}

// TransformSchema permits null in place of the object, for which huma has no tag.
func (deviceChangeBody) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

type changeInstanceInput struct {
	contract.InstancePath
	contract.JSON[instanceChangeBody]
}

// settings are the changes that a body asks for: a field that is absent changes nothing,
// null sets the default.
func (in *changeInstanceInput) settings() (instance.Settings, error) {
	if err := in.RefuseUnknown(); err != nil {
		return instance.Settings{}, err
	}
	if in.IsNull("name") {
		return instance.Settings{}, gateway.InvalidField("name", "must not be null: an instance has a name")
	}
	given := in.Given()
	var refuseButtons *bool
	if buttons := orNone(in, "buttons", "", given.Buttons); buttons != nil {
		refuseButtons = new(*buttons == buttonsRefuse)
	}
	device, pace, checks := orZero(given.Device), orZero(given.Pace), orZero(given.NumberChecks)
	return instance.Settings{
		Name: given.Name, ExternalName: orNone(in, "externalName", "", given.ExternalName), Proxy: orNone(in, "proxy", "", given.Proxy),
		DeviceName: orNone(in, "device", "name", device.Name), DeviceKind: orNone(in, "device", "kind", device.Kind),
		Sending: instance.SendingChange{
			Gap: duration(orNone(in, "pace", "gapSeconds", pace.GapSeconds)), Jitter: duration(orNone(in, "pace", "jitterSeconds", pace.JitterSeconds)),
			PerMinute:       orNone(in, "pace", "perMinute", pace.PerMinute),
			NewChatsPerHour: orNone(in, "pace", "newChatsPerHour", pace.NewChatsPerHour),
			NewChatsPerDay:  orNone(in, "pace", "newChatsPerDay", pace.NewChatsPerDay),
			Typing:          orNone(in, "typing", "", given.Typing),
			ChecksPerHour:   orNone(in, "numberChecks", "perHour", checks.PerHour),
			ChecksPerDay:    orNone(in, "numberChecks", "perDay", checks.PerDay),
			RejectCalls:     orNone(in, "rejectCalls", "", given.RejectCalls),
			CallText:        orNone(in, "rejectCallsText", "", given.CallText),
			RefuseButtons:   refuseButtons,
		},
		Switches: instance.SwitchesChange{
			ReadMessages: orNone(in, "readMessages", "", given.ReadMessages), ReadStatuses: orNone(in, "readStatuses", "", given.ReadStatuses),
			AlwaysOnline: orNone(in, "alwaysOnline", "", given.AlwaysOnline), IgnoreGroups: orNone(in, "ignoreGroups", "", given.IgnoreGroups),
		},
	}, nil
}

// buttonsRefuse is the value of the field buttons that is not the default.
const buttonsRefuse = "refuse"

// orZero is what is given, or else the zero value.
func orZero[T any](given *T) (value T) {
	if given != nil {
		value = *given
	}
	return value
}

// orNone is what is given of a setting in an object: the zero value if null is, for the
// setting or for the object.
func orNone[T any](in *changeInstanceInput, object, field string, given *T) *T {
	if given == nil && (in.IsNull(object) || in.IsNull(object+"."+field)) {
		return new(T)
	}
	return given
}

// duration reads seconds, to the millisecond.
func duration(seconds *float64) *time.Duration {
	if seconds == nil {
		return nil
	}
	return new(time.Duration(math.Round(*seconds*1000)) * time.Millisecond)
}

func newInstance(shown gateway.Instance, now time.Time) Instance {
	made := Instance{
		InstanceID:     shown.ID,
		Name:           shown.Name,
		ExternalName:   shown.ExternalName,
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
	if pace := shown.Sending.Pace; pace != (gateway.Pace{}) {
		made.Pace = &Pace{
			GapSeconds: pace.Gap.Seconds(), JitterSeconds: pace.Jitter.Seconds(), PerMinute: pace.PerMinute,
			NewChatsPerHour: pace.NewChats.PerHour, NewChatsPerDay: pace.NewChats.PerDay,
		}
	}
	made.Typing = shown.Sending.Typing
	made.RejectCalls, made.CallText = shown.Sending.Calls.Reject, shown.Sending.Calls.Text
	if shown.Sending.RefuseButtons {
		made.Buttons = buttonsRefuse
	}
	made.ReadMessages, made.ReadStatuses = shown.Switches.ReadMessages, shown.Switches.ReadStatuses
	made.AlwaysOnline, made.IgnoreGroups = shown.Switches.AlwaysOnline, shown.Switches.IgnoreGroups
	if shown.Sending.NumberChecks != (gateway.Budget{}) {
		made.NumberChecks = new(Budget(shown.Sending.NumberChecks))
	}
	if until, active := shown.Restricted.Active(now); active {
		made.Restricted = contract.TimestampOrNil(until)
	}
	return made
}

// instances is the resource of instances.
type instances struct {
	use      *instance.Service
	now      func() time.Time
	limits   func() Limits
	creating sync.Mutex // held while an instance is created within a limit
}

type listInstancesInput struct {
	contract.Paging

	ExternalName string `query:"externalName" maxLength:"255" doc:"Only the instance with exactly this external name." example:"store-17"`
}

func (i *instances) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listInstances", Tag: tagInstances,
		Summary:     "List instances",
		Description: "Lists the instances in the scope of the API key, oldest first.",
		Codes:       []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listInstancesInput) (contract.Envelope[Instance], error) {
		if in.ExternalName != "" {
			return contract.Listed(in.Paging, i.shown)(i.use.Named(ctx, contract.Key(ctx), in.ExternalName, in.Request()))
		}
		return contract.Listed(in.Paging, i.shown)(i.use.List(ctx, contract.Key(ctx), in.Request()))
	})
}

// shown is an instance as the answer of a request shows it now.
func (i *instances) shown(found gateway.Instance) Instance { return newInstance(found, i.now()) }

func (i *instances) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getInstance", Tag: tagInstances,
		Summary: "Get an instance", Description: "Returns one instance, as in the list.",
	}, func(ctx context.Context, _ *contract.InstancePath) (Instance, error) {
		return i.shown(contract.Instance(ctx)), nil
	})
}

func (i *instances) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeInstance", Tag: tagInstances,
		Summary: "Change an instance",
		Description: "Changes the fields that are given, and no others, also within an object; null sets a default. A new proxy is tried before it is set, " +
			"which may take half a minute; then the instance connects anew through it, and never without it. " +
			"Unknown fields are refused.",
		Codes: []string{gateway.CodeExternalNameTaken, gateway.CodeProxyUnreachable, gateway.CodeProxyAuthFailed, gateway.CodeProxyPlatform},
	}, func(ctx context.Context, in *changeInstanceInput) (Instance, error) {
		settings, err := in.settings()
		if err != nil {
			return Instance{}, err
		}
		changed, err := i.use.Change(ctx, contract.Instance(ctx).ID, settings)
		return i.shown(changed), err
	})
}

func (i *instances) restart() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "restartInstance", Tag: tagInstances,
		Summary: "Restart an instance",
		Description: "Reconnects a linked instance without a new code, or starts linking an instance that is not linked. " +
			"Returns when the instance is connecting.",
		Codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (contract.Empty, error) {
		return contract.Empty{}, i.use.Restart(ctx, contract.Instance(ctx).ID)
	})
}

func (i *instances) logout() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "logoutInstance", Tag: tagInstances, Destructive: true,
		Summary: "Log out an instance",
		Description: "Ends the session on the platform, or a linking in progress, and removes its keys. The instance and its " +
			"messages stay. If the instance is not linked, nothing changes.",
		Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (contract.Empty, error) {
		return contract.Empty{}, i.use.Logout(ctx, contract.Instance(ctx).ID)
	})
}

type newInstanceBody struct {
	Name string `json:"name" minLength:"1" maxLength:"255" doc:"Name of the instance, for people." example:"Support"`

	ExternalName string `json:"externalName,omitempty" minLength:"1" maxLength:"255" doc:"What your programs call the instance, and no other of the account. If left out: nothing." example:"store-17"`
}

type paymentBody struct {
	Pending bool `json:"pending" doc:"true closes the session of the instance and keeps its keys; false brings it back." example:"true"`
}

func (i *instances) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createInstance", Tag: tagPartner,
		Summary: "Create an instance", Description: "The new instance is not linked to an account yet. A key whose scope is limited to certain instances can't create one.",
		Status: http.StatusCreated, Audience: contract.Partners, Codes: []string{gateway.CodeInstanceLimit, gateway.CodeExternalNameTaken},
	}, func(ctx context.Context, in *contract.JSON[newInstanceBody]) (Instance, error) {
		own := contract.Key(ctx)
		if len(own.InstanceIDs) > 0 {
			return Instance{}, gateway.Errorf(gateway.Forbidden, gateway.CodeForbidden,
				"the API key's scope is limited to certain instances, and a new one would not be in it: use a partner key for the whole account")
		}
		given := in.Given()
		return contract.Answered(i.shown)(i.createWithin(ctx, own.AccountID, instance.Draft{Name: given.Name, ExternalName: given.ExternalName}))
	})
}

// createWithin creates an instance unless the account has as many as it may.
func (i *instances) createWithin(ctx context.Context, accountID string, draft instance.Draft) (gateway.Instance, error) {
	if most := i.limits().Instances; most > 0 {
		// Two requests at the same time must not both find the last place.
		i.creating.Lock()
		defer i.creating.Unlock()
		page, err := i.use.List(ctx, gateway.Key{AccountID: accountID}, gateway.PageRequest{Page: 1, Limit: 1})
		if err != nil {
			return gateway.Instance{}, err
		}
		if page.Total >= most {
			return gateway.Instance{}, gateway.Errorf(gateway.Conflict, gateway.CodeInstanceLimit,
				"the account has %d instances and may not have more: delete one, or ask the operator of the gateway", page.Total)
		}
	}
	return i.use.Create(ctx, accountID, draft)
}

func (i *instances) delete() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "deleteInstance", Tag: tagPartner,
		Summary: "Delete an instance", Description: "Logs the instance out, then removes it with its messages.",
		Audience: contract.Partners, Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) error {
		return i.use.Delete(ctx, contract.Instance(ctx).ID)
	})
}

func (i *instances) stop() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "stopInstance", Tag: tagPartner, Destructive: true,
		Summary: "Stop an instance", Description: "Closes the session of the instance and keeps its keys; a restart brings it back.",
		Audience: contract.Partners, Codes: []string{gateway.CodePaymentRequired, gateway.CodeUnavailable},
	}, func(ctx context.Context, _ *contract.InstancePath) (contract.Empty, error) {
		return contract.Empty{}, i.use.Stop(ctx, contract.Instance(ctx).ID)
	})
}

func (i *instances) setPayment() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "setPayment", Tag: tagPartner,
		Summary: "Mark a payment", Description: "Marks the payment of an instance as pending or as paid.",
		Audience: contract.Partners, Codes: []string{gateway.CodeUnavailable},
	}, func(ctx context.Context, in *instanceBody[paymentBody]) (Instance, error) {
		return contract.Answered(i.shown)(i.use.SetPayment(ctx, contract.Instance(ctx).ID, in.Given().Pending))
	})
}
