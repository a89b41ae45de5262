// The device itself: the keys that it is linked with.

package keys

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"

	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	wakeys "go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

const kindDevice = "device"

type deviceRow struct {
	JID              types.JID `json:"jid"`
	LID              types.JID `json:"lid"`
	RegistrationID   uint32    `json:"registrationId"`
	NoiseKey         []byte    `json:"noiseKey"`
	IdentityKey      []byte    `json:"identityKey"`
	SignedPreKey     []byte    `json:"signedPreKey"`
	SignedPreKeyID   uint32    `json:"signedPreKeyId"`
	SignedPreKeySig  []byte    `json:"signedPreKeySignature"`
	AdvSecretKey     []byte    `json:"advSecretKey"`
	Account          []byte    `json:"account"`
	Platform         string    `json:"platform"`
	BusinessName     string    `json:"businessName"`
	PushName         string    `json:"pushName"`
	LIDMigrationTime int64     `json:"lidMigrationTime"`
	CompanionNonce   string    `json:"companionNonce"`
}

func writeDevice(device *store.Device) ([]byte, error) {
	account, err := proto.Marshal(device.Account)
	if err != nil {
		return nil, fmt.Errorf("keys: write device: %w", err)
	}
	return json.Marshal(deviceRow{
		JID: *device.ID, LID: device.LID, RegistrationID: device.RegistrationID,
		NoiseKey: device.NoiseKey.Priv[:], IdentityKey: device.IdentityKey.Priv[:],
		SignedPreKey: device.SignedPreKey.Priv[:], SignedPreKeyID: device.SignedPreKey.KeyID,
		SignedPreKeySig: device.SignedPreKey.Signature[:], AdvSecretKey: device.AdvSecretKey, Account: account,
		Platform: device.Platform, BusinessName: device.BusinessName, PushName: gateway.CleanName(device.PushName),
		LIDMigrationTime: device.LIDMigrationTimestamp, CompanionNonce: device.CompanionMetaNonce,
	})
}

func readDevice(encoded []byte) (*store.Device, error) {
	var row deviceRow
	if err := json.Unmarshal(encoded, &row); err != nil {
		return nil, fmt.Errorf("keys: read device: %w", err)
	}
	var account waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(row.Account, &account); err != nil {
		return nil, fmt.Errorf("keys: read device: %w", err)
	}
	device, err := row.device()
	if err != nil {
		return nil, err
	}
	device.Account = &account
	return device, nil
}

// device makes the device of a row, without its account.
func (row *deviceRow) device() (*store.Device, error) {
	if len(row.NoiseKey) != 32 || len(row.IdentityKey) != 32 || len(row.SignedPreKey) != 32 || len(row.SignedPreKeySig) != 64 {
		return nil, errors.New("keys: read device: a key has another length")
	}
	return &store.Device{
		ID: &row.JID, LID: row.LID, RegistrationID: row.RegistrationID,
		NoiseKey:    wakeys.NewKeyPairFromPrivateKey([32]byte(row.NoiseKey)),
		IdentityKey: wakeys.NewKeyPairFromPrivateKey([32]byte(row.IdentityKey)),
		SignedPreKey: &wakeys.PreKey{
			KeyPair: *wakeys.NewKeyPairFromPrivateKey([32]byte(row.SignedPreKey)),
			KeyID:   row.SignedPreKeyID, Signature: (*[64]byte)(row.SignedPreKeySig),
		},
		AdvSecretKey: row.AdvSecretKey,
		Platform:     row.Platform, BusinessName: row.BusinessName, PushName: row.PushName,
		LIDMigrationTimestamp: row.LIDMigrationTime, CompanionMetaNonce: row.CompanionNonce,
	}, nil
}

// container saves the device of one session (store.DeviceContainer).
type container struct {
	keys       *Keys
	instanceID string
	observer   Observer
	linked     bool // the keys were loaded: the platform has accepted them
}

var _ store.DeviceContainer = (*container)(nil)

// newDevice makes the keys of a device that is not linked yet. Nothing is written before
// whatsmeow saves them, when a phone has accepted them.
func (c *container) newDevice() *store.Device {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	device := &store.Device{
		Log: c.keys.config.Log, Container: c,
		NoiseKey: wakeys.NewKeyPair(), IdentityKey: wakeys.NewKeyPair(),
		RegistrationID: mathrand.Uint32(), //nolint:gosec // it is no secret, the platform's clients choose it like this
		AdvSecretKey:   secret,
	}
	device.SignedPreKey = device.IdentityKey.CreateSignedPreKey(1)
	return device
}

// equip gives a device its stores.
func (c *container) equip(device *store.Device, own *deviceKeys) {
	if c.observer.DatabaseFailed != nil {
		own.rows.failed.Store(&c.observer.DatabaseFailed)
	}
	device.SetAllStores(own)
	if c.observer.StateWanted != nil {
		device.AppState = guardedState{own, c.observer.StateWanted}
	}
	device.LIDs = &observedPeople{people: c.keys.people, learnt: c.observer.PairsLearnt}
	device.Container, device.Initialized = c, true
}

// PutDevice saves a device and returns after the commit. The first time the device is new.
func (c *container) PutDevice(ctx context.Context, device *store.Device) error {
	if device.ID == nil {
		return errors.New("keys: a device without a JID can't be saved")
	}
	encoded, err := writeDevice(device)
	if err != nil {
		return err
	}
	if own, ok := device.EventBuffer.(*deviceKeys); ok {
		own.rows.put(ctx, kindDevice, "", encoded)
		return own.rows.flush(ctx, nil)
	}
	jid := device.ID.String()
	number, err := c.keys.config.Store.AddDevice(ctx, jid, []gateway.DeviceKey{{Kind: kindDevice, Value: encoded}})
	if err != nil {
		return fmt.Errorf("keys: save device: %w", err)
	}
	own, err := c.keys.take(jid, c.instanceID, number)
	if err != nil {
		return err
	}
	c.equip(device, own)
	return nil
}

// ErrStay is what whatsmeow gets where it wants to delete linked keys by itself: it would
// empty the device while its own goroutines still read it. The owner of a session removes
// the keys when nothing reads them any more.
var ErrStay = errors.New("keys: the session's owner removes the keys")

// DeleteDevice removes a device whose pairing has failed.
func (c *container) DeleteDevice(ctx context.Context, device *store.Device) error {
	if c.linked || device.ID == nil {
		return ErrStay
	}
	return c.keys.Forget(ctx, device.ID.String())
}
