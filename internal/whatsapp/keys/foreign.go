// Keys in whatsmeow's own tables: those of other programs on whatsmeow, and of older
// versions of this one.

package keys

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore/upgrades"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

const pairsAtOnce = 1000

// Querier reads a database: *sql.DB, *sql.Tx and *sql.Conn do.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ErrNoTables is the error for a database that whatsmeow keeps nothing in.
var ErrNoTables = errors.New("keys: the database has no tables of whatsmeow")

// Foreign are whatsmeow's own tables in a database. They are read and never changed, so
// they need not be of the newest version: a column that a version does not have yet reads
// as it would be filled by whatsmeow's own upgrade.
type Foreign struct {
	db      Querier
	columns map[string][]string // by table; empty where there is no such table
}

// ForeignDevice is a linked device of another program.
type ForeignDevice struct {
	Device     string // names the keys, for Store.AddDevice
	Name       string // that the other program has given it; empty if that gives none
	Profile    gateway.Profile
	PreKeys    int
	Sessions   int // Signal sessions with other devices
	SenderKeys int // keys of groups' members
	// Unreadable counts the Signal sessions that can't be read. They are not in Rows: the
	// next message makes a new one.
	Unreadable int
	Rows       []gateway.DeviceKey // all keys, for Store.AddDevice
}

// OpenForeign looks for whatsmeow's tables. dialect is whatsmeow's name of the kind of
// database: sqlite3 or postgres. Its error is ErrNoTables if there are none; it refuses
// tables that whatsmeow has changed since, so that they would be misread.
func OpenForeign(ctx context.Context, db Querier, dialect string) (*Foreign, error) {
	f := &Foreign{db: db, columns: map[string][]string{}}
	query := "SELECT name FROM pragma_table_info($1)"
	if dialect == "postgres" {
		query = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped"
	}
	names := []string{deviceTable, pairTable, versionTable}
	for _, table := range whatsmeowTables() {
		names = append(names, table.name)
	}
	for _, name := range names {
		columns, err := f.texts(ctx, query, name)
		if err != nil {
			return nil, fmt.Errorf("keys: look for whatsmeow's tables: %w", err)
		}
		f.columns[name] = columns
	}
	if len(f.columns[deviceTable]) == 0 {
		return nil, ErrNoTables
	}
	if err := f.checkVersion(ctx); err != nil {
		return nil, err
	}
	return f, nil
}

// checkVersion refuses tables that programs of this version of whatsmeow can't use.
func (f *Foreign) checkVersion(ctx context.Context) error {
	if !slices.Contains(f.columns[versionTable], "compat") {
		return nil // an old version, or tables that somebody has copied
	}
	var needed int64
	err := f.each(ctx, "SELECT compat FROM "+versionTable+" WHERE compat IS NOT NULL", nil, func(scan func(...any) error) error {
		return scan(&needed)
	})
	if err != nil {
		return fmt.Errorf("keys: read the version of whatsmeow's tables: %w", err)
	}
	if newest := int64(len(upgrades.Table)); needed > newest {
		return fmt.Errorf("keys: whatsmeow's tables are of version %d, and this program knows them up to version %d", needed, newest)
	}
	return nil
}

// Devices returns the JIDs of all devices, as the tables have them, in order.
func (f *Foreign) Devices(ctx context.Context) ([]string, error) {
	all, err := f.texts(ctx, "SELECT jid FROM "+deviceTable+" WHERE jid IS NOT NULL ORDER BY jid")
	if err != nil {
		return nil, fmt.Errorf("keys: read whatsmeow's devices: %w", err)
	}
	return all, nil
}

// Device reads everything of one device that is worth keeping. What is only there for the
// case of a crash is left: those messages that were sent.
func (f *Foreign) Device(ctx context.Context, jid string) (ForeignDevice, error) {
	device, err := f.device(ctx, jid)
	if err != nil {
		return ForeignDevice{}, fmt.Errorf("keys: read whatsmeow's device: %w", err)
	}
	found, err := newForeignDevice(device)
	if err != nil {
		return ForeignDevice{}, err
	}
	for _, table := range whatsmeowTables() {
		rows, err := f.rows(ctx, table, jid)
		if err != nil {
			return found, fmt.Errorf("keys: read %s: %w", table.name, err)
		}
		switch table.kind {
		case kindSession:
			count := len(rows)
			rows = slices.DeleteFunc(rows, func(row gateway.DeviceKey) bool {
				_, err := sessionrecord.Format{}.Deserialize(row.Value)
				return err != nil
			})
			found.Sessions, found.Unreadable = len(rows), count-len(rows)
		case kindSenderKey:
			found.SenderKeys = len(rows)
		case kindPreKey:
			found.PreKeys = len(rows)
		}
		found.Rows = append(found.Rows, rows...)
	}
	return found, nil
}

// Pairs calls add with all pairs of number and LID, until it returns an error.
func (f *Foreign) Pairs(ctx context.Context, add func(lid, number string) error) error {
	if len(f.columns[pairTable]) == 0 {
		return nil
	}
	err := f.each(ctx, "SELECT lid, pn FROM "+pairTable, nil, func(scan func(...any) error) error {
		var lid, number string
		if err := scan(&lid, &number); err != nil {
			return err
		}
		return add(lid, number)
	})
	if err != nil {
		return fmt.Errorf("keys: read whatsmeow's pairs: %w", err)
	}
	return nil
}

// texts returns the rows of a query for one text.
func (f *Foreign) texts(ctx context.Context, query string, args ...any) (all []string, err error) {
	err = f.each(ctx, query, args, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		all = append(all, text)
		return err
	})
	return all, err
}

// each calls row for each row of a query.
func (f *Foreign) each(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) (err error) {
	found, err := f.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	scan := func(values ...any) error {
		if err := found.Scan(values...); err != nil {
			return errOtherType
		}
		return nil
	}
	for found.Next() {
		if err := row(scan); err != nil {
			return err
		}
	}
	return found.Err()
}

// errOtherType stands for an error of Scan, which would show the value: it may be a key.
var errOtherType = errors.New("a value has another type")

// sel is the beginning of a query of columns of a table. What later versions of whatsmeow
// have added may be missing.
func (f *Foreign) sel(table string, columns ...string) string {
	there := f.columns[table]
	exprs := make([]string, len(columns))
	for n, column := range columns {
		exprs[n] = column
		if otherwise, ok := addedColumns()[column]; ok && !slices.Contains(there, column) {
			exprs[n] = otherwise
		}
	}
	return "SELECT " + strings.Join(exprs, ", ") + " FROM " + table
}

// addedColumns are the columns that versions after the second one have added, with what an
// upgrade fills them with.
func addedColumns() map[string]string {
	return map[string]string{
		"lid": "''", "lid_migration_ts": "0", "companion_meta_nonce": "''", "redacted_phone": "''", "sender_timestamp": "NULL",
	}
}

func (f *Foreign) device(ctx context.Context, jid string) (*store.Device, error) {
	var device *store.Device
	query := f.sel(deviceTable, "lid", "registration_id", "noise_key", "identity_key", "signed_pre_key", "signed_pre_key_id",
		"signed_pre_key_sig", "adv_key", "adv_details", "adv_account_sig", "adv_account_sig_key", "adv_device_sig",
		"platform", "business_name", "push_name", "lid_migration_ts", "companion_meta_nonce") + " WHERE jid = $1"
	err := f.each(ctx, query, []any{jid}, func(scan func(...any) error) error {
		row := deviceRow{}
		var lid, platform, business, push, nonce sql.NullString
		var account waAdv.ADVSignedDeviceIdentity
		err := scan(&lid, &row.RegistrationID, &row.NoiseKey, &row.IdentityKey, &row.SignedPreKey, &row.SignedPreKeyID,
			&row.SignedPreKeySig, &row.AdvSecretKey, &account.Details, &account.AccountSignature, &account.AccountSignatureKey,
			&account.DeviceSignature, &platform, &business, &push, &row.LIDMigrationTime, &nonce)
		if err != nil {
			return err
		}
		if len(account.AccountSignature) != 64 || len(account.AccountSignatureKey) != 32 || len(account.DeviceSignature) != 64 {
			return errors.New("a signature of the link has another length")
		}
		row.Platform, row.BusinessName, row.PushName, row.CompanionNonce = platform.String, business.String, push.String, nonce.String
		if row.JID, err = types.ParseJID(jid); err != nil {
			return err
		}
		if lid.String != "" {
			if row.LID, err = types.ParseJID(lid.String); err != nil {
				return err
			}
		}
		if device, err = row.device(); err == nil {
			device.Account = &account
		}
		return err
	})
	if err == nil && device == nil {
		err = errors.New("it is gone")
	}
	return device, err
}

func (f *Foreign) rows(ctx context.Context, table whatsmeowTable, jid string) ([]gateway.DeviceKey, error) {
	if len(f.columns[table.name]) == 0 {
		return nil, nil // a version that does not have it yet
	}
	var all []gateway.DeviceKey
	query := f.sel(table.name, table.columns...) + " WHERE " + table.owner() + " = $1" + table.tail
	err := f.each(ctx, query, []any{jid}, func(scan func(...any) error) error {
		name, value, err := table.row(scan)
		if err != nil {
			return err
		}
		// The newest of several with one name comes last.
		if last := len(all) - 1; last >= 0 && all[last].Name == name {
			all = all[:last]
		}
		all = append(all, gateway.DeviceKey{Kind: table.kind, Name: name, Value: value})
		return nil
	})
	return all, err
}

// Tables that are not of one device.
const (
	deviceTable  = "whatsmeow_device"
	pairTable    = "whatsmeow_lid_map"
	versionTable = "whatsmeow_version"
)

// whatsmeowTable is a table of whatsmeow's with rows of a device.
type whatsmeowTable struct {
	kind    string
	name    string
	columns []string // that are read and written, without the device's
	tail    string   // of the query
	row     func(scan func(...any) error) (name string, value []byte, err error)
	// values are those of the columns, of a row of ours. There are none for a row that
	// whatsmeow has no place for.
	values func(name string, value []byte) ([]any, error)
}

// owner is the column of the device.
func (t whatsmeowTable) owner() string {
	switch t.kind {
	case kindPreKey, kindSyncKey, kindStateVersion, kindMutation:
		return "jid"
	default:
		return "our_jid"
	}
}

func whatsmeowTables() []whatsmeowTable {
	return []whatsmeowTable{
		{kindIdentity, "whatsmeow_identity_keys", []string{"their_id", "identity"}, "", scanNamed(1), namedValues(1)},
		{kindSession, "whatsmeow_sessions", []string{"their_id", "session"}, " AND session IS NOT NULL", scanNamed(1), sessionValues},
		{kindSalt, "whatsmeow_nct_salt", []string{"salt"}, "", scanNamed(0), namedValues(0)},
		{kindPreKey, "whatsmeow_pre_keys", []string{"key_id", "key", "uploaded"}, "", scanPreKey, preKeyValues},
		{kindSenderKey, "whatsmeow_sender_keys", []string{"sender_id", "chat_id", "sender_key"}, "", scanNamed(2), namedValues(2)},
		{kindSyncKey, "whatsmeow_app_state_sync_keys", []string{"key_id", "key_data", "timestamp", "fingerprint"}, "", scanSyncKey, syncKeyValues},
		{kindStateVersion, "whatsmeow_app_state_version", []string{"name", "version", "hash"}, "", scanVersion, versionValues},
		{
			kindMutation, "whatsmeow_app_state_mutation_macs",
			[]string{"name", "index_mac", "version", "value_mac"},
			" ORDER BY name, index_mac, version", scanMutation, mutationValues,
		},
		{
			kindContact, "whatsmeow_contacts",
			[]string{"their_jid", "first_name", "full_name", "push_name", "business_name", "redacted_phone"},
			"", scanContact, jsonValues(contactValues),
		},
		{kindChatSetting, "whatsmeow_chat_settings", []string{"chat_jid", "muted_until", "pinned", "archived"}, "", scanSetting, jsonValues(settingValues)},
		{kindSecret, "whatsmeow_message_secrets", []string{"chat_jid", "sender_jid", "message_id", "key"}, "", scanSecret, namedValues(3)},
		{kindToken, "whatsmeow_privacy_tokens", []string{"their_jid", "token", "timestamp", "sender_timestamp"}, "", scanToken, jsonValues(tokenValues)},
		{
			kindReceived, "whatsmeow_event_buffer",
			[]string{"ciphertext_hash", "plaintext", "server_timestamp", "insert_timestamp"},
			" AND plaintext IS NOT NULL", scanReceived, receivedValues,
		},
	}
}

// scanNamed reads rows whose name has some texts, each in a column.
func scanNamed(texts int) func(scan func(...any) error) (string, []byte, error) {
	return func(scan func(...any) error) (name string, value []byte, err error) {
		names, into := make([]string, texts), []any{}
		for n := range names {
			into = append(into, &names[n])
		}
		err = scan(append(into, &value)...)
		return nameOf(names...), value, err
	}
}

// asJSON encodes the value of a row.
func asJSON(name string, value any, err error) (string, []byte, error) {
	if err != nil {
		return "", nil, err
	}
	encoded, err := json.Marshal(value)
	return name, encoded, err
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
	return preKeyName(id), preKeyValue(key, uploaded), nil
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
	if err == nil && len(hash) != 128 {
		err = errors.New("the hash of app state has another length")
	}
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
		FirstName: gateway.CleanName(first.String), FullName: gateway.CleanName(full.String), PushName: gateway.CleanName(push.String),
		BusinessName: gateway.CleanName(business.String), RedactedPhone: gateway.CleanName(redacted.String),
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

func scanReceived(scan func(...any) error) (string, []byte, error) {
	var hash, content []byte
	var sentAt, at int64
	if err := scan(&hash, &content, &sentAt, &at); err != nil {
		return "", nil, err
	}
	if len(hash) != 32 {
		return "", nil, errors.New("the hash of a message has another length")
	}
	message := received{hash: [32]byte(hash), content: content, sentAt: time.Unix(sentAt, 0), at: time.UnixMilli(at)}
	return message.name().name, message.encode(), nil
}
