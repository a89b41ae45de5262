// Keys of this program, written into whatsmeow's own tables for another one.

package keys

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow/store/sqlstore"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

// ErrNoDevice is the error for a device that the store has no keys of.
var ErrNoDevice = errors.New("keys: there are no keys of the device")

// Export writes the keys of a device into whatsmeow's own tables, of the newest version,
// which it makes in an empty SQLite database. Of the pairs of number and LID it writes
// those of people who occur in the device's keys. Nothing else may use the device
// meanwhile. Its error is ErrNoDevice if there is no such device.
func Export(ctx context.Context, from Store, jid string, to *sql.DB) (err error) {
	number, found, err := from.FindDevice(ctx, jid)
	if err != nil {
		return fmt.Errorf("keys: export: %w", err)
	}
	if !found {
		return ErrNoDevice
	}
	encoded, err := from.FindDeviceKey(ctx, number, kindDevice, "")
	if err != nil {
		return fmt.Errorf("keys: export: %w", err)
	}
	device, err := readDevice(encoded)
	if err != nil {
		return err
	}
	container := sqlstore.NewWithDB(to, "sqlite3", waLog.Noop)
	if err := container.Upgrade(ctx); err != nil {
		return fmt.Errorf("keys: make whatsmeow's tables: %w", err)
	}
	if err := container.PutDevice(ctx, device); err != nil {
		return fmt.Errorf("keys: export: %w", err)
	}
	tx, err := to.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("keys: export: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	e := export{from: from, number: number, jid: jid, tx: tx, people: map[string]struct{}{}}
	e.meet(device.ID.User)
	for _, table := range whatsmeowTables() {
		if err := e.table(ctx, table); err != nil {
			return fmt.Errorf("keys: export %s: %w", table.name, err)
		}
	}
	if err := e.pairs(ctx); err != nil {
		return fmt.Errorf("keys: export %s: %w", pairTable, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("keys: export: %w", err)
	}
	return nil
}

type export struct {
	from   Store
	number int64 // of the device
	jid    string
	tx     *sql.Tx
	people map[string]struct{} // who occurs in the keys: numbers and LIDs
}

// meet notes the people in the name of a row: addresses and JIDs.
func (e *export) meet(name string) {
	for text := range strings.FieldsSeq(name) {
		if end := strings.IndexAny(text, "_.:@"); end >= 0 {
			text = text[:end]
		}
		e.people[text] = struct{}{}
	}
}

// table writes the rows of a table.
func (e *export) table(ctx context.Context, table whatsmeowTable) error {
	rows, err := e.from.ListDeviceKeys(ctx, e.number, table.kind, "")
	if err != nil || len(rows) == 0 {
		return err
	}
	//nolint:gosec // the names are ours
	statement := "INSERT INTO " + table.name + " (" + table.owner() + ", " + strings.Join(table.columns, ", ") +
		") VALUES (?" + strings.Repeat(", ?", len(table.columns)) + ") ON CONFLICT DO NOTHING"
	insert, err := e.tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }() // the transaction ends it anyway
	for _, row := range rows {
		if table.kind != kindMutation { // its names are no people's
			e.meet(row.Name)
		}
		values, err := table.values(row.Name, row.Value)
		if err != nil {
			return err
		}
		if values == nil {
			continue
		}
		if _, err := insert.ExecContext(ctx, append([]any{e.jid}, values...)...); err != nil {
			return err
		}
	}
	return nil
}

// pairs writes the pairs of the people who occur.
func (e *export) pairs(ctx context.Context) error {
	pairs, err := e.from.ListDeviceKeys(ctx, everybody, kindNumberOfLID, "")
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		lid, pn := pair.Name, string(pair.Value)
		_, knowsLID := e.people[lid]
		_, knowsPN := e.people[pn]
		if !knowsLID && !knowsPN {
			continue
		}
		if _, err := e.tx.ExecContext(ctx, "INSERT INTO "+pairTable+" (lid, pn) VALUES ($1, $2) ON CONFLICT DO NOTHING", lid, pn); err != nil {
			return err
		}
	}
	return nil
}

// namedValues writes rows whose name has some texts, each in a column. There are none for another name.
func namedValues(texts int) func(name string, value []byte) ([]any, error) {
	return func(name string, value []byte) ([]any, error) {
		var values []any
		for _, text := range strings.SplitN(name, " ", texts) {
			values = append(values, text)
		}
		if len(values) != texts {
			return nil, nil
		}
		return append(values, value), nil
	}
}

// jsonValues writes rows of JSON.
func jsonValues[T any](values func(name string, row T) []any) func(name string, value []byte) ([]any, error) {
	return func(name string, value []byte) ([]any, error) {
		var row T
		err := json.Unmarshal(value, &row)
		return values(name, row), err
	}
}

// sessionValues writes a session as libsignal itself does.
func sessionValues(name string, value []byte) ([]any, error) {
	session, err := sessionrecord.Format{}.Deserialize(value)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(session)
	return []any{name, encoded}, err
}

func preKeyValues(name string, value []byte) ([]any, error) {
	id, private, given, err := splitPreKey(name, value)
	if err != nil {
		return nil, err
	}
	return []any{id, private, given}, nil
}

func syncKeyValues(name string, value []byte) ([]any, error) {
	id, err := hex.DecodeString(name)
	if err != nil {
		return nil, err
	}
	key, err := readSyncKey(value)
	if err != nil {
		return nil, err
	}
	return []any{id, key.Data, key.Timestamp, key.Fingerprint}, nil
}

func versionValues(name string, value []byte) ([]any, error) {
	if len(value) != 8+128 {
		return nil, errors.New("app state has another length")
	}
	return []any{name, int64(binary.BigEndian.Uint64(value)), value[8:]}, nil //nolint:gosec // versions are small
}

func mutationValues(name string, value []byte) ([]any, error) {
	collection, indexMAC, ok := strings.Cut(name, " ")
	if !ok || len(value) != 8+32 {
		return nil, nil
	}
	index, err := hex.DecodeString(indexMAC)
	if err != nil {
		return nil, err
	}
	return []any{collection, index, int64(binary.BigEndian.Uint64(value)), value[8:]}, nil //nolint:gosec // as above
}

func contactValues(name string, row contactRow) []any {
	return []any{name, row.FirstName, row.FullName, row.PushName, row.BusinessName, row.RedactedPhone}
}

func settingValues(name string, row chatSettingRow) []any {
	return []any{name, row.MutedUntil, row.Pinned, row.Archived}
}

func tokenValues(name string, row tokenRow) []any {
	return []any{name, row.Token, row.At, sql.NullInt64{Int64: row.SentAt, Valid: row.SentAt != 0}}
}

func receivedValues(name string, value []byte) ([]any, error) {
	message, err := readReceived(name, value)
	if err != nil {
		return nil, err
	}
	return []any{message.hash[:], message.content, message.sentAt.Unix(), message.at.UnixMilli()}, nil
}
