// Package vault seals the secrets in the database: the keys of linked devices, the
// secrets of webhooks, of accounts and of the program itself, and the proxies of instances with their
// passwords. Without a master key they are plain, and it does nothing.
//
// Values are sealed with a data key. The data key lies in the database, sealed with the
// master key, which is never there. So the master key can be changed without touching the
// values, and the data key without a stop. The store calls it where it reads and writes
// such a column.
package vault

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/store/table"
)

var (
	// ErrSealed is the error for sealed data that are opened without a master key.
	ErrSealed = errors.New("the secrets in this database are sealed, and there is no master key: give the one that they were sealed " +
		"with, by --master-key-file, --master-key-command or RECADO_MASTER_KEY")
	// ErrWrongKey is the error for sealed data that are opened with another master key.
	ErrWrongKey = errors.New("this is not the master key of this database: give the one that its secrets were sealed with; " +
		"if it was changed with `recado master-key rotate`, that is the new one. Nothing was changed")
	// ErrUnknownToGateways is the error for a new data key that a gateway could not open.
	ErrUnknownToGateways = errors.New("the master key was changed, and no gateway was started with the new one since: one that runs could " +
		"not read what is sealed anew; restart all gateways with the new master key first, or stop them")
	// ErrPlain is the error for data that are not sealed.
	ErrPlain = errors.New("the secrets in this database are not sealed: start the gateway with a master key, and they will be")
)

// Database runs the statements of the vault.
type Database interface {
	table.Database

	// SkipLocked ends a SELECT whose rows must not change before the transaction ends, and
	// leaves those out that another transaction has.
	SkipLocked() string
	// Compact removes what deleted and changed values have left in the files.
	Compact(ctx context.Context) error
}

// Config is what a vault stands on. Database, Logger and Now are required.
type Config struct {
	Database Database
	Master   *seal.Key // nil: plain
	Logger   *slog.Logger
	Now      func() time.Time
}

// Vault seals and opens values. It is safe for concurrent use.
type Vault struct {
	config Config
	keys   atomic.Pointer[keyring]
	// loading is locked while the data keys are read and stored here: of two reads, the earlier
	// one must not be stored last.
	loading sync.Mutex
	// followed is the generation that this process has sealed with since Run has looked last.
	followed int64
}

// keyring are the data keys; it never changes.
type keyring struct {
	all     map[int64]*seal.Key // by generation
	current int64               // that values are sealed with; 0: they are left plain
}

// Open reads the data keys, and makes the first one if there is a master key and none yet.
// Its error is ErrSealed or ErrWrongKey if the master key is not that of the database.
func Open(ctx context.Context, config Config) (*Vault, error) {
	v := &Vault{config: config}
	v.keys.Store(&keyring{all: map[int64]*seal.Key{}})
	if err := v.load(ctx); err != nil {
		return nil, err
	}
	if config.Master != nil && !v.Sealing() {
		if err := v.addGeneration(ctx, 1); err != nil {
			return nil, err
		}
		if err := v.load(ctx); err != nil { // another process may have been faster
			return nil, err
		}
	}
	v.followed = v.keys.Load().current
	return v, nil
}

// Sealing reports whether values are sealed.
func (v *Vault) Sealing() bool { return v.keys.Load().current != 0 }

// Cell is where a value is in the database: a column, and what identifies the row.
type Cell struct {
	column *column
	row    [3]string
	device int64 // the first part of a device key's row, if that is empty
}

// DeviceKey is the value of a key of a device.
func DeviceKey(device int64, kind, name string) Cell {
	// The number becomes a text only if something is sealed.
	return Cell{column: &deviceKeyValue, row: [3]string{"", kind, name}, device: device}
}

// Secret is the value of a secret of the program itself.
func Secret(name string) Cell { return Cell{column: &secretValue, row: [3]string{name}} }

// WebhookCells are the cells of a webhook: its secret, the one that it had before, and its own headers.
type WebhookCells struct{ Secret, Previous, Headers Cell }

// Webhook are the cells of a webhook. cell tells the first one of an instance from the others.
func Webhook(cell string) WebhookCells {
	row := [3]string{cell}
	return WebhookCells{Cell{column: &webhookSecret, row: row}, Cell{column: &webhookPrevious, row: row}, Cell{column: &webhookHeaders, row: row}}
}

// AccountWebhook are the cells of a webhook of an account.
func AccountWebhook(id string) WebhookCells {
	row := [3]string{id}
	return WebhookCells{Cell{column: &accountSecret, row: row}, Cell{column: &accountPrevious, row: row}, Cell{column: &accountHeaders, row: row}}
}

// AppSecret is the app secret of an account.
func AppSecret(accountID string) Cell { return Cell{column: &appSecret, row: [3]string{accountID}} }

// Proxy is the address of an instance's proxy, with the password.
func Proxy(instanceID string) Cell { return Cell{column: &instanceProxy, row: [3]string{instanceID}} }

// texts name the cell, for which a value is sealed.
func (p Cell) texts() []string {
	if p.column == &deviceKeyValue && p.row[0] == "" {
		p.row[0] = strconv.FormatInt(p.device, 10)
	}
	return append([]string{p.column.table, p.column.value}, p.row[:len(p.column.row)]...)
}

// Seal returns the value as it is stored in the column, with the generation for the column next to it.
func (v *Vault) Seal(cell Cell, value []byte) (stored []byte, generation int64) {
	keys := v.keys.Load()
	if keys.current == 0 {
		return value, 0
	}
	return keys.all[keys.current].Seal(value, cell.texts()...), keys.current
}

// SealText is Seal for a column of texts. An empty text is left as it is.
func (v *Vault) SealText(cell Cell, text string) (stored string, generation int64) {
	if text == "" {
		return "", 0
	}
	sealed, generation := v.Seal(cell, []byte(text))
	if generation == 0 {
		return text, 0
	}
	return base64.StdEncoding.EncodeToString(sealed), generation
}

// Open returns the value of a column. Its error says that it was sealed for another
// cell or with another key.
func (v *Vault) Open(ctx context.Context, cell Cell, stored []byte, generation int64) ([]byte, error) {
	if generation == 0 {
		return stored, nil
	}
	key, err := v.key(ctx, generation)
	if err == nil {
		stored, err = key.Open(stored, cell.texts()...)
	}
	if err != nil {
		return nil, fmt.Errorf("vault: open %s.%s: %w", cell.column.table, cell.column.value, err)
	}
	return stored, nil
}

// Scan reads a row of a value and its generation, and opens it.
func (v *Vault) Scan(ctx context.Context, cell Cell, row table.Scanner) ([]byte, error) {
	var stored []byte
	var generation int64
	if err := row.Scan(&stored, &generation); err != nil {
		return nil, err
	}
	return v.Open(ctx, cell, stored, generation)
}

// OpenText is Open for a column of texts.
func (v *Vault) OpenText(ctx context.Context, cell Cell, stored string, generation int64) (string, error) {
	if generation == 0 {
		return stored, nil
	}
	sealed, err := base64.StdEncoding.DecodeString(stored)
	if err != nil {
		return "", fmt.Errorf("vault: open %s.%s: %w", cell.column.table, cell.column.value, err)
	}
	value, err := v.Open(ctx, cell, sealed, generation)
	return string(value), err
}

// key returns the key of a generation, which another process may have added since this one
// has read them.
func (v *Vault) key(ctx context.Context, generation int64) (*seal.Key, error) {
	if key := v.keys.Load().all[generation]; key != nil {
		return key, nil
	}
	if err := v.load(ctx); err != nil {
		return nil, err
	}
	if key := v.keys.Load().all[generation]; key != nil {
		return key, nil
	}
	return nil, fmt.Errorf("there is no data key of generation %d", generation)
}

func (v *Vault) load(ctx context.Context) error {
	v.loading.Lock()
	defer v.loading.Unlock()
	rows, err := readGenerations(ctx, v.config.Database.Reader())
	if err != nil {
		return fmt.Errorf("vault: read the data keys: %w", err)
	}
	keys, err := unwrapAll(v.config.Master, rows)
	if err != nil {
		return err
	}
	// Removed generations stay in memory: values sealed with them may have been read already.
	all := maps.Clone(v.keys.Load().all)
	maps.Copy(all, keys.all)
	v.keys.Store(&keyring{all: all, current: keys.current})
	return nil
}

func unwrapAll(master *seal.Key, rows []generation) (*keyring, error) {
	keys := &keyring{all: map[int64]*seal.Key{}}
	if len(rows) > 0 && master == nil {
		return nil, ErrSealed
	}
	for _, row := range rows {
		key, err := master.Unwrap(row.wrapped, wrappedFor(row.number)...)
		if err != nil {
			return nil, ErrWrongKey
		}
		keys.all[row.number] = key
		keys.current = max(keys.current, row.number)
	}
	return keys, nil
}
