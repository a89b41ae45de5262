package keys

import (
	"context"
	"slices"
	"sync"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// contactStore stands before whatsmeow's store of contacts. It adds a lock: whatsmeow's
// store copies what it returns without holding its own, which is a data race with a
// change of the name. And it cleans the names: people choose theirs, and PostgreSQL does
// not hold every text.
type contactStore struct {
	store.ContactStore
	mu sync.Mutex
}

// PutPushName writes the name that somebody goes by.
func (c *contactStore) PutPushName(ctx context.Context, user types.JID, name string) (bool, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ContactStore.PutPushName(ctx, user, gateway.CleanName(name))
}

// PutBusinessName writes the name of a business.
func (c *contactStore) PutBusinessName(ctx context.Context, user types.JID, name string) (bool, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ContactStore.PutBusinessName(ctx, user, gateway.CleanName(name))
}

// PutContactName writes a name of the address book.
func (c *contactStore) PutContactName(ctx context.Context, user types.JID, fullName, firstName string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ContactStore.PutContactName(ctx, user, gateway.CleanName(fullName), gateway.CleanName(firstName))
}

// PutAllContactNames writes many names of the address book.
func (c *contactStore) PutAllContactNames(ctx context.Context, contacts []store.ContactEntry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	contacts = slices.Clone(contacts)
	for i := range contacts {
		contacts[i].FirstName = gateway.CleanName(contacts[i].FirstName)
		contacts[i].FullName = gateway.CleanName(contacts[i].FullName)
	}
	return c.ContactStore.PutAllContactNames(ctx, contacts)
}

// PutManyRedactedPhones writes numbers of which a part is hidden.
func (c *contactStore) PutManyRedactedPhones(ctx context.Context, entries []store.RedactedPhoneEntry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ContactStore.PutManyRedactedPhones(ctx, entries)
}

// GetContact returns what is known of somebody.
func (c *contactStore) GetContact(ctx context.Context, user types.JID) (types.ContactInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ContactStore.GetContact(ctx, user)
}

// GetAllContacts returns what is known of everybody.
func (c *contactStore) GetAllContacts(ctx context.Context) (map[types.JID]types.ContactInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ContactStore.GetAllContacts(ctx)
}
