// Keys from whatsmeow's own tables: those of older versions of this program, and of
// other programs on whatsmeow.

package keys

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	wakeys "go.mau.fi/whatsmeow/util/keys"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/gateway"
)

// importSlice is how many pairs of number and LID are written at once.
const importSlice = 1000

// Source is a database with whatsmeow's tables.
type Source struct {
	DB      *sql.DB
	Dialect string // as whatsmeow names it: sqlite3 or postgres
	Log     waLog.Logger
}

// Import copies the keys of all devices from whatsmeow's tables, which it brings up to
// date before, and returns how many devices it has copied. A device that the store has
// already is left out: its keys have moved on since. A device is copied as a whole or not
// at all. What is only there for a crash is not copied: messages that were decrypted and
// not passed on, and those that were sent.
func Import(ctx context.Context, from Source, to Store) (int, error) {
	container := sqlstore.NewWithDB(from.DB, from.Dialect, from.Log)
	if err := container.Upgrade(ctx); err != nil {
		return 0, fmt.Errorf("keys: bring whatsmeow's tables up to date: %w", err)
	}
	devices, err := container.GetAllDevices(ctx)
	if err != nil {
		return 0, fmt.Errorf("keys: read whatsmeow's devices: %w", err)
	}
	if err := importPairs(ctx, from.DB, to); err != nil {
		return 0, err
	}
	copied := 0
	for _, device := range devices {
		jid := device.ID.String()
		_, known, err := to.FindDevice(ctx, jid)
		if err != nil {
			return copied, fmt.Errorf("keys: import: %w", err)
		}
		if known {
			continue
		}
		rows, err := importRows(ctx, from.DB, device)
		if err != nil {
			return copied, err
		}
		if _, err := to.AddDevice(ctx, jid, rows); err != nil {
			return copied, fmt.Errorf("keys: import: %w", err)
		}
		copied++
	}
	return copied, nil
}

// importRows reads everything of one device.
func importRows(ctx context.Context, db *sql.DB, device *store.Device) ([]gateway.DeviceKey, error) {
	encoded, err := writeDevice(device)
	if err != nil {
		return nil, err
	}
	all := []gateway.DeviceKey{{Kind: kindDevice, Value: encoded}}
	for _, table := range whatsmeowTables() {
		rows, err := table.read(ctx, db, device.ID.String())
		if err != nil {
			return nil, fmt.Errorf("keys: read whatsmeow's %ss: %w", table.kind, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

// whatsmeowTable is a table of whatsmeow's.
type whatsmeowTable struct {
	kind  string
	query string // of the rows of a device
	row   func(scan func(...any) error) (name string, value []byte, err error)
}

func (t whatsmeowTable) read(ctx context.Context, db *sql.DB, jid string) (all []gateway.DeviceKey, err error) {
	found, err := db.QueryContext(ctx, t.query, jid)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		name, value, err := t.row(found.Scan)
		if err != nil {
			return nil, err
		}
		// The newest of several with one name comes last.
		if last := len(all) - 1; last >= 0 && all[last].Name == name {
			all = all[:last]
		}
		all = append(all, gateway.DeviceKey{Kind: t.kind, Name: name, Value: value})
	}
	return all, found.Err()
}

// named reads rows of a name of one column and a value.
func named(scan func(...any) error) (string, []byte, error) {
	var name string
	var value []byte
	err := scan(&name, &value)
	return nameOf(name), value, err
}

// asJSON encodes the value of a row.
func asJSON(name string, value any, err error) (string, []byte, error) {
	if err != nil {
		return "", nil, err
	}
	encoded, err := json.Marshal(value)
	return name, encoded, err
}

func whatsmeowTables() []whatsmeowTable {
	return []whatsmeowTable{
		{kindIdentity, "SELECT their_id, identity FROM whatsmeow_identity_keys WHERE our_jid = $1", named},
		{kindSession, "SELECT their_id, session FROM whatsmeow_sessions WHERE our_jid = $1 AND session IS NOT NULL", named},
		{kindSalt, "SELECT '', salt FROM whatsmeow_nct_salt WHERE our_jid = $1", named},
		{kindPreKey, "SELECT key_id, key, uploaded FROM whatsmeow_pre_keys WHERE jid = $1", scanPreKey},
		{kindSenderKey, "SELECT sender_id, chat_id, sender_key FROM whatsmeow_sender_keys WHERE our_jid = $1", scanSenderKey},
		{kindSyncKey, "SELECT key_id, key_data, timestamp, fingerprint FROM whatsmeow_app_state_sync_keys WHERE jid = $1", scanSyncKey},
		{kindStateVersion, "SELECT name, version, hash FROM whatsmeow_app_state_version WHERE jid = $1", scanVersion},
		{
			kindMutation,
			"SELECT name, index_mac, version, value_mac FROM whatsmeow_app_state_mutation_macs WHERE jid = $1 ORDER BY name, index_mac, version",
			scanMutation,
		},
		{
			kindContact,
			"SELECT their_jid, first_name, full_name, push_name, business_name, redacted_phone FROM whatsmeow_contacts WHERE our_jid = $1",
			scanContact,
		},
		{kindChatSetting, "SELECT chat_jid, muted_until, pinned, archived FROM whatsmeow_chat_settings WHERE our_jid = $1", scanSetting},
		{kindSecret, "SELECT chat_jid, sender_jid, message_id, key FROM whatsmeow_message_secrets WHERE our_jid = $1", scanSecret},
		{kindToken, "SELECT their_jid, token, timestamp, sender_timestamp FROM whatsmeow_privacy_tokens WHERE our_jid = $1", scanToken},
	}
}

func scanPreKey(scan func(...any) error) (string, []byte, error) {
	var id uint32
	var key []byte
	var uploaded bool
	if err := scan(&id, &key, &uploaded); err != nil {
		return "", nil, err
	}
	if len(key) != 32 {
		return "", nil, errors.New("a prekey has another length")
	}
	given := byte(atHome)
	if uploaded {
		given = givenTo
	}
	return preKeyName(id), preKeyValue(&wakeys.PreKey{KeyPair: *wakeys.NewKeyPairFromPrivateKey([32]byte(key))}, given), nil
}

func scanSenderKey(scan func(...any) error) (string, []byte, error) {
	var sender, chat string
	var key []byte
	err := scan(&sender, &chat, &key)
	return nameOf(sender, chat), key, err
}

func scanSyncKey(scan func(...any) error) (string, []byte, error) {
	var id []byte
	var key store.AppStateSyncKey
	err := scan(&id, &key.Data, &key.Timestamp, &key.Fingerprint)
	return asJSON(hex.EncodeToString(id), key, err)
}

func scanVersion(scan func(...any) error) (string, []byte, error) {
	var name string
	var version uint64
	var hash []byte
	err := scan(&name, &version, &hash)
	return nameOf(name), versioned(version, hash), err
}

func scanMutation(scan func(...any) error) (string, []byte, error) {
	var name string
	var version uint64
	var indexMAC, valueMAC []byte
	err := scan(&name, &indexMAC, &version, &valueMAC)
	return mutationName(name, indexMAC), versioned(version, valueMAC), err
}

func scanContact(scan func(...any) error) (string, []byte, error) {
	var jid string
	var first, full, push, business, redacted sql.NullString
	err := scan(&jid, &first, &full, &push, &business, &redacted)
	return asJSON(nameOf(jid), contactRow{
		FirstName: first.String, FullName: full.String, PushName: push.String,
		BusinessName: business.String, RedactedPhone: redacted.String,
	}, err)
}

func scanSetting(scan func(...any) error) (string, []byte, error) {
	var jid string
	var row chatSettingRow
	err := scan(&jid, &row.MutedUntil, &row.Pinned, &row.Archived)
	return asJSON(nameOf(jid), row, err)
}

func scanSecret(scan func(...any) error) (string, []byte, error) {
	var chat, sender, id string
	var secret []byte
	err := scan(&chat, &sender, &id, &secret)
	return nameOf(chat, sender, gateway.CleanID(id)), secret, err
}

func scanToken(scan func(...any) error) (string, []byte, error) {
	var jid string
	var row tokenRow
	var sentAt sql.NullInt64
	err := scan(&jid, &row.Token, &row.At, &sentAt)
	row.SentAt = sentAt.Int64
	return asJSON(nameOf(jid), row, err)
}

// importPairs copies the pairs of number and LID that are not known.
func importPairs(ctx context.Context, db *sql.DB, to Store) (err error) {
	found, err := db.QueryContext(ctx, "SELECT lid, pn FROM whatsmeow_lid_map")
	if err != nil {
		return fmt.Errorf("keys: read whatsmeow's pairs: %w", err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	people, err := newPeople(to)
	if err != nil {
		return err
	}
	var pairs []store.LIDMapping
	for found.Next() {
		var lid, pn string
		if err := found.Scan(&lid, &pn); err != nil {
			return fmt.Errorf("keys: read whatsmeow's pairs: %w", err)
		}
		pair := store.LIDMapping{LID: types.NewJID(lid, types.HiddenUserServer), PN: types.NewJID(pn, types.DefaultUserServer)}
		if known, err := people.GetLIDForPN(ctx, pair.PN); err != nil || !known.IsEmpty() {
			if err != nil {
				return err
			}
			continue
		}
		if pairs = append(pairs, pair); len(pairs) == importSlice {
			if err := people.PutManyLIDMappings(ctx, pairs); err != nil {
				return err
			}
			pairs = nil
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("keys: read whatsmeow's pairs: %w", err)
	}
	return people.PutManyLIDMappings(ctx, pairs)
}
