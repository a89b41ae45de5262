package platform

import (
	"context"
	"fmt"
	"slices"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// maxObserved bounds the pairs that are remembered as known to be recorded.
const maxObserved = 100_000

// observerCache remembers which observers are recorded, so that a repeated
// look-up writes nothing.
type observerCache struct {
	mu    sync.Mutex
	known map[observation]struct{}
}

type observation struct {
	of *account
	by *device
}

func newObserverCache() *observerCache { return &observerCache{known: map[observation]struct{}{}} }

// add reports whether the pair is new.
func (o *observerCache) add(pair observation) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.known[pair]; ok {
		return false
	}
	if len(o.known) >= maxObserved {
		clear(o.known)
	}
	o.known[pair] = struct{}{}
	return true
}

// observe records that a device holds an account's device list.
func (s *Server) observe(ctx context.Context, of *account, by *device) error {
	if s.load != nil || !s.observers.add(observation{of, by}) {
		return nil
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO observers (number, observer, device) SELECT $1, $2, $3
			WHERE EXISTS (SELECT 1 FROM devices WHERE number = $2 AND device = $3) ON CONFLICT DO NOTHING`,
			of.number, by.account.number, by.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("platform: record observer: %w", err)
	}
	return nil
}

// announceDevices tells everybody who may hold the account's device list that
// these devices were added or removed.
func (s *Server) announceDevices(ctx context.Context, u *unit, of *account, changed []uint16) error {
	holders := map[*device]struct{}{}
	for _, linked := range of.companions() {
		holders[linked] = struct{}{}
	}
	recorded, err := queryStrings(ctx, s.db.Reader(),
		"SELECT observer || ':' || device FROM observers WHERE number = $1", of.number)
	if err != nil {
		return fmt.Errorf("platform: list observers: %w", err)
	}
	for _, ref := range recorded {
		number, id, _ := parseDeviceRef(ref)
		observer, err := s.directory.find(ctx, number)
		if err != nil {
			return err
		}
		if observer == nil {
			continue
		}
		if linked := observer.companion(id); linked != nil {
			holders[linked] = struct{}{}
		}
	}
	// Both forms: a client drops what it keeps under the users of these JIDs.
	var list []waBinary.Node
	for _, id := range changed {
		for _, jid := range []types.JID{of.lidJID(), of.pn()} {
			jid.Device = id
			list = append(list, waBinary.Node{Tag: "device", Attrs: waBinary.Attrs{"jid": jid}})
		}
	}
	for holder := range holders {
		if holder.account == of && slices.Contains(changed, holder.id) {
			continue
		}
		err := u.toDevice(holder, waBinary.Node{
			Tag:     "notification",
			Attrs:   waBinary.Attrs{"from": of.lidJID(), "type": "devices", "id": newID(), "t": s.now().Unix()},
			Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"device_hash": "2:" + randomHex(4)}, Content: list}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
