// Package profiles holds the resources of an instance's own messenger account in the HTTP
// API: its profile, its privacy settings and its block list. The table of routes is in the
// room api.
package profiles

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/profile"
)

// Tag groups the operations in the document and on the reference page.
const Tag = "Own account"

// UseCases are the use cases of the account.
type UseCases interface {
	Get(ctx context.Context, instanceID string) (gateway.OwnProfile, error)
	Change(ctx context.Context, instanceID string, change profile.Change) (gateway.OwnProfile, error)
	Privacy(ctx context.Context, instanceID string) (gateway.Privacy, error)
	ChangePrivacy(ctx context.Context, instanceID string, change profile.PrivacyChange) (gateway.Privacy, error)
	Blocked(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.Party], error)
	StatusAudience(ctx context.Context, instanceID string) (gateway.StatusAudience, error)
}

// Blocking is the use case of the block list that contacts have too.
type Blocking interface {
	Block(ctx context.Context, instanceID string, who gateway.Recipient, blocked bool) error
}

// resource is the resource of the account.
type resource struct {
	use      UseCases
	blocking Blocking
}

// Routes are the operations, in the order in which the reference page shows them.
func Routes(use UseCases, blocking Blocking) []contract.Route {
	r := resource{use, blocking}
	const instance = "/api/instances/{instanceId}"
	return []contract.Route{
		contract.Get(instance+"/profile", r.get()),
		contract.Patch(instance+"/profile", r.change()),
		contract.Get(instance+"/privacy", r.privacy()),
		contract.Patch(instance+"/privacy", r.changePrivacy()),
		contract.Get(instance+"/status/audience", r.audience()),
		contract.Get(instance+"/blocks", r.blocks()),
		contract.Put(instance+"/blocks/{phone}", r.block()),
		contract.Delete(instance+"/blocks/{phone}", r.unblock()),
	}
}

// codes are the refusals of every operation, which needs the platform.
func codes(more ...string) []string {
	return append([]string{
		gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeRateLimited,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable, gateway.CodeValidation,
	}, more...)
}

// OwnProfile is what others see of the account.
type OwnProfile struct {
	ID       string    `json:"id" doc:"Personal chat ID of the account." example:"5511999990000@s.whatsapp.net"`
	LID      *string   `json:"lid" nullable:"true" doc:"Its LID; null where it is not known." example:"174823206119742@lid"`
	Name     string    `json:"name" doc:"The name that the account goes by; empty where it is not known yet." example:"Corner shop"`
	About    string    `json:"about" doc:"What it says about itself; empty if it says nothing." example:"Open from 8 to 18"`
	Picture  *string   `json:"picture" nullable:"true" doc:"URL of its picture; null if it has none." example:"https://pps.example/v/t61/picture.jpg"`
	Business *Business `json:"business" doc:"What it says of itself as a business; null if it is none."`
}

// Business is the profile of a business account.
type Business struct {
	Address    string          `json:"address" doc:"Empty if it names none." example:"Rua Augusta 100, São Paulo"`
	Email      string          `json:"email" doc:"Empty if it names none." example:"shop@example.com"`
	Categories []string        `json:"categories" nullable:"false" doc:"What sort of business it is, in the platform's words." example:"Shopping & retail"`
	TimeZone   string          `json:"timeZone" doc:"Time zone of the hours; empty if it names none." example:"America/Sao_Paulo"`
	Hours      []BusinessHours `json:"hours" nullable:"false" doc:"When it is open; empty if it does not say."`
}

// TransformSchema permits null in place of the object, for which huma has no tag.
func (Business) TransformSchema(_ huma.Registry, schema *huma.Schema) *huma.Schema {
	schema.Nullable = true
	return schema
}

// BusinessHours is when a business is open on a day.
type BusinessHours struct {
	Day    string `json:"day" doc:"The day, as the platform writes it." example:"mon"`
	Mode   string `json:"mode" doc:"specific_hours, open_24h or appointment_only." example:"specific_hours"`
	Opens  string `json:"opens" doc:"Minutes after midnight; empty with other modes." example:"480"`
	Closes string `json:"closes" doc:"Minutes after midnight; empty with other modes." example:"1080"`
}

func newOwnProfile(of gateway.OwnProfile) OwnProfile {
	shown := OwnProfile{
		ID: string(of.JID), LID: contract.TextOrNil(string(of.LID)), Name: of.Name, About: of.About, Picture: contract.TextOrNil(of.PictureURL),
	}
	shown.Business = NewBusiness(of.Business)
	return shown
}

// NewBusiness shows what a business says of itself; nil for none.
func NewBusiness(of *gateway.Business) *Business {
	if of == nil {
		return nil
	}
	shown := &Business{
		Address: of.Address, Email: of.Email, TimeZone: of.TimeZone,
		Categories: append([]string{}, of.Categories...), Hours: make([]BusinessHours, len(of.Hours)),
	}
	for i, hours := range of.Hours {
		shown.Hours[i] = BusinessHours(hours)
	}
	return shown
}

func (r resource) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getProfile", Tag: Tag,
		Summary:     "Get the profile of the account",
		Description: "Returns what others see of the messenger account of this instance, as far as its privacy settings let them. The platform is asked.",
		Codes:       codes(),
	}, func(ctx context.Context, _ *contract.InstancePath) (*contract.Answer[OwnProfile], error) {
		found, err := r.use.Get(ctx, contract.Instance(ctx).ID)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[OwnProfile]{Body: newOwnProfile(found)}, nil
	})
}

type changeProfileBody struct {
	Name    *string `json:"name,omitempty" minLength:"1" maxLength:"25" doc:"The name that the account goes by, at most 25 characters. It can't be removed." example:"Corner shop"`
	About   *string `json:"about,omitempty" nullable:"true" maxLength:"139" doc:"What the account says about itself, at most 139 characters; null or empty removes it." example:"Open from 8 to 18"`
	Picture *string `json:"picture,omitempty" nullable:"true" minLength:"1" format:"media" doc:"Picture of the account: a base64 data URI, or an http(s) URL; null removes it. It is made small, and square." sample:"-"`
}

type changeProfileInput struct {
	contract.InstancePath
	contract.JSON[changeProfileBody]
}

// change reads what is to be changed: a field that is absent changes nothing.
func (in *changeProfileInput) change(ctx context.Context) (profile.Change, error) {
	if err := in.RefuseUnknown(); err != nil {
		return profile.Change{}, err
	}
	if in.IsNull("name") {
		return profile.Change{}, gateway.InvalidFields(gateway.FieldError{Field: "name", Message: "must not be null: leave it out to change nothing"})
	}
	given := in.Given()
	change := profile.Change{Name: given.Name, About: given.About}
	if in.IsNull("about") {
		change.About = new(string)
	}
	hints := media.Hints{Field: "picture"}
	switch inline := contract.Media(ctx); {
	case in.IsNull("picture"):
		change.Picture = &profile.Picture{}
	case inline != nil:
		hints.Decoded = inline
		change.Picture = &profile.Picture{Hints: hints}
	case given.Picture != nil:
		change.Picture = &profile.Picture{Input: *given.Picture, Hints: hints}
	}
	if change == (profile.Change{}) {
		return profile.Change{}, gateway.InvalidFields(gateway.FieldError{Field: "body", Message: "must have a field to change"})
	}
	return change, nil
}

func (r resource) change() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "changeProfile", Tag: Tag,
		Summary: "Change the profile of the account",
		Description: "Changes what the body names and leaves the rest; everybody sees it, on the phone too. If a field is wrong, nothing is changed. The platform has a request for each field: " +
			"if it refuses one after others were changed, the error says in its message which were changed and which were not.",
		Codes: codes(gateway.CodeProfileRefused, gateway.CodeNotSynced, gateway.CodeMediaFetchFailed),
	}, func(ctx context.Context, in *changeProfileInput) (*contract.Answer[OwnProfile], error) {
		change, err := in.change(ctx)
		if err != nil {
			return nil, err
		}
		changed, err := r.use.Change(ctx, contract.Instance(ctx).ID, change)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[OwnProfile]{Body: newOwnProfile(changed)}, nil
	})
}

// BlockedPerson is somebody whom the account has blocked.
type BlockedPerson struct {
	ID   string  `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID  *string `json:"lid" nullable:"true" doc:"The LID; null where it is not known." example:"174823206119742@lid"`
	Name *string `json:"name" nullable:"true" doc:"The name that the person goes by; null where it is not known." example:"Ana Souza"`
}

type blocksInput struct {
	contract.InstancePath
	contract.Paging
}

func (r resource) blocks() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listBlocks", Tag: Tag,
		Summary: "List blocked people",
		Description: "Lists the people whom the account has blocked, here or on the phone, in the order of their addresses. The platform is asked once in a " +
			"connection, with one question for all; afterwards its reports of changes are followed.",
		Codes: codes(),
	}, func(ctx context.Context, in *blocksInput) (*contract.Answer[contract.Envelope[BlockedPerson]], error) {
		page, err := r.use.Blocked(ctx, contract.Instance(ctx).ID, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[BlockedPerson]]{Body: contract.NewEnvelope(in.Paging, page, func(who gateway.Party) BlockedPerson {
			return BlockedPerson{ID: string(who.Address()), LID: contract.TextOrNil(string(who.LID)), Name: contract.TextOrNil(who.Name)}
		})}, nil
	})
}

// BlockPath is the path of somebody on the block list.
type BlockPath struct {
	contract.InstancePath

	Phone string `path:"phone" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, a personal chat ID or a LID." example:"5511988887766"`

	who gateway.Recipient
}

// Resolve reads the person.
func (p *BlockPath) Resolve(huma.Context) []error {
	who, err := gateway.ParseRecipient(p.Phone)
	if err != nil {
		return contract.Wrong("phone", err.Error())
	}
	if !who.IsPerson() {
		return contract.Wrong("phone", "must be a person: a group can't be blocked")
	}
	p.who = who
	return nil
}

func (r resource) block() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "putBlock", Tag: Tag, Status: http.StatusNoContent,
		Summary:     "Block somebody",
		Description: "The person can't write to this account or call it any more, and sees one tick. Blocking somebody who is blocked changes nothing.",
		Codes:       codes(gateway.CodeNotRegistered, gateway.CodeBlockRefused),
	}, func(ctx context.Context, in *BlockPath) (*struct{}, error) {
		return nil, r.blocking.Block(ctx, contract.Instance(ctx).ID, in.who, true)
	})
}

func (r resource) unblock() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deleteBlock", Tag: Tag, Status: http.StatusNoContent,
		Summary:     "Unblock somebody",
		Description: "The person can write to this account again. Unblocking somebody who is not blocked changes nothing.",
		Codes:       codes(gateway.CodeNotRegistered, gateway.CodeBlockRefused),
	}, func(ctx context.Context, in *BlockPath) (*struct{}, error) {
		return nil, r.blocking.Block(ctx, contract.Instance(ctx).ID, in.who, false)
	})
}
