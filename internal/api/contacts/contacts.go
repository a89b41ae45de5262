// Package contacts holds the resource of the people whom an account knows, in the HTTP API. The
// table of routes is in the room api.
package contacts

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/profiles"
	"github.com/recado-project/recado/internal/gateway"
)

// Tag groups the operations in the document and on the reference page.
const Tag = "Contacts"

// UseCases are the use cases of contacts.
type UseCases interface {
	List(ctx context.Context, instanceID, search string, page gateway.PageRequest) (gateway.Page[gateway.Contact], error)
	Get(ctx context.Context, instanceID string, who gateway.Recipient) (gateway.ContactDetails, error)
	Name(ctx context.Context, instanceID string, who gateway.Recipient, name string) (gateway.ContactDetails, error)
	Addresses(ctx context.Context, instanceID string, people []gateway.Recipient) ([]gateway.Party, error)
}

type resource struct{ use UseCases }

// Routes are the operations, in the order in which the reference page shows them.
func Routes(use UseCases, presences Presences) []contract.Route {
	r := resource{use}
	const instance = "/api/instances/{instanceId}"
	return append([]contract.Route{
		contract.Get(instance+"/contacts", r.list()),
		contract.Get(instance+"/contacts/{phone}", r.get()),
		contract.Put(instance+"/contacts/{phone}", r.name()),
		contract.Post(instance+"/addresses", r.addresses()),
	}, presenceRoutes(presences)...)
}

// asked are the refusals of an operation that asks the platform, and more.
func asked(more ...string) []string {
	return append([]string{
		gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeUnavailable, gateway.CodeValidation, gateway.CodeNotRegistered,
		gateway.CodeRateLimited, gateway.CodePlatformError, gateway.CodePlatformTimeout,
	}, more...)
}

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

// KnownContactDetails is a contact with what the platform says.
type KnownContactDetails struct {
	KnownContact

	About    string             `json:"about" doc:"What the person says about themselves; empty if nothing, or if this account may not see it." example:"At the beach"`
	Business *profiles.Business `json:"business" doc:"What the person says of themselves as a business; null if they are none."`
}

func newContact(of gateway.Contact) KnownContact {
	return KnownContact{
		ID: string(of.Address()), LID: contract.TextOrNil(string(of.LID)), Name: contract.TextOrNil(of.Name),
		AddressBookName: contract.TextOrNil(of.AddressBook), PushName: contract.TextOrNil(of.PushName), BusinessName: contract.TextOrNil(of.BusinessName), Username: contract.TextOrNil(of.Username),
	}
}

func newContactDetails(of gateway.ContactDetails) KnownContactDetails {
	return KnownContactDetails{KnownContact: newContact(of.Contact), About: of.About, Business: profiles.NewBusiness(of.Business)}
}

type listInput struct {
	contract.InstancePath
	contract.Paging

	Search string `query:"search" maxLength:"255" doc:"Only people with this in a name or in their number. Case doesn't count." example:"ana"`
}

func (r resource) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listContacts", Tag: Tag,
		Summary: "List contacts",
		Description: "Lists the people whom the account knows by name, in the order of the names: from its address book, from what they call themselves, and from the names of businesses. " +
			"It is read from what the gateway has kept; the platform is asked nothing. The instance need not be connected; one that is not linked has none.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *listInput) (*contract.Answer[contract.Envelope[KnownContact]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, in.Search, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[KnownContact]]{Body: contract.NewEnvelope(in.Paging, page, newContact)}, nil
	})
}

// Path is the path of a contact.
type Path struct {
	contract.InstancePath

	Phone string `path:"phone" doc:"A phone number with country code, a Brazilian mobile number of 11 digits, a personal chat ID or a LID." example:"5511988887766"`

	who gateway.Recipient
}

// Resolve reads the contact, and refuses a group.
func (p *Path) Resolve(huma.Context) []error {
	who, err := gateway.ParseRecipient(p.Phone)
	if err != nil {
		return contract.Wrong("phone", err.Error())
	}
	if !who.IsPerson() {
		return contract.Wrong("phone", "must be a person: groups and channels are no contacts")
	}
	p.who = who
	return nil
}

func (r resource) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getContact", Tag: Tag,
		Summary: "Get a contact",
		Description: "Returns the names that are known of somebody, both addresses, and what they say of themselves: the platform is asked for that. " +
			"Somebody of whom no name is known is answered too.",
		Codes: asked(),
	}, func(ctx context.Context, in *Path) (*contract.Answer[KnownContactDetails], error) {
		found, err := r.use.Get(ctx, contract.Instance(ctx).ID, in.who)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[KnownContactDetails]{Body: newContactDetails(found)}, nil
	})
}

type nameBody struct {
	Name string `json:"name" minLength:"1" maxLength:"128" doc:"What the owner of the account calls the person, at most 128 characters." example:"Ana Souza"`
}

type nameInput struct {
	Path
	contract.JSON[nameBody]
}

func (r resource) name() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "putContact", Tag: Tag,
		Summary:     "Name a contact",
		Description: "Writes somebody's name into the address book of the account, on all its devices: the phone shows it too. It replaces the name that is there.",
		Codes:       asked(gateway.CodeNotSynced, gateway.CodeContactRefused),
	}, func(ctx context.Context, in *nameInput) (*contract.Answer[KnownContactDetails], error) {
		named, err := r.use.Name(ctx, contract.Instance(ctx).ID, in.who, in.Given().Name)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[KnownContactDetails]{Body: newContactDetails(named)}, nil
	})
}

type addressesBody struct {
	Addresses []string `json:"addresses" nullable:"false" maxItems:"500" doc:"Phone numbers, personal chat IDs or LIDs; at most 500." example:"5511988887766"`
}

type addressesInput struct {
	contract.InstancePath
	contract.JSON[addressesBody]
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

func (r resource) addresses() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "findAddresses", Tag: Tag,
		Summary: "Find LIDs of numbers, and numbers of LIDs",
		Description: "Everybody has two addresses. This says which belong together, as far as the gateway has learned it; the platform is asked nothing. " +
			"The instance need not be connected; one that is not linked knows no pair. To have the LID of a number that is not known yet, check the number first.",
		Codes: []string{gateway.CodeValidation},
	}, func(ctx context.Context, in *addressesInput) (*contract.Answer[Addresses], error) {
		given := in.Given().Addresses
		people, err := readPeople(given)
		if err != nil {
			return nil, err
		}
		parties, err := r.use.Addresses(ctx, contract.Instance(ctx).ID, people)
		if err != nil {
			return nil, err
		}
		results := make([]Address, len(parties))
		for n, party := range parties {
			results[n] = Address{Address: given[n]}
			if party.JID != "" && (party.LID != "" || people[n].Chat == party.JID) {
				results[n].JID = new(string(party.JID))
			}
			results[n].LID = contract.TextOrNil(string(party.LID))
		}
		return &contract.Answer[Addresses]{Body: Addresses{Results: results}}, nil
	})
}

// readPeople reads addresses, and names each that is none of a person.
func readPeople(given []string) (people []gateway.Recipient, err error) {
	var wrong []gateway.FieldError
	for n, text := range given {
		who, err := gateway.ParseRecipient(text)
		field := fmt.Sprintf("addresses[%d]", n)
		switch {
		case err != nil:
			wrong = append(wrong, gateway.FieldError{Field: field, Message: err.Error()})
		case !who.IsPerson():
			wrong = append(wrong, gateway.FieldError{Field: field, Message: "must be a person: groups and channels have one address"})
		}
		people = append(people, who)
	}
	if len(wrong) > 0 {
		return nil, gateway.InvalidFields(wrong...)
	}
	return people, nil
}
