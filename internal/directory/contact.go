// The people whom an account knows: their names, what they say of themselves, the address book, and
// the two addresses that everybody has.

package directory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// Contacts are the use cases of the people whom an account knows. They are safe for concurrent use,
// and return the same errors as Service.
type Contacts struct{ of *Service }

// Contacts returns the use cases of the people whom an account knows.
func (s *Service) Contacts() Contacts { return Contacts{s} }

// List returns a page of the people whom the account knows by name, in the order of the
// names; those alone who have search in a name or in their number, in any case. The platform
// is not asked, and the instance need not be connected; one that is not linked knows nobody.
func (c Contacts) List(ctx context.Context, instanceID, search string, page gateway.PageRequest) (gateway.Page[gateway.Contact], error) {
	known, linked, err := c.of.sessions.Known(ctx, instanceID)
	if err != nil || !linked {
		return gateway.Page[gateway.Contact]{}, err
	}
	all, err := known.KnownContacts(ctx)
	if err != nil {
		return gateway.Page[gateway.Contact]{}, err
	}
	text := strings.ToLower(strings.TrimSpace(search))
	all = slices.DeleteFunc(all, func(contact gateway.Contact) bool { return !has(contact, text) })
	slices.SortFunc(all, func(a, b gateway.Contact) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Key(), b.Key()))
	})
	return gateway.PageOf(all, page), nil
}

// has reports whether a contact has a text, in lower case, in a name or in the number.
func has(contact gateway.Contact, text string) bool {
	for _, name := range []string{contact.AddressBook, contact.PushName, contact.BusinessName, contact.Username} {
		if strings.Contains(strings.ToLower(name), text) {
			return true
		}
	}
	return strings.Contains(contact.JID.User(), strings.TrimPrefix(text, "+"))
}

// Get returns what is known of somebody, and what the platform says. Its error is Invalid for
// a number without an account.
func (c Contacts) Get(ctx context.Context, instanceID string, who gateway.Recipient) (gateway.ContactDetails, error) {
	people, party, err := c.find(ctx, instanceID, who)
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	return people.ContactDetails(ctx, party)
}

// Name writes somebody's name into the address book of the account, and returns the contact as
// it is then. Its errors are Invalid for a number without an account, and Conflict if the
// platform does not accept the name.
func (c Contacts) Name(ctx context.Context, instanceID string, who gateway.Recipient, name string) (gateway.ContactDetails, error) {
	people, party, err := c.find(ctx, instanceID, who)
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	if err := people.NameContact(ctx, party, name); err != nil {
		return gateway.ContactDetails{}, err
	}
	return people.ContactDetails(ctx, party)
}

func (c Contacts) find(ctx context.Context, instanceID string, who gateway.Recipient) (gateway.People, gateway.Party, error) {
	session, err := c.of.sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, gateway.Party{}, err
	}
	party, err := c.of.Party(ctx, session.People(), who)
	return session.People(), party, err
}

// Addresses returns both addresses of people, in their order, as far as they are known. The
// platform is not asked, and the instance need not be connected; somebody who is not known,
// which is everybody for one that is not linked, has the chat ID that was given, if one was.
func (c Contacts) Addresses(ctx context.Context, instanceID string, people []gateway.Recipient) ([]gateway.Party, error) {
	known, linked, err := c.of.sessions.Known(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	parties := make([]gateway.Party, len(people))
	for n, who := range people {
		switch {
		case linked:
			parties[n], err = c.addresses(ctx, known, who)
		case who.Chat.IsLID():
			parties[n].LID = who.Chat
		default:
			parties[n].JID = who.Chat
		}
		if err != nil {
			return nil, err
		}
	}
	return parties, nil
}

// addresses returns both addresses of somebody, as far as they are known.
func (c Contacts) addresses(ctx context.Context, known gateway.KnownPeople, who gateway.Recipient) (gateway.Party, error) {
	candidates, err := c.of.Candidates(ctx, who)
	if err != nil {
		return gateway.Party{}, err
	}
	for _, candidate := range candidates { // one of which is the right one, if any is known
		found, err := known.Addresses(ctx, []gateway.JID{candidate.Address()})
		if err != nil {
			return gateway.Party{}, err
		}
		if party := found[0]; party.JID != "" && party.LID != "" {
			return party, nil
		}
	}
	return candidates[0], nil
}
