// The devices of an account, and how they are named.

package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// MaxDevice is the highest device number that an encoded JID can carry.
const MaxDevice = 255

// Device is a linked device of an account, which is a real client.
type Device struct {
	Account      *Account
	ID           uint16      // the number of the device, from 1 on
	Noise        [32]byte    // the key with which it logs in
	Identity     [32]byte    // its Signal identity
	KeyIndex     int         // its index in the identity that the account has signed
	Name, Kind   string      // what the phone shows of it
	Bootstrapped atomic.Bool // the phone sends it, or has sent it, what a new device needs

	// Conn is the connection of the device, nil while it is not connected.
	Conn atomic.Pointer[wire.Connection]
}

// JID is the device's address by LID. Everything is routed by this form.
func (d *Device) JID() types.JID {
	jid := d.Account.LIDJID()
	jid.Device = d.ID
	return jid
}

// Ref is the device's name in the database.
func (d *Device) Ref() string { return DeviceRef(d.Account.LID, d.ID) }

// DeviceRef is the name of a device in the database. Device 0 is the phone.
func DeviceRef(lid string, id uint16) string { return lid + ":" + strconv.Itoa(int(id)) }

// ParseDeviceRef is the inverse of DeviceRef.
func ParseDeviceRef(ref string) (lid string, id uint16, ok bool) {
	lid, digits, found := strings.Cut(ref, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	return lid, uint16(n), found && err == nil
}

// SignalAddress is the name of a device in Signal sessions.
func SignalAddress(lid string, id uint16) signal.Address {
	return signal.Address{User: types.NewJID(lid, types.HiddenUserServer).SignalAddressUser(), Device: uint32(id)}
}

func sortedDevices(devices map[uint16]*Device) []*Device {
	return slices.SortedFunc(maps.Values(devices), func(a, b *Device) int { return cmp.Compare(a.ID, b.ID) })
}

// loadDevices loads the account's linked devices.
func loadDevices(ctx context.Context, db *sqlite.DB, of *Account) (err error) {
	rows, err := db.Reader().QueryContext(ctx,
		"SELECT device, noise, identity, key_index, bootstrapped, name, kind FROM devices WHERE number = $1", of.Number)
	if err != nil {
		return fmt.Errorf("account: load devices: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		loaded := &Device{Account: of}
		var noiseKey, identity []byte
		var bootstrapped bool
		if err := rows.Scan(&loaded.ID, &noiseKey, &identity, &loaded.KeyIndex, &bootstrapped, &loaded.Name, &loaded.Kind); err != nil {
			return fmt.Errorf("account: load devices: %w", err)
		}
		copy(loaded.Noise[:], noiseKey)
		copy(loaded.Identity[:], identity)
		loaded.Bootstrapped.Store(bootstrapped)
		of.devices[loaded.ID] = loaded
	}
	return rows.Err()
}

// freeDevice returns the number of a new device: next, or the first free number
// after it. After the highest number it begins again at 1.
func freeDevice(next int, used map[uint16]*Device) (uint16, bool) {
	for range MaxDevice {
		if next < 1 || next > MaxDevice {
			next = 1
		}
		if _, taken := used[uint16(next)]; !taken {
			return uint16(next), true
		}
		next++
	}
	return 0, false
}

// Companions returns the linked devices, in order of their numbers.
func (a *Account) Companions() []*Device {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return sortedDevices(a.devices)
}

// Companion returns the linked device with the number, nil if there is none.
func (a *Account) Companion(id uint16) *Device {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.devices[id]
}

// FreeDevice returns the number of the account's next device. It returns false if
// all numbers are taken.
func (a *Account) FreeDevice(next int) (uint16, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return freeDevice(next, a.devices)
}

// AddDevice adds a linked device.
func (a *Account) AddDevice(linked *Device) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.devices[linked.ID] = linked
}

// RemoveDevices removes those linked devices that the account still has.
func (a *Account) RemoveDevices(removed []*Device) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, linked := range removed {
		if a.devices[linked.ID] == linked {
			delete(a.devices, linked.ID)
		}
	}
}

// wake lets the device's connection, if there is one, look into the outbox.
func (d *Device) wake() {
	if c := d.Conn.Load(); c != nil {
		c.Wake()
	}
}

// Cut ends the device's connection, if there is one, without a last node.
func (d *Device) Cut() {
	if c := d.Conn.Load(); c != nil {
		c.Cut()
	}
}

// CloseAfter ends the device's connection, if there is one, after a last node.
func (d *Device) CloseAfter(last waBinary.Node) {
	if c := d.Conn.Load(); c != nil {
		c.CloseAfter(last)
	}
}

// Offer sends a stanza if the device is connected and active. It may be lost.
func (d *Device) Offer(n waBinary.Node) {
	if c := d.Conn.Load(); c != nil && c.IsActive() {
		c.Offer(n)
	}
}
