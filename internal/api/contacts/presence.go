// Subscriptions to the presence of contacts, over HTTP.

package contacts

import (
	"context"
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// usualHours is how long a subscription lasts if the client does not say.
const usualHours = 168

// Presences are the use cases of contacts' presence.
type Presences interface {
	Subscribe(ctx context.Context, instanceID string, to gateway.Recipient, lasting time.Duration) (gateway.PresenceSubscription, error)
	Unsubscribe(ctx context.Context, instanceID string, to gateway.Recipient) error
	Get(ctx context.Context, instanceID string, to gateway.Recipient) (gateway.PresenceSubscription, error)
	List(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.PresenceSubscription], error)
}

type presences struct{ use Presences }

func presenceRoutes(use Presences) []contract.Route {
	r := presences{use}
	const one = "/api/instances/{instanceId}/contacts/{phone}/presence-subscription"
	return []contract.Route{
		contract.Get("/api/instances/{instanceId}/presence-subscriptions", r.list()),
		contract.Get(one, r.get()),
		contract.Put(one, r.subscribe()),
		contract.Delete(one, r.unsubscribe()),
	}
}

// PresenceSubscription is a contact whose presence an instance has subscribed to.
type PresenceSubscription struct {
	ID        string              `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID       *string             `json:"lid" nullable:"true" doc:"The LID; null where it is not known." example:"174823206119742@lid"`
	CreatedAt contract.Timestamp  `json:"createdAt" doc:"When the subscription began."`
	EndsAt    contract.Timestamp  `json:"endsAt" doc:"When it ends by itself."`
	Presence  *string             `json:"presence" nullable:"true" enum:"composing,recording,paused,available,unavailable" doc:"What the contact has shown last, in the chat with this account; null if nothing since the subscription began." example:"available"`
	ShownAt   *contract.Timestamp `json:"shownAt" nullable:"true" doc:"When that was; null with presence."`
	LastSeen  *contract.Timestamp `json:"lastSeen" nullable:"true" doc:"When the contact was last online, as it said when it went; null where it doesn't share that."`
}

func newPresenceSubscription(of gateway.PresenceSubscription) PresenceSubscription {
	return PresenceSubscription{
		ID: string(of.Contact.Address()), LID: contract.TextOrNil(string(of.Contact.LID)),
		CreatedAt: contract.Timestamp(of.CreatedAt), EndsAt: contract.Timestamp(of.EndsAt), Presence: contract.TextOrNil(string(of.Presence)),
		ShownAt: contract.TimestampOrNil(of.ShownAt), LastSeen: contract.TimestampOrNil(of.LastSeen),
	}
}

type presencesInput struct {
	contract.InstancePath
	contract.Paging
}

func (r presences) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listPresenceSubscriptions", Tag: Tag,
		Summary: "List presence subscriptions",
		Description: "Lists the contacts whose presence the instance has subscribed to, with what each has shown last; the oldest subscription first. " +
			"It is read from what the gateway has kept, also while the instance is not connected.",
		Codes: []string{gateway.CodeUnavailable, gateway.CodeValidation},
	}, func(ctx context.Context, in *presencesInput) (*contract.Answer[contract.Envelope[PresenceSubscription]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[PresenceSubscription]]{Body: contract.NewEnvelope(in.Paging, page, newPresenceSubscription)}, nil
	})
}

func (r presences) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPresenceSubscription", Tag: Tag,
		Summary:     "Get a contact's presence",
		Description: "Returns what a contact whose presence the instance has subscribed to has shown last. The platform is asked nothing.",
		Codes:       []string{gateway.CodeNotSubscribed, gateway.CodeUnavailable, gateway.CodeValidation},
	}, func(ctx context.Context, in *Path) (*contract.Answer[PresenceSubscription], error) {
		found, err := r.use.Get(ctx, contract.Instance(ctx).ID, in.who)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[PresenceSubscription]{Body: newPresenceSubscription(found)}, nil
	})
}

type subscribeBody struct {
	Hours *int64 `json:"hours,omitempty" minimum:"1" maximum:"720" doc:"For how long, from now on: 720 hours (30 days) at most. Left out: 168 (a week)." example:"24"`
}

type subscribeInput struct {
	Path
	contract.JSON[subscribeBody]
}

func (r presences) subscribe() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "putPresenceSubscription", Tag: Tag,
		Summary: "Subscribe to a contact's presence",
		Description: "From now on the event `presence` says when the contact comes online, goes, types or records, as far as the contact shows it to this account. " +
			"The subscription lasts beyond reconnects and restarts, until its end; a repeat prolongs it. An instance has 100 at most. " +
			"The platform shows others' presence only to accounts that show their own: send the presence `available`.",
		Codes: asked(gateway.CodeSubscriptionLimit),
	}, func(ctx context.Context, in *subscribeInput) (*contract.Answer[PresenceSubscription], error) {
		if err := in.RefuseUnknown(); err != nil {
			return nil, err
		}
		if in.IsNull("hours") {
			return nil, gateway.InvalidFields(gateway.FieldError{Field: "hours", Message: "must not be null: leave it out for a week"})
		}
		hours := int64(usualHours)
		if given := in.Given().Hours; given != nil {
			hours = *given
		}
		kept, err := r.use.Subscribe(ctx, contract.Instance(ctx).ID, in.who, time.Duration(hours)*time.Hour)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[PresenceSubscription]{Body: newPresenceSubscription(kept)}, nil
	})
}

func (r presences) unsubscribe() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "deletePresenceSubscription", Tag: Tag, Status: http.StatusNoContent,
		Summary: "End a presence subscription",
		Description: "No event says any more when the contact comes and goes. Typing in a chat with this account is reported as before, " +
			"and so is somebody to whom the instance writes.",
		Codes: []string{gateway.CodeNotSubscribed, gateway.CodeUnavailable, gateway.CodeValidation},
	}, func(ctx context.Context, in *Path) (*struct{}, error) {
		return nil, r.use.Unsubscribe(ctx, contract.Instance(ctx).ID, in.who)
	})
}
