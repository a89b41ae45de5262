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

type contactRow struct {
	FirstName     string `json:"firstName,omitempty"`
	FullName      string `json:"fullName,omitempty"`
	PushName      string `json:"pushName,omitempty"`
	BusinessName  string `json:"businessName,omitempty"`
	RedactedPhone string `json:"redactedPhone,omitempty"`
	Username      string `json:"username,omitempty"` // which the library does not keep
}

// changeContact changes what is known of somebody. It returns what was known before, and whether it is
// something else now; it is written with the next change that has to be written.
func (k *deviceKeys) changeContact(ctx context.Context, user types.JID, change func(row *contactRow)) (before contactRow, changed bool, err error) {
	k.contacts.Lock()
	defer k.contacts.Unlock()
	before, _, err = readRow[contactRow](ctx, k.rows, kindContact, nameOf(user.String()))
	row := before
	change(&row)
	if err != nil || row == before {
		return contactRow{}, false, err
	}
	return before, true, putRow(ctx, k.rows, kindContact, nameOf(user.String()), row)
}

// PutPushName notes the name that somebody goes by. It is not written at once, because it
// comes with every message.
func (k *deviceKeys) PutPushName(ctx context.Context, user types.JID, name string) (bool, string, error) {
	before, changed, err := k.changeContact(ctx, user, func(row *contactRow) { row.PushName = gateway.CleanName(name) })
	return changed, before.PushName, err
}

// PutBusinessName notes the name of a business, as PutPushName does.
func (k *deviceKeys) PutBusinessName(ctx context.Context, user types.JID, name string) (bool, string, error) {
	before, changed, err := k.changeContact(ctx, user, func(row *contactRow) { row.BusinessName = gateway.CleanName(name) })
	return changed, before.BusinessName, err
}

// PutContactName writes a name of the address book.
func (k *deviceKeys) PutContactName(ctx context.Context, user types.JID, firstName, fullName string) error {
	return k.PutAllContactNames(ctx, []store.ContactEntry{{JID: user, FirstName: firstName, FullName: fullName}})
}

// PutAllContactNames writes many names of the address book.
func (k *deviceKeys) PutAllContactNames(ctx context.Context, contacts []store.ContactEntry) error {
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

// PutUsername notes the username of somebody, which has been checked; empty: none. Like PutPushName, it
// does not write at once.
func PutUsername(ctx context.Context, device *store.Device, user types.JID, username string) error {
	k, ok := device.EventBuffer.(*deviceKeys)
	if !ok {
		return nil // it is not linked any more
	}
	_, _, err := k.changeContact(ctx, user, func(row *contactRow) { row.Username = username })
	return err
}

// PutManyRedactedPhones writes numbers of which a part is hidden.
func (k *deviceKeys) PutManyRedactedPhones(ctx context.Context, entries []store.RedactedPhoneEntry) error {
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
	row, found, err := readRow[contactRow](ctx, k.rows, kindContact, nameOf(user.String()))
	if !found {
		return types.ContactInfo{}, err
	}
	return row.info(), nil
}

type leftOutKey struct{}

// LeavingOut returns a context in which GetAllContacts does not list people. The library sends a
// status post to everybody who is listed, and knows those who must not see it by one address
// alone, which may not be the one of the list.
func LeavingOut(ctx context.Context, people map[types.JID]struct{}) context.Context {
	return context.WithValue(ctx, leftOutKey{}, people)
}

// GetAllContacts returns what is known of everybody but whom LeavingOut has named.
func (k *deviceKeys) GetAllContacts(ctx context.Context) (map[types.JID]types.ContactInfo, error) {
	found, err := k.rows.list(ctx, kindContact, "")
	if err != nil {
		return nil, err
	}
	rows := readContacts(found)
	all := make(map[types.JID]types.ContactInfo, len(rows))
	leftOut, _ := ctx.Value(leftOutKey{}).(map[types.JID]struct{})
	for user, contact := range rows {
		if _, out := leftOut[user]; !out {
			all[user] = contact.ContactInfo
		}
	}
	return all, nil
}

// Contact is what is known of somebody, with what the library does not keep.
type Contact struct {
	types.ContactInfo

	Username string // empty: none is known
}

func readContacts(found []gateway.DeviceKey) map[types.JID]Contact {
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
	return all
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
		return readContacts(found), nil
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
	return readContacts(found), nil
}
