// Package account keeps the accounts of the platform: numbers with their phones,
// and the devices that are linked to them.
//
// Other packages make their changes in its unit of work (Unit), which commits them
// together with the stanzas that they cause. The database is the truth; accounts in
// memory are copies.
package account

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"sync"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/signal"
)

// Account is a number with its phone and its linked devices: a copy of what the
// database holds. It is safe for concurrent use.
type Account struct {
	Number string
	LID    string
	Keys   signal.Keys

	// phone is locked while the phone uses its Signal state, because each step
	// changes the state for the next one.
	phone   sync.Mutex
	records recordCache // guarded by phone

	mu              sync.RWMutex // guards the fields below
	name            string
	about           string
	username        string // empty: it has none
	registered      bool
	online          bool
	bannedUntil     int64 // Unix milliseconds, or BannedForGood
	numberHidden    bool
	restrictedUntil int64 // Unix milliseconds
	filler          MadeUpHistory
	picture         string // the hash of the profile picture's file, "" for none
	blocked         map[string]struct{}
	passkey         PasskeyRule
	privacy         Privacy
	business        *Business
	devices         map[uint16]*Device
}

// BannedForGood is the time of a ban that never ends.
const BannedForGood = -1

// PN is the account's address by number.
func (a *Account) PN() types.JID { return types.NewJID(a.Number, types.DefaultUserServer) }

// LIDJID is the account's address by LID.
func (a *Account) LIDJID() types.JID { return types.NewJID(a.LID, types.HiddenUserServer) }

// ShownPN is the account's address by number, or nil if the account hides its
// number. A nil attribute is left out of a node.
func (a *Account) ShownPN() any {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.numberHidden {
		return nil
	}
	return a.PN()
}

// Address returns the JID of the account's phone in the same form as like: by
// number or by LID.
func (a *Account) Address(like types.JID) types.JID {
	if like.Server == types.DefaultUserServer {
		return a.PN()
	}
	return a.LIDJID()
}

func newAccount(number string) (*Account, error) {
	keys, err := signal.NewKeys(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("account: new account: %w", err)
	}
	lid, err := newLID()
	if err != nil {
		return nil, err
	}
	b := phonenumber.BehaviourOf(number)
	return &Account{
		Number: number, LID: lid, Keys: keys, name: defaultName(number),
		registered: b.Registered, online: b.Online,
	}, nil
}

// newLID draws fifteen digits. The first one is not 0.
func newLID() (string, error) {
	const lowest, span = 100_000_000_000_000, 900_000_000_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(span))
	if err != nil {
		return "", fmt.Errorf("account: draw lid: %w", err)
	}
	return n.Add(n, big.NewInt(lowest)).String(), nil
}
