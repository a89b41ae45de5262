// Contacts: the address book, both addresses of a person, subscriptions to presence.

package api

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/presence"
)

type contacts struct{ use directory.Contacts }

// KnownContact is somebody whom the account knows by name.
type KnownContact struct {
	ID              string  `json:"id" doc:"Personal chat ID, or the LID if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID             *string `json:"lid" nullable:"true" doc:"The LID; null where it is not known." example:"174823206119742@lid"`
	Name            *string `json:"name" nullable:"true" doc:"The name to show: the first of those below that there is; null where none is known." example:"Ana Souza"`
	AddressBookName *string `json:"addressBookName" nullable:"true" doc:"What the owner of the account calls the person; null if the person is not in the address book." example:"Ana Souza"`
	PushName        *string `json:"pushName" nullable:"true" doc:"What the person goes by; null where it is not known." example:"Aninha"`
	BusinessName    *string `json:"businessName" nullable:"true" doc:"The name of a business that the platform has verified; null for others."`
	Username        *string `json:"username" nullable:"true" doc:"The name by which others find the person without the number; null where none is known. One contact is asked for; the list has what was learned by that, and from the address book." example:"ana.souza"`
}

// ContactDetails is a contact with what the platform says.
type ContactDetails struct {
	KnownContact

	About    string    `json:"about" doc:"What the person says about themselves; empty if nothing, or if this account may not see it." example:"At the beach"`
	Business *Business `json:"business" doc:"What the person says of themselves as a business; null if they are none."`
}

func newContact(of gateway.Contact) KnownContact {
	return KnownContact{
		ID: string(of.Address()), LID: contract.TextOrNil(string(of.LID)), Name: contract.TextOrNil(of.Name),
		AddressBookName: contract.TextOrNil(of.AddressBook), PushName: contract.TextOrNil(of.PushName), BusinessName: contract.TextOrNil(of.BusinessName), Username: contract.TextOrNil(of.Username),
	}
}

func newContactDetails(of gateway.ContactDetails) ContactDetails {
	return ContactDetails{KnownContact: newContact(of.Contact), About: of.About, Business: newBusiness(of.Business)}
}

type listContactsInput struct {
	contract.InstancePath
	contract.Paging

	Search string `query:"search" maxLength:"255" doc:"Only people with this in a name or in their number. Case doesn't count." example:"ana"`
}

func (r contacts) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listContacts", Tag: tagContacts,
		Summary: "List contacts",
		Description: "Lists the people whom the account knows by name, in the order of the names: from its address book, from what they call themselves, and from the names of businesses. " +
			"It is read from what the gateway has kept; the platform is asked nothing. The instance need not be connected; one that is not linked has none.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listContactsInput) (contract.Envelope[KnownContact], error) {
		return contract.Listed(in.Paging, newContact)(r.use.List(ctx, contract.Instance(ctx).ID, in.Search, in.Request()))
	})
}

func (r contacts) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getContact", Tag: tagContacts,
		Summary: "Get a contact",
		Description: "Returns the names that are known of somebody, both addresses, and what they say of themselves: the platform is asked for that. " +
			"A person without a known name is answered too.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeNotRegistered),
	}, func(ctx context.Context, in *PersonPath) (ContactDetails, error) {
		return contract.Answered(newContactDetails)(r.use.Get(ctx, contract.Instance(ctx).ID, in.person))
	})
}

type contactNameBody struct {
	Name string `json:"name" minLength:"1" maxLength:"128" doc:"What the owner of the account calls the person, at most 128 characters." example:"Ana Souza"`
}

type nameContactInput struct {
	PersonPath
	contract.JSON[contactNameBody]
}

func (r contacts) name() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "nameContact", Tag: tagContacts,
		Summary:     "Name a contact",
		Description: "Writes somebody's name into the address book of the account, on all its devices: the phone shows it too. It replaces the name that is there.",
		Codes:       sessionCodes(gateway.CodeValidation, gateway.CodeNotRegistered, gateway.CodeNotSynced, gateway.CodeContactRefused),
	}, func(ctx context.Context, in *nameContactInput) (ContactDetails, error) {
		return contract.Answered(newContactDetails)(r.use.Name(ctx, contract.Instance(ctx).ID, in.person, in.Given().Name))
	})
}

type findAddressesBody struct {
	Addresses []string `json:"addresses" nullable:"false" maxItems:"500" doc:"Phone numbers, personal chat IDs or LIDs; at most 500." example:"5511988887766"`
}

// Address is what is known of the two addresses of somebody.
type Address struct {
	Address string  `json:"address" doc:"As it was given." example:"5511988887766"`
	JID     *string `json:"jid" nullable:"true" doc:"Personal chat ID by number; null if the number is not known." example:"5511988887766@s.whatsapp.net"`
	LID     *string `json:"lid" nullable:"true" doc:"The LID; null if it is not known." example:"174823206119742@lid"`
}

// Addresses are the answers about all of them.
type Addresses struct {
	Results []Address `json:"results" nullable:"false" doc:"One result for each given address, in the same order."`
}

func (r contacts) addresses() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "findAddresses", Tag: tagContacts,
		Summary: "Find LIDs of numbers, and numbers of LIDs",
		Description: "Everybody has two addresses. This says which belong together, as far as the gateway has learned it; the platform is asked nothing. " +
			"The instance need not be connected; one that is not linked knows no pair. To have the LID of a number that is not known yet, check the number first.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *instanceBody[findAddressesBody]) (Addresses, error) {
		given := in.Given().Addresses
		people, err := readAddresses(given)
		if err != nil {
			return Addresses{}, err
		}
		parties, err := r.use.Addresses(ctx, contract.Instance(ctx).ID, people)
		if err != nil {
			return Addresses{}, err
		}
		results := make([]Address, len(parties))
		for n, party := range parties {
			results[n] = Address{Address: given[n]}
			if party.JID != "" && (party.LID != "" || people[n].Chat == party.JID) {
				results[n].JID = new(string(party.JID))
			}
			results[n].LID = contract.TextOrNil(string(party.LID))
		}
		return Addresses{Results: results}, nil
	})
}

// readAddresses reads addresses, and names each that is none of a person.
func readAddresses(given []string) (people []gateway.Recipient, err error) {
	var wrong fieldErrors
	for n, text := range given {
		who, err := gateway.ParseRecipient(text)
		field := fmt.Sprintf("addresses[%d]", n)
		switch {
		case err != nil:
			wrong.add(field, err.Error())
		case !who.IsPerson():
			wrong.add(field, "must be a person: groups and channels have one address")
		}
		people = append(people, who)
	}
	return people, wrong.err()
}

// usualSubscription is how many hours a subscription lasts if the client does not say.
const usualSubscription = 168

type presences struct{ use *presence.Service }

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

func (r presences) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listPresenceSubscriptions", Tag: tagContacts,
		Summary: "List presence subscriptions",
		Description: "Lists the contacts whose presence the instance has subscribed to, with what each has shown last; the oldest subscription first. " +
			"It is read from what the gateway has kept, also while the instance is not connected.",
		Codes: []string{gateway.CodeUnavailable, gateway.CodeValidation},
	}, func(ctx context.Context, in *instanceList) (contract.Envelope[PresenceSubscription], error) {
		return contract.Listed(in.Paging, newPresenceSubscription)(r.use.List(ctx, contract.Instance(ctx).ID, in.Request()))
	})
}

func (r presences) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getPresenceSubscription", Tag: tagContacts,
		Summary:     "Get a contact's presence",
		Description: "Returns what a contact whose presence the instance has subscribed to has shown last. The platform is asked nothing.",
		Codes:       []string{gateway.CodeNotSubscribed, gateway.CodeUnavailable, gateway.CodeValidation},
	}, func(ctx context.Context, in *PersonPath) (PresenceSubscription, error) {
		return contract.Answered(newPresenceSubscription)(r.use.Get(ctx, contract.Instance(ctx).ID, in.person))
	})
}

type newSubscriptionBody struct {
	Hours *int64 `json:"hours,omitempty" minimum:"1" maximum:"720" doc:"For how long, from now on: 720 hours (30 days) at most. Left out: 168 (a week)." example:"24"`
}

type subscribeInput struct {
	PersonPath
	contract.JSON[newSubscriptionBody]
}

func (r presences) subscribe() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "subscribePresence", Tag: tagContacts,
		Summary: "Subscribe to a contact's presence",
		Description: "From now on the event `presence` says when the contact comes online, goes, types or records, as far as the contact shows it to this account. " +
			"The subscription lasts beyond reconnects and restarts, until its end; a repeat prolongs it. An instance has 100 at most. " +
			"The platform shows others' presence only to accounts that show their own: send the presence `available`.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeNotRegistered, gateway.CodeSubscriptionLimit),
	}, func(ctx context.Context, in *subscribeInput) (PresenceSubscription, error) {
		if err := in.RefuseUnknown(); err != nil {
			return PresenceSubscription{}, err
		}
		if in.IsNull("hours") {
			return PresenceSubscription{}, gateway.InvalidField("hours", "must not be null: leave it out for a week")
		}
		hours := int64(usualSubscription)
		if given := in.Given().Hours; given != nil {
			hours = *given
		}
		return contract.Answered(newPresenceSubscription)(r.use.Subscribe(ctx, contract.Instance(ctx).ID, in.person, time.Duration(hours)*time.Hour))
	})
}

func (r presences) unsubscribe() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "unsubscribePresence", Tag: tagContacts,
		Summary: "End a presence subscription",
		Description: "No event says any more when the contact comes and goes. Typing in a chat with this account is reported as before, " +
			"and so is somebody to whom the instance writes.",
		Codes: []string{gateway.CodeNotSubscribed, gateway.CodeUnavailable, gateway.CodeValidation},
	}, func(ctx context.Context, in *PersonPath) error {
		return r.use.Unsubscribe(ctx, contract.Instance(ctx).ID, in.person)
	})
}
