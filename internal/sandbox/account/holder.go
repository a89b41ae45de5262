// The devices that hold the device list of an account.

package account

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// maxObserved bounds the pairs that are kept in memory.
const maxObserved = 100_000

// Holders records which devices hold the device list of an account. It remembers
// the pairs that it has recorded, so that a repeated look-up writes nothing.
type Holders struct {
	db        *sqlite.DB
	directory *Directory
	now       func() time.Time
	load      bool // a server for load tests records nothing

	mu    sync.Mutex
	known map[observation]struct{}
}

type observation struct {
	of *Account
	by *Device
}

// NewHolders returns the holders of the accounts in the directory. load is true on
// a server for load tests, which records nothing.
func NewHolders(directory *Directory, load bool) *Holders {
	return &Holders{db: directory.DB, directory: directory, now: directory.Now, load: load, known: map[observation]struct{}{}}
}

// add reports whether the pair is new.
func (s *Holders) add(pair observation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[pair]; ok {
		return false
	}
	if len(s.known) >= maxObserved {
		clear(s.known)
	}
	s.known[pair] = struct{}{}
	return true
}

// Observe records that a device holds an account's device list.
func (s *Holders) Observe(ctx context.Context, of *Account, by *Device) error {
	if s.load || !s.add(observation{of, by}) {
		return nil
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO observers (number, observer, device) SELECT $1, $2, $3
			WHERE EXISTS (SELECT 1 FROM devices WHERE number = $2 AND device = $3) ON CONFLICT DO NOTHING`,
			of.Number, by.Account.Number, by.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("account: record observer: %w", err)
	}
	return nil
}

// Announce adds notifications to the unit, for all devices that may hold the
// account's device list, that devices were added or removed.
func (s *Holders) Announce(ctx context.Context, u *Unit, of *Account, changed []uint16) error {
	holders, err := s.of(ctx, of)
	if err != nil {
		return err
	}
	// Both forms are listed: a client drops what it keeps under the users of these
	// JIDs.
	var list []waBinary.Node
	for _, id := range changed {
		for _, jid := range []types.JID{of.LIDJID(), of.PN()} {
			jid.Device = id
			list = append(list, waBinary.Node{Tag: "device", Attrs: waBinary.Attrs{"jid": jid}})
		}
	}
	for holder := range holders {
		if holder.Account == of && slices.Contains(changed, holder.ID) {
			continue
		}
		err := u.ToDevice(holder, waBinary.Node{
			Tag:     "notification",
			Attrs:   waBinary.Attrs{"from": of.LIDJID(), "type": "devices", "id": wire.NewID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"device_hash": "2:" + wire.RandomHex(4)}, Content: list}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// of returns the devices that may hold the account's device list: its own ones, and
// those that were recorded.
func (s *Holders) of(ctx context.Context, of *Account) (map[*Device]struct{}, error) {
	holders := map[*Device]struct{}{}
	for _, linked := range of.Companions() {
		holders[linked] = struct{}{}
	}
	recorded, err := database.Strings(ctx, s.db.Reader(),
		"SELECT observer || ':' || device FROM observers WHERE number = $1", of.Number)
	if err != nil {
		return nil, fmt.Errorf("account: list observers: %w", err)
	}
	for _, ref := range recorded {
		number, id, _ := ParseDeviceRef(ref)
		observer, err := s.directory.Find(ctx, number)
		if err != nil {
			return nil, err
		}
		if observer == nil {
			continue
		}
		if linked := observer.Companion(id); linked != nil {
			holders[linked] = struct{}{}
		}
	}
	return holders, nil
}
