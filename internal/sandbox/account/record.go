// The Signal records of a phone, cached.

package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"

	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sqlite"
)

// maxCachedRecords bounds the Signal records of one phone in memory.
const maxCachedRecords = 512

type recordKey struct {
	kind signal.Kind
	key  string
}

// recordCache holds the Signal records that a phone used last. A nil value means
// that the record does not exist.
type recordCache map[recordKey][]byte

// cached reports whether records of a kind are worth caching. One-time keys are
// not, because they are used once.
func cached(kind signal.Kind) bool { return kind != signal.KindPreKey }

// records is the signal.Store of one unit of work. It loads the phone's records and
// collects the changes, which the unit commits. The phone is locked as long as
// records is used.
type records struct {
	db      *sqlite.DB
	account *Account
	changed map[recordKey][]byte
}

// Load implements signal.Store.
func (r *records) Load(ctx context.Context, kind signal.Kind, key string) ([]byte, error) {
	at := recordKey{kind, key}
	if value, ok := r.changed[at]; ok {
		return value, nil
	}
	if value, ok := r.account.records[at]; ok {
		return value, nil
	}
	var value []byte
	err := r.db.Reader().QueryRowContext(ctx,
		"SELECT value FROM records WHERE number = $1 AND kind = $2 AND key = $3", r.account.Number, string(kind), key).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("account: load signal record: %w", err)
	}
	r.remember(at, value)
	return value, nil
}

// Apply implements signal.Store.
func (r *records) Apply(_ context.Context, changes []signal.Change) error {
	for _, change := range changes {
		r.changed[recordKey{change.Kind, change.Key}] = change.Value
	}
	return nil
}

// write writes the changes in tx.
func (r *records) write(ctx context.Context, tx *sqlite.Tx) error {
	for at, value := range r.changed {
		var err error
		if value == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM records WHERE number = $1 AND kind = $2 AND key = $3",
				r.account.Number, string(at.kind), at.key)
		} else {
			_, err = tx.ExecContext(ctx, `INSERT INTO records (number, kind, key, value) VALUES ($1, $2, $3, $4)
				ON CONFLICT (number, kind, key) DO UPDATE SET value = excluded.value`,
				r.account.Number, string(at.kind), at.key, value)
		}
		if err != nil {
			return fmt.Errorf("account: write signal record: %w", err)
		}
	}
	return nil
}

// committed lets the next unit of work see the changes.
func (r *records) committed() {
	for at, value := range maps.All(r.changed) {
		r.remember(at, value)
	}
	clear(r.changed)
}

func (r *records) remember(at recordKey, value []byte) {
	if !cached(at.kind) {
		return
	}
	if len(r.account.records) >= maxCachedRecords {
		clear(r.account.records)
	}
	r.account.records[at] = value
}

// SignalDevice returns the Signal side of the phone. The unit commits its changes.
// The phone must be locked as long as it is used.
func (a *Account) SignalDevice(u *Unit) *signal.Device {
	kept := &records{db: u.db, account: a, changed: map[recordKey][]byte{}}
	u.Write(kept.write)
	u.Then(kept.committed)
	return signal.NewDevice(a.Keys, kept)
}

// LockPhone waits until nothing else uses the phone's Signal state.
func (a *Account) LockPhone() { a.phone.Lock() }

// UnlockPhone is the counterpart of LockPhone.
func (a *Account) UnlockPhone() { a.phone.Unlock() }

// ForgetRecords drops the cached Signal records. The phone must be locked.
func (a *Account) ForgetRecords() { clear(a.records) }
