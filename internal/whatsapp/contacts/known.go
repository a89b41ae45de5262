// What is known of people without a session.

package contacts

import (
	"context"
	"maps"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Names finds the names that a device has of people.
type Names interface {
	All(ctx context.Context) (map[types.JID]keys.Contact, error)
}

// Pairs finds out which numbers and LIDs belong together.
type Pairs interface {
	GetManyPNsForLIDs(ctx context.Context, lids []types.JID) (map[types.JID]types.JID, error)
	GetManyLIDsForPNs(ctx context.Context, pns []types.JID) (map[types.JID]types.JID, error)
}

// Known is what is known of people, from what a device has kept of them (gateway.KnownPeople).
type Known struct {
	Self  gateway.Party // the account itself, which is no contact of its own
	Names Names
	Pairs Pairs
}

var _ gateway.KnownPeople = Known{}

// KnownContacts returns everybody who is known by name (gateway.KnownPeople). Somebody who is
// known under a number and under a LID is one contact.
func (k Known) KnownContacts(ctx context.Context) ([]gateway.Contact, error) {
	all, err := k.Names.All(ctx)
	if err != nil {
		return nil, wire.Failure(err)
	}
	people := make([]gateway.JID, 0, len(all))
	for who := range all {
		if who.Server == types.DefaultUserServer || who.Server == types.HiddenUserServer { // else it is no person
			people = append(people, wire.JIDOf(who))
		}
	}
	parties, err := k.Addresses(ctx, people)
	if err != nil {
		return nil, err
	}
	merged := map[gateway.JID]gateway.Contact{}
	for n, party := range parties {
		jid, err := wire.ToJID(people[n])
		if err != nil || k.Self.Is(party.JID) || k.Self.Is(party.LID) {
			continue
		}
		contact := merged[party.Key()]
		contact.Party = party
		contact.Username = firstOf(contact.Username, all[jid].Username)
		merged[party.Key()] = named(contact, all[jid].ContactInfo)
	}
	contacts := make([]gateway.Contact, 0, len(merged))
	for _, contact := range merged {
		if contact.Name != "" {
			contacts = append(contacts, contact)
		}
	}
	return contacts, nil
}

// named adds names to a contact; the first of each kind stays.
func named(contact gateway.Contact, info types.ContactInfo) gateway.Contact {
	contact.AddressBook = firstOf(contact.AddressBook, info.FullName, info.FirstName)
	contact.PushName = firstOf(contact.PushName, info.PushName)
	contact.BusinessName = firstOf(contact.BusinessName, info.BusinessName)
	contact.Name = firstOf(contact.AddressBook, contact.PushName, contact.BusinessName)
	return contact
}

func firstOf(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}

// Addresses returns both addresses of people (gateway.KnownPeople).
func (k Known) Addresses(ctx context.Context, people []gateway.JID) ([]gateway.Party, error) {
	return Addresses(ctx, k.Pairs, people)
}

// Addresses returns both addresses of people, in their order, as far as the pairs are known.
func Addresses(ctx context.Context, pairs Pairs, people []gateway.JID) ([]gateway.Party, error) {
	var numbers, lids []types.JID
	for _, who := range people {
		jid, err := wire.ToJID(who)
		if err != nil {
			return nil, err
		}
		if jid.Server == types.HiddenUserServer {
			lids = append(lids, jid)
		} else {
			numbers = append(numbers, jid)
		}
	}
	known, err := pairs.GetManyLIDsForPNs(ctx, numbers)
	if err != nil {
		return nil, wire.Failure(err)
	}
	byLID, err := pairs.GetManyPNsForLIDs(ctx, lids)
	if err != nil {
		return nil, wire.Failure(err)
	}
	maps.Copy(known, byLID)
	others := make(map[gateway.JID]gateway.JID, len(known))
	for one, other := range known {
		others[wire.JIDOf(one)] = wire.JIDOf(other)
	}
	parties := make([]gateway.Party, len(people))
	for n, who := range people {
		if parties[n] = (gateway.Party{JID: who, LID: others[who]}); who.IsLID() {
			parties[n] = gateway.Party{JID: others[who], LID: who}
		}
	}
	return parties, nil
}
