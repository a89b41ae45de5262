package gateway

import (
	"context"
	"time"
)

// Party is a person or group under both of its addresses; one may be unknown,
// and a group has only its chat ID.
type Party struct {
	JID  JID
	LID  JID
	Name string // display name where known
}

// Is reports whether address is one of the party's.
func (p Party) Is(address JID) bool {
	return address != "" && (address == p.JID || address == p.LID)
}

// Address is the address that messages to the party are sent to: the number if it is
// known, else the LID.
func (p Party) Address() JID {
	if p.JID != "" {
		return p.JID
	}
	return p.LID
}

// Key is the address that keys and the order of events use: the LID if it is known, else
// the number. It stays the same when the number becomes known.
func (p Party) Key() JID {
	if p.LID != "" {
		return p.LID
	}
	return p.JID
}

// ContactChange says that something about a contact changed: its name, its picture,
// or that its other address became known.
type ContactChange struct {
	Contact Party
	At      time.Time
	// SourceKey is the same for every delivery of the change.
	SourceKey string
}

func (ContactChange) incoming() {}

// Cleaned cleans the key and the name, and bounds the time. It is nil for a contact
// without an address.
func (c ContactChange) Cleaned(now time.Time) Incoming {
	if c.Contact.Address() == "" {
		return nil
	}
	c.SourceKey = CleanID(c.SourceKey)
	c.Contact = c.Contact.cleaned()
	c.At = CleanTime(c.At, now)
	return c
}

// Contact is somebody whom an account knows, under the names that it has. The name of the party
// is the one to show.
type Contact struct {
	Party
	AddressBook  string // what the owner of the account calls them; empty: they are not in the address book
	PushName     string // what they call themselves
	BusinessName string // what the platform has verified
	Username     string // by which others find them without the number; empty where none is known
}

// ContactDetails is a contact with what the platform says of it.
type ContactDetails struct {
	Contact
	About    string
	Business *Business // nil if it is none
}

// KnownPeople is what a device knows of people. It is read from what was kept, so it needs no
// session; the platform is not asked.
type KnownPeople interface {
	// KnownContacts returns everybody whom the device knows by name, but for the account itself,
	// in no order.
	KnownContacts(ctx context.Context) ([]Contact, error)
	// Addresses returns both addresses of people, in their order, as far as the device knows them.
	Addresses(ctx context.Context, people []JID) ([]Party, error)
}
