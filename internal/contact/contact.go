// Package contact holds the use cases of the people whom an account knows: their names, what
// they say of themselves, the address book, and the two addresses that everybody has.
package contact

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// Sessions finds the session of an instance that is connected, and what the device of one that is
// linked knows, connected or not.
type Sessions interface {
	Session(ctx context.Context, instanceID string) (gateway.Session, error)
	Known(ctx context.Context, instanceID string) (people gateway.KnownPeople, linked bool, err error)
}

// Directory finds the addresses of people.
type Directory interface {
	Party(ctx context.Context, session gateway.Session, to gateway.Recipient) (gateway.Party, error)
	// Candidates returns the addresses that a recipient may have, without asking the
	// platform.
	Candidates(ctx context.Context, to gateway.Recipient) ([]gateway.Party, error)
}

// Config is what the service stands on. All of it is required.
type Config struct {
	Sessions  Sessions
	Directory Directory
}

// Service carries out the use cases. It is safe for concurrent use. Besides the errors that a
// method names, it may return Conflict, PaymentRequired, RateLimited, PlatformFailed and
// PlatformTimeout.
type Service struct{ config Config }

// New makes the service.
func New(config Config) (*Service, error) {
	if config.Sessions == nil || config.Directory == nil {
		return nil, errors.New("contact: need sessions and a directory")
	}
	return &Service{config}, nil
}

// List returns a page of the people whom the account knows by name, in the order of the
// names; those alone who have search in a name or in their number, in any case. The platform
// is not asked, and the instance need not be connected; one that is not linked knows nobody.
func (s *Service) List(ctx context.Context, instanceID, search string, page gateway.PageRequest) (gateway.Page[gateway.Contact], error) {
	known, linked, err := s.config.Sessions.Known(ctx, instanceID)
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
	first := min(page.Offset(), len(all))
	return gateway.Page[gateway.Contact]{Items: all[first:min(first+page.Limit, len(all))], Total: len(all)}, nil
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
func (s *Service) Get(ctx context.Context, instanceID string, who gateway.Recipient) (gateway.ContactDetails, error) {
	session, party, err := s.find(ctx, instanceID, who)
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	return session.People().ContactDetails(ctx, party)
}

// Name writes somebody's name into the address book of the account, and returns the contact as
// it is then. Its errors are Invalid for a number without an account, and Conflict if the
// platform does not accept the name.
func (s *Service) Name(ctx context.Context, instanceID string, who gateway.Recipient, name string) (gateway.ContactDetails, error) {
	session, party, err := s.find(ctx, instanceID, who)
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	if err := session.People().NameContact(ctx, party, name); err != nil {
		return gateway.ContactDetails{}, err
	}
	return session.People().ContactDetails(ctx, party)
}

func (s *Service) find(ctx context.Context, instanceID string, who gateway.Recipient) (gateway.Session, gateway.Party, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, gateway.Party{}, err
	}
	party, err := s.config.Directory.Party(ctx, session, who)
	return session, party, err
}

// Addresses returns both addresses of people, in their order, as far as they are known. The
// platform is not asked, and the instance need not be connected; somebody of whom nothing is known,
// which is everybody for one that is not linked, has the chat ID that was given, if one was.
func (s *Service) Addresses(ctx context.Context, instanceID string, people []gateway.Recipient) ([]gateway.Party, error) {
	known, linked, err := s.config.Sessions.Known(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	parties := make([]gateway.Party, len(people))
	for n, who := range people {
		switch {
		case linked:
			parties[n], err = s.addresses(ctx, known, who)
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
func (s *Service) addresses(ctx context.Context, known gateway.KnownPeople, who gateway.Recipient) (gateway.Party, error) {
	candidates, err := s.config.Directory.Candidates(ctx, who)
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
