package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sqlite"
)

// Directory finds accounts and creates them. Accounts that were found stay in
// memory.
type Directory struct {
	DB   *sqlite.DB       // the database that everything is kept in
	Now  func() time.Time // the clock
	Mail *MailQueue       // the phones that have mail
	Bell *feed.Bell       // rings when a phone shows something else

	mu       sync.RWMutex
	byNumber map[string]*Account
	byLID    map[string]*Account
}

// NewDirectory returns a directory of the accounts in db.
func NewDirectory(db *sqlite.DB, now func() time.Time) *Directory {
	return &Directory{
		DB: db, Now: now, Mail: newMailQueue(), Bell: &feed.Bell{},
		byNumber: map[string]*Account{}, byLID: map[string]*Account{},
	}
}

// Find returns the account of a canonical number, or nil if there is none yet.
func (d *Directory) Find(ctx context.Context, number string) (*Account, error) {
	d.mu.RLock()
	found := d.byNumber[number]
	d.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return d.load(ctx, "number", number)
}

// FindLID returns the account of a LID, or nil if there is none.
func (d *Directory) FindLID(ctx context.Context, lid string) (*Account, error) {
	d.mu.RLock()
	found := d.byLID[lid]
	d.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return d.load(ctx, "lid", lid)
}

// Ensure returns the account of a canonical number. It creates the account, and so
// its phone, if there is none yet.
func (d *Directory) Ensure(ctx context.Context, number string) (*Account, error) {
	found, err := d.Find(ctx, number)
	if found != nil || err != nil {
		return found, err
	}
	created, err := newAccount(number)
	if err != nil {
		return nil, err
	}
	kept, err := created.Keys.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("account: keep keys: %w", err)
	}
	err = d.DB.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO accounts (number, lid, name, registered, online, keys, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (number) DO NOTHING`,
			number, created.LID, created.name, created.registered, created.online, kept, d.Now().UnixMilli())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("account: create account: %w", err)
	}
	d.Bell.Ring(number)
	// Another caller may have created the account first, so the row in the database
	// counts.
	return d.load(ctx, "number", number)
}

// ByJID returns the account that a JID names, by number or by LID. It creates the
// account of a number if there is none yet, but not that of a LID. It returns nil
// for the JID of anything but a person.
func (d *Directory) ByJID(ctx context.Context, jid types.JID) (*Account, error) {
	switch jid.Server {
	case types.DefaultUserServer, types.LegacyUserServer:
		number := phonenumber.Canonical(jid.User)
		if found, err := d.Find(ctx, number); found != nil || err != nil {
			return found, err
		}
		if !phonenumber.CanExist(jid.User) {
			return nil, nil // no phone can have this number
		}
		return d.Ensure(ctx, number)
	case types.HiddenUserServer:
		return d.FindLID(ctx, jid.User)
	default:
		return nil, nil
	}
}

// Named returns the account of a number as people write it. It creates the account
// if there is none yet.
func (d *Directory) Named(ctx context.Context, number string) (*Account, error) {
	digits, err := phonenumber.Parse(number)
	if err != nil {
		return nil, err
	}
	return d.Ensure(ctx, digits)
}

// NamedIn returns the account that a number or a chat ID names. Refusals name the
// field of the request that it came from.
func (d *Directory) NamedIn(ctx context.Context, field, chat string) (*Account, error) {
	if user, isLID := strings.CutSuffix(chat, "@"+types.HiddenUserServer); isLID {
		found, err := d.FindLID(ctx, user)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, refusal.Invalidf(field, "no account has this LID")
		}
		return found, nil
	}
	digits, err := phonenumber.Parse(chat)
	if err != nil {
		return nil, refusal.Invalidf(field, "must be a phone number or a personal chat ID")
	}
	return d.Ensure(ctx, digits)
}

// All returns every account, oldest first.
func (d *Directory) All(ctx context.Context) ([]*Account, error) {
	numbers, err := database.Strings(ctx, d.DB.Reader(), "SELECT number FROM accounts ORDER BY created_at, rowid")
	if err != nil {
		return nil, fmt.Errorf("account: list accounts: %w", err)
	}
	accounts := make([]*Account, 0, len(numbers))
	for _, number := range numbers {
		found, err := d.Find(ctx, number)
		if err != nil {
			return nil, err
		}
		if found != nil {
			accounts = append(accounts, found)
		}
	}
	return accounts, nil
}

// load reads an account. If two callers load the same account, both get the copy
// that was loaded first. column is a constant of this file.
func (d *Directory) load(ctx context.Context, column, value string) (*Account, error) {
	row := d.DB.Reader().QueryRowContext(ctx,
		`SELECT number, lid, name, about, registered, online, keys, banned_until, picture, number_hidden, restricted_until, history, passkey, privacy, business, username
		FROM accounts WHERE `+column+" = $1", value)
	loaded := &Account{devices: map[uint16]*Device{}, records: recordCache{}, blocked: map[string]struct{}{}}
	var kept []byte
	var filler, rule, privacy, business string
	err := row.Scan(&loaded.Number, &loaded.LID, &loaded.name, &loaded.about,
		&loaded.registered, &loaded.online, &kept, &loaded.bannedUntil, &loaded.picture,
		&loaded.numberHidden, &loaded.restrictedUntil, &filler, &rule, &privacy, &business, &loaded.username)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("account: load account: %w", err)
	}
	if err := errors.Join(loaded.Keys.UnmarshalBinary(kept), loaded.filler.parse(filler), loaded.passkey.parse(rule), loaded.privacy.parse(privacy)); err != nil {
		return nil, fmt.Errorf("account: load account: %w", err)
	}
	if loaded.business, err = parseBusiness(business); err != nil {
		return nil, fmt.Errorf("account: load account: %w", err)
	}
	// Devices are added to and removed from this one copy, which exists as soon as
	// this process has used the account.
	d.mu.Lock()
	defer d.mu.Unlock()
	if first := d.byNumber[loaded.Number]; first != nil {
		return first, nil
	}
	if err := loadDevices(ctx, d.DB, loaded); err != nil {
		return nil, err
	}
	if err := loadBlocked(ctx, d.DB, loaded); err != nil {
		return nil, err
	}
	d.byNumber[loaded.Number] = loaded
	d.byLID[loaded.LID] = loaded
	return loaded, nil
}

// loadBlocked loads the people whom the account has blocked.
func loadBlocked(ctx context.Context, db *sqlite.DB, of *Account) error {
	numbers, err := database.Strings(ctx, db.Reader(), "SELECT blocked FROM blocks WHERE number = $1", of.Number)
	if err != nil {
		return fmt.Errorf("account: load blocked people: %w", err)
	}
	for _, number := range numbers {
		of.blocked[number] = struct{}{}
	}
	return nil
}
