// What people are called.

package keys

import (
	"context"
	"encoding/json"
	"fmt"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

const kindContact = "contact"

// contactRow is the row of somebody.
type contactRow struct {
	FirstName     string `json:"firstName,omitempty"`
	FullName      string `json:"fullName,omitempty"`
	PushName      string `json:"pushName,omitempty"`
	BusinessName  string `json:"businessName,omitempty"`
	RedactedPhone string `json:"redactedPhone,omitempty"`
	Username      string `json:"username,omitempty"` // which the library does not keep
}

// contact reads a row; found is false if there is none.
func (k *deviceKeys) contact(ctx context.Context, user types.JID) (row contactRow, found bool, err error) {
	value, err := k.rows.get(ctx, kindContact, nameOf(user.String()))
	if err != nil || value == nil {
		return row, false, err
	}
	if json.Unmarshal(value, &row) != nil {
		return contactRow{}, false, nil //nolint:nilerr // damaged: it is told again
	}
	return row, true, nil
}

// changeContact changes what is known of somebody, and reports whether it is something
// else now. It is written with the next change that has to be written. The caller holds
// the lock of the contacts.
func (k *deviceKeys) changeContact(ctx context.Context, user types.JID, change func(row *contactRow)) (before contactRow, changed bool, err error) {
	before, _, err = k.contact(ctx, user)
	if err != nil {
		return before, false, err
	}
	row := before
	change(&row)
	if row == before {
		return before, false, nil
	}
	value, err := json.Marshal(row)
	if err != nil {
		return before, false, fmt.Errorf("keys: write contact: %w", err)
	}
	k.rows.put(ctx, kindContact, nameOf(user.String()), value)
	return before, true, nil
}

// PutPushName notes the name that somebody goes by. It is not written at once, because it
// comes with every message.
func (k *deviceKeys) PutPushName(ctx context.Context, user types.JID, name string) (bool, string, error) {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	before, changed, err := k.changeContact(ctx, user, func(row *contactRow) { row.PushName = gateway.CleanName(name) })
	if !changed {
		return false, "", err
	}
	return true, before.PushName, nil
}

// PutBusinessName notes the name of a business, as PutPushName does.
func (k *deviceKeys) PutBusinessName(ctx context.Context, user types.JID, name string) (bool, string, error) {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	before, changed, err := k.changeContact(ctx, user, func(row *contactRow) { row.BusinessName = gateway.CleanName(name) })
	if !changed {
		return false, "", err
	}
	return true, before.BusinessName, nil
}

// PutContactName writes a name of the address book.
func (k *deviceKeys) PutContactName(ctx context.Context, user types.JID, firstName, fullName string) error {
	return k.PutAllContactNames(ctx, []store.ContactEntry{{JID: user, FirstName: firstName, FullName: fullName}})
}

// PutAllContactNames writes many names of the address book.
func (k *deviceKeys) PutAllContactNames(ctx context.Context, contacts []store.ContactEntry) error {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	for _, entry := range contacts {
		_, _, err := k.changeContact(ctx, entry.JID, func(row *contactRow) {
			row.FirstName, row.FullName = gateway.CleanName(entry.FirstName), gateway.CleanName(entry.FullName)
		})
		if err != nil {
			return err
		}
	}
	return k.rows.save(ctx)
}

// PutUsername notes the username of somebody, which has been checked; empty: none. It is not written
// at once, as PutPushName does not: it may come with every message.
func PutUsername(ctx context.Context, device *store.Device, user types.JID, username string) error {
	k, ok := device.EventBuffer.(*deviceKeys)
	if !ok {
		return nil // it is not linked any more
	}
	k.contacts.Lock()
	defer k.contacts.Unlock()
	_, _, err := k.changeContact(ctx, user, func(row *contactRow) { row.Username = username })
	return err
}

// PutManyRedactedPhones writes numbers of which a part is hidden.
func (k *deviceKeys) PutManyRedactedPhones(ctx context.Context, entries []store.RedactedPhoneEntry) error {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	for _, entry := range entries {
		_, _, err := k.changeContact(ctx, entry.JID, func(row *contactRow) { row.RedactedPhone = gateway.CleanName(entry.RedactedPhone) })
		if err != nil {
			return err
		}
	}
	return k.rows.save(ctx)
}

func (c contactRow) info() types.ContactInfo {
	return types.ContactInfo{
		Found: true, FirstName: c.FirstName, FullName: c.FullName, PushName: c.PushName,
		BusinessName: c.BusinessName, RedactedPhone: c.RedactedPhone,
	}
}

// GetContact returns what is known of somebody.
func (k *deviceKeys) GetContact(ctx context.Context, user types.JID) (types.ContactInfo, error) {
	row, found, err := k.contact(ctx, user)
	if !found {
		return types.ContactInfo{}, err
	}
	return row.info(), nil
}

// GetAllContacts returns what is known of everybody but whom LeavingOut has named.
func (k *deviceKeys) GetAllContacts(ctx context.Context) (map[types.JID]types.ContactInfo, error) {
	found, err := k.rows.list(ctx, kindContact, "")
	if err != nil {
		return nil, err
	}
	rows, err := readContacts(found)
	if err != nil {
		return nil, err
	}
	all := make(map[types.JID]types.ContactInfo, len(rows))
	for user, contact := range rows {
		all[user] = contact.ContactInfo
	}
	leaveOut(ctx, all)
	return all, nil
}

// Contact is what is known of somebody, with what the library does not keep.
type Contact struct {
	types.ContactInfo

	Username string // empty: none is known
}

func readContacts(found []gateway.DeviceKey) (map[types.JID]Contact, error) {
	all := make(map[types.JID]Contact, len(found))
	for _, row := range found {
		user, err := types.ParseJID(row.Name)
		if err != nil {
			continue // a name that no database holds; nobody asks for it
		}
		var contact contactRow
		if json.Unmarshal(row.Value, &contact) != nil {
			contact = contactRow{} // damaged: somebody without a name, until the phone or a message tells it again
		}
		all[user] = Contact{contact.info(), contact.Username}
	}
	return all, nil
}

// Names are the names that a device has of people. Reading them takes nothing from the
// session that uses the keys, if there is one, writes nothing, and holds nothing up.
type Names struct {
	keys   *Keys
	device string
}

// Names returns the names that a device has of people, whether a session uses its keys or not.
// A device without keys has none.
func (k *Keys) Names(device string) Names { return Names{k, device} }

// All returns what is known of everybody, with what a session here has not written yet.
func (n Names) All(ctx context.Context) (map[types.JID]Contact, error) {
	n.keys.mu.Lock()
	own := n.keys.open[n.device]
	n.keys.mu.Unlock()
	if own != nil {
		found, err := own.rows.list(ctx, kindContact, "")
		if err != nil {
			return nil, err
		}
		return readContacts(found)
	}
	number, known, err := n.keys.config.Store.FindDevice(ctx, n.device)
	if err != nil {
		return nil, fmt.Errorf("keys: find device: %w", err)
	}
	if !known {
		return nil, nil
	}
	found, err := n.keys.config.Store.ListDeviceKeys(ctx, number, kindContact, "")
	if err != nil {
		return nil, fmt.Errorf("keys: list %s: %w", kindContact, err)
	}
	return readContacts(found)
}
