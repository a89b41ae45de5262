package platform

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sqlite"
)

// account is a number with its phone and its linked devices. The database is
// the truth; this is the copy that is looked at.
type account struct {
	number string
	lid    string
	keys   signal.Keys

	// phone is held while the phone works with its Signal state: what it
	// receives, what it sends, and the keys it hands out follow each other.
	phone   sync.Mutex
	records recordCache // guarded by phone

	mu              sync.RWMutex // guards what follows
	name            string
	about           string
	registered      bool
	online          bool
	bannedUntil     int64
	numberHidden    bool
	restrictedUntil int64
	filler          historyFiller
	picture         string // the hash of the profile picture's file, "" for none
	blocked         map[string]struct{}
	devices         map[uint16]*device
}

// bannedForGood is the value of bannedUntil that no time reaches.
const bannedForGood = -1

// pn and lidJID are the two forms of the account's address.
func (a *account) pn() types.JID { return types.NewJID(a.number, types.DefaultUserServer) }

func (a *account) lidJID() types.JID { return types.NewJID(a.lid, types.HiddenUserServer) }

// shownPN is the number's address, nil where the account hides its number: the
// attribute is left out then.
func (a *account) shownPN() any {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.numberHidden {
		return nil
	}
	return a.pn()
}

// address returns the JID of the account's phone in the form of like.
func (a *account) address(like types.JID) types.JID {
	if like.Server == types.DefaultUserServer {
		return a.pn()
	}
	return a.lidJID()
}

func (a *account) displayName() string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.name
}

func (a *account) isRegistered() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.registered
}

func (a *account) isOnline() bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.online
}

// blocks reports whether the account does not want to hear of the other one.
func (a *account) blocks(other *account) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, blocked := a.blocked[other.number]
	return blocked
}

// ban reports whether the account is banned at now and for how long; zero with
// true means for good.
func (a *account) ban(now time.Time) (left time.Duration, banned bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.bannedUntil == bannedForGood {
		return 0, true
	}
	left = time.UnixMilli(a.bannedUntil).Sub(now)
	return left, left > 0
}

// companions returns the linked devices, in order of their numbers.
func (a *account) companions() []*device {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return sortedDevices(a.devices)
}

func (a *account) companion(id uint16) *device {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.devices[id]
}

// directory finds accounts. What was found once stays in memory.
type directory struct {
	db  *sqlite.DB
	now func() time.Time

	mu       sync.RWMutex
	byNumber map[string]*account
	byLID    map[string]*account
}

func newDirectory(db *sqlite.DB, now func() time.Time) *directory {
	return &directory{db: db, now: now, byNumber: map[string]*account{}, byLID: map[string]*account{}}
}

// find returns the account of a canonical number, nil if there is none yet.
func (d *directory) find(ctx context.Context, number string) (*account, error) {
	d.mu.RLock()
	found := d.byNumber[number]
	d.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return d.load(ctx, "number", number)
}

// findLID returns the account of a LID, nil if there is none.
func (d *directory) findLID(ctx context.Context, lid string) (*account, error) {
	d.mu.RLock()
	found := d.byLID[lid]
	d.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return d.load(ctx, "lid", lid)
}

// ensure returns the account of a canonical number and makes it where it does
// not exist: naming a number is enough for its phone to come into being.
func (d *directory) ensure(ctx context.Context, number string) (*account, error) {
	found, err := d.find(ctx, number)
	if found != nil || err != nil {
		return found, err
	}
	created, err := newAccount(number)
	if err != nil {
		return nil, err
	}
	kept, err := created.keys.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("platform: keep keys: %w", err)
	}
	err = d.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO accounts (number, lid, name, registered, online, keys, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (number) DO NOTHING`,
			number, created.lid, created.name, created.registered, created.online, kept, d.now().UnixMilli())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("platform: create account: %w", err)
	}
	// Somebody else may have been faster: what the database says counts.
	return d.load(ctx, "number", number)
}

// byJID returns the account that a JID names, by number or by LID. A number is
// enough to make one, a LID is not. It is nil for anything but a person.
func (d *directory) byJID(ctx context.Context, jid types.JID) (*account, error) {
	switch jid.Server {
	case types.DefaultUserServer, types.LegacyUserServer:
		number := Canonical(jid.User)
		if found, err := d.find(ctx, number); found != nil || err != nil {
			return found, err
		}
		if !canExist(jid.User) {
			return nil, nil // nobody is registered with it
		}
		return d.ensure(ctx, number)
	case types.HiddenUserServer:
		return d.findLID(ctx, jid.User)
	default:
		return nil, nil
	}
}

// all returns every account, oldest first.
func (d *directory) all(ctx context.Context) ([]*account, error) {
	numbers, err := queryStrings(ctx, d.db.Reader(), "SELECT number FROM accounts ORDER BY created_at, rowid")
	if err != nil {
		return nil, fmt.Errorf("platform: list accounts: %w", err)
	}
	accounts := make([]*account, 0, len(numbers))
	for _, number := range numbers {
		found, err := d.find(ctx, number)
		if err != nil {
			return nil, err
		}
		if found != nil {
			accounts = append(accounts, found)
		}
	}
	return accounts, nil
}

func newAccount(number string) (*account, error) {
	keys, err := signal.NewKeys(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("platform: new account: %w", err)
	}
	lid, err := newLID()
	if err != nil {
		return nil, err
	}
	b := behaviourOf(number)
	return &account{
		number: number, lid: lid, keys: keys, name: defaultName(number),
		registered: b.registered, online: b.online,
	}, nil
}

// newLID draws fifteen digits, of which the first is not 0.
func newLID() (string, error) {
	const lowest, span = 100_000_000_000_000, 900_000_000_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(span))
	if err != nil {
		return "", fmt.Errorf("platform: draw lid: %w", err)
	}
	return n.Add(n, big.NewInt(lowest)).String(), nil
}

// load reads an account, and keeps the first copy where two callers load the
// same one. column is a constant of this file.
func (d *directory) load(ctx context.Context, column, value string) (*account, error) {
	row := d.db.Reader().QueryRowContext(ctx,
		`SELECT number, lid, name, about, registered, online, keys, banned_until, picture, number_hidden, restricted_until, history
		FROM accounts WHERE `+column+" = $1", value)
	loaded := &account{devices: map[uint16]*device{}, records: recordCache{}, blocked: map[string]struct{}{}}
	var kept []byte
	var filler string
	err := row.Scan(&loaded.number, &loaded.lid, &loaded.name, &loaded.about,
		&loaded.registered, &loaded.online, &kept, &loaded.bannedUntil, &loaded.picture,
		&loaded.numberHidden, &loaded.restrictedUntil, &filler)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("platform: load account: %w", err)
	}
	if err := errors.Join(loaded.keys.UnmarshalBinary(kept), loaded.filler.parse(filler)); err != nil {
		return nil, fmt.Errorf("platform: load account: %w", err)
	}
	// Devices are added and removed through the one copy in memory, which
	// exists as soon as anything was done with the account in this process.
	d.mu.Lock()
	defer d.mu.Unlock()
	if first := d.byNumber[loaded.number]; first != nil {
		return first, nil
	}
	if err := loadDevices(ctx, d.db, loaded); err != nil {
		return nil, err
	}
	if err := loadBlocked(ctx, d.db, loaded); err != nil {
		return nil, err
	}
	d.byNumber[loaded.number] = loaded
	d.byLID[loaded.lid] = loaded
	return loaded, nil
}
