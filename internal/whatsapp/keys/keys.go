// Package keys keeps the keys of linked devices for the connector: everything that
// whatsmeow remembers of a device and of the people that it talks to. It implements the
// interfaces of whatsmeow's package store on rows that the gateway's own database holds.
//
// A device's rows are held in memory, as far as they are in use. What a received message
// changes is written in the same transaction as the message, and what a send changes
// before anything leaves.
package keys

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// Store keeps the rows of devices. It is safe for concurrent use. It has seven methods:
// whatsmeow's own stores have sixty.
type Store interface {
	// FindDevice returns the number of the device that a JID names.
	FindDevice(ctx context.Context, jid string) (number int64, found bool, err error)
	// AddDevice adds a device with its first rows. What there was under the same JID is
	// removed.
	AddDevice(ctx context.Context, jid string, rows []gateway.DeviceKey) (number int64, err error)
	// RemoveDevice removes a device and its rows, if there is such a device.
	RemoveDevice(ctx context.Context, jid string) error
	// FindDeviceKey returns the value of a row; nil if there is none.
	FindDeviceKey(ctx context.Context, device int64, kind, name string) ([]byte, error)
	// FindDeviceKeys returns the values of those of the named rows of a kind that there are.
	FindDeviceKeys(ctx context.Context, device int64, kind string, names []string) (map[string][]byte, error)
	// ListDeviceKeys returns the rows of a kind whose names begin with prefix.
	ListDeviceKeys(ctx context.Context, device int64, kind, prefix string) ([]gateway.DeviceKey, error)
	// WriteDeviceKeys writes changes in order with everything else of the instance, and
	// returns after the commit, which is safe from a loss of power.
	WriteDeviceKeys(ctx context.Context, instanceID string, changes gateway.DeviceKeyChanges) error
}

// Config is what the keys stand on. All fields are required.
type Config struct {
	Store Store
	Log   waLog.Logger // of the devices
	Now   func() time.Time
}

// Keys are the keys of all devices of one connector. They are safe for concurrent use.
type Keys struct {
	config Config
	people *people

	mu   sync.Mutex
	open map[string]*deviceKeys // by JID
}

// New makes the keys on a store.
func New(config Config) (*Keys, error) {
	if err := required.Check("keys", config); err != nil {
		return nil, err
	}
	people, err := newPeople(config.Store)
	if err != nil {
		return nil, err
	}
	return &Keys{config: config, people: people, open: map[string]*deviceKeys{}}, nil
}

// People are the pairs of number and LID, which all devices share.
type People interface {
	store.LIDStore

	// GetManyPNsForLIDs returns the numbers of those LIDs that have a known one.
	GetManyPNsForLIDs(ctx context.Context, lids []types.JID) (map[types.JID]types.JID, error)
}

// People returns the pairs of number and LID.
func (k *Keys) People() People { return k.people }

// Observer is called about the keys of one session.
type Observer struct {
	// PairsLearnt is called with pairs of number and LID that became known, with
	// locks held: it must only note them.
	PairsLearnt func(pairs []store.LIDMapping)
	// DatabaseFailed is called when the database failed while keys were read or written.
	DatabaseFailed func()
	// StateWanted is called where whatsmeow would read a collection of the app state by itself
	// (ErrLater), with locks held: it must only note it.
	StateWanted func(collection string)
}

// Observe prepares keys for the use by a session, whose observer is called about them. It
// is called before the keys are used.
func Observe(device *store.Device, observer Observer) {
	container, ok := device.Container.(*container)
	if !ok {
		return
	}
	container.observer = observer
	if own, ok := device.EventBuffer.(*deviceKeys); ok {
		container.equip(device, own)
	}
}

// Load loads the keys that device names for a session of an instance, or makes new ones
// if device is empty or its keys are gone. A session that has loaded them before can't
// write any more.
func (k *Keys) Load(ctx context.Context, instanceID, device string) (*store.Device, error) {
	container := &container{keys: k, instanceID: instanceID}
	if device == "" {
		return container.newDevice(), nil
	}
	number, found, err := k.config.Store.FindDevice(ctx, device)
	if err != nil {
		return nil, fmt.Errorf("keys: load: %w", err)
	}
	if !found {
		return container.newDevice(), nil
	}
	own, err := k.take(device, instanceID, number)
	if err != nil {
		return nil, err
	}
	// Not by own.rows: they would remember what nobody asks for again.
	encoded, err := k.config.Store.FindDeviceKey(ctx, number, kindDevice, "")
	if err != nil {
		return nil, fmt.Errorf("keys: load: %w", err)
	}
	loaded, err := readDevice(encoded)
	if err != nil {
		return nil, err
	}
	if err := own.rows.loadReceived(ctx); err != nil {
		return nil, fmt.Errorf("keys: load: %w", err)
	}
	loaded.Log = k.config.Log
	container.linked = true
	container.equip(loaded, own)
	return loaded, nil
}

// take opens the rows of a device, and closes those that an earlier session has open.
func (k *Keys) take(jid, instanceID string, number int64) (*deviceKeys, error) {
	rows, err := newRows(k.config.Store, instanceID, number, rememberedRows)
	if err != nil {
		return nil, err
	}
	migrated, err := lru.New[string, struct{}](migratedPeople)
	if err != nil {
		return nil, fmt.Errorf("keys: remember whose keys were moved: %w", err)
	}
	own := &deviceKeys{rows: rows, pairs: k.people, now: k.config.Now, migrated: migrated}
	k.mu.Lock()
	before := k.open[jid]
	k.open[jid] = own
	k.mu.Unlock()
	if before != nil {
		before.rows.close()
	}
	return own, nil
}

// Release writes what the session with these keys has changed and not written yet, and
// lets it write nothing more. Nothing that was acknowledged depends on that write.
func (k *Keys) Release(ctx context.Context, device *store.Device) error {
	own, ok := device.EventBuffer.(*deviceKeys)
	if !ok {
		return nil // it was never linked
	}
	k.mu.Lock()
	jid := device.GetJID().String()
	if k.open[jid] == own {
		delete(k.open, jid)
	}
	k.mu.Unlock()
	defer own.rows.close()
	if err := own.rows.flush(ctx, nil); err != nil && !errors.Is(err, errClosed) {
		return err
	}
	return nil
}

// Forget removes the keys that device names. Keys that do not exist are no error.
func (k *Keys) Forget(ctx context.Context, device string) error {
	jid, err := types.ParseJID(device)
	if err != nil {
		return fmt.Errorf("keys: forget: %w", err)
	}
	k.mu.Lock()
	before := k.open[jid.String()]
	delete(k.open, jid.String())
	k.mu.Unlock()
	if before != nil {
		before.rows.close()
	}
	if err := k.config.Store.RemoveDevice(ctx, jid.String()); err != nil {
		return fmt.Errorf("keys: forget: %w", err)
	}
	return nil
}

// Send calls send, which encrypts a message with the session's keys and sends it, and
// calls it again where another message has moved a Signal session on meanwhile: then
// nothing was sent. The last call keeps the sessions for itself, so that it can't happen to it.
//
// ready is called when the keys are written and before anything is sent; if it fails,
// nothing is. It may be nil.
func Send(ctx context.Context, ready, send func(ctx context.Context) error) error {
	var err error
	for try := range sendTries {
		sendCtx, done := withSending(ctx, try == sendTries-1, ready)
		err = send(sendCtx)
		done()
		if !errors.Is(err, errSessionMoved) {
			return err
		}
	}
	return err
}

// migratedPeople bounds for how many people it is remembered that their keys were moved
// from their number to their LID; for others the move is only tried again.
const migratedPeople = 512

// deviceKeys are the keys of one device (store.AllSessionSpecificStores). They are safe
// for concurrent use.
type deviceKeys struct {
	rows  *rows
	pairs *people
	now   func() time.Time

	// contacts and preKeys serialise changes that depend on what there is.
	contacts, preKeys sync.Mutex
	migrated          *lru.Cache[string, struct{}] // whose keys were moved from their number to their LID
	firstPreKey       uint32                       // the id of the first prekey; 0, as it is but in tests: drawn

	// ratchet serialises decryption and encryption, which move Signal sessions on. If a
	// message were decrypted while another one to the same person is encrypted, it would
	// overwrite the session that the other has just used, and the next message would be
	// unreadable. It is never held during a request to the platform: see sending.
	ratchet sync.Mutex
	// sends are those that have read sessions and write them later, and do not hold the
	// ratchet meanwhile. They are guarded by the lock of the rows.
	sends map[*sending]struct{}
}

var _ store.AllSessionSpecificStores = (*deviceKeys)(nil)
