package platform

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

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sqlite"
)

// maxDevice is the highest device number that an encoded JID can carry.
const maxDevice = 255

// device is a linked device of an account: a real client.
type device struct {
	account      *account
	id           uint16
	noise        [32]byte
	identity     [32]byte
	keyIndex     int
	bootstrapped atomic.Bool

	// conn is the connection that is logged in, nil while there is none.
	conn atomic.Pointer[connection]
}

// jid is the device's address by LID, the form in which everything is routed.
func (d *device) jid() types.JID {
	jid := d.account.lidJID()
	jid.Device = d.id
	return jid
}

// ref names the device in the database.
func (d *device) ref() string { return deviceRef(d.account.lid, d.id) }

// deviceRef names a device; device 0 is the phone.
func deviceRef(lid string, id uint16) string { return lid + ":" + strconv.Itoa(int(id)) }

// parseDeviceRef is the inverse of deviceRef.
func parseDeviceRef(ref string) (lid string, id uint16, ok bool) {
	lid, digits, found := strings.Cut(ref, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	return lid, uint16(n), found && err == nil
}

// signalAddress is the name of a device in Signal sessions.
func signalAddress(lid string, id uint16) signal.Address {
	return signal.Address{User: types.NewJID(lid, types.HiddenUserServer).SignalAddressUser(), Device: uint32(id)}
}

func sortedDevices(devices map[uint16]*device) []*device {
	return slices.SortedFunc(maps.Values(devices), func(a, b *device) int { return cmp.Compare(a.id, b.id) })
}

// loadDevices fills the account's linked devices.
func loadDevices(ctx context.Context, db *sqlite.DB, of *account) (err error) {
	rows, err := db.Reader().QueryContext(ctx,
		"SELECT device, noise, identity, key_index, bootstrapped FROM devices WHERE number = $1", of.number)
	if err != nil {
		return fmt.Errorf("platform: load devices: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		loaded := &device{account: of}
		var noiseKey, identity []byte
		var bootstrapped bool
		if err := rows.Scan(&loaded.id, &noiseKey, &identity, &loaded.keyIndex, &bootstrapped); err != nil {
			return fmt.Errorf("platform: load devices: %w", err)
		}
		copy(loaded.noise[:], noiseKey)
		copy(loaded.identity[:], identity)
		loaded.bootstrapped.Store(bootstrapped)
		of.devices[loaded.id] = loaded
	}
	return rows.Err()
}

// freeDevice chooses the number of a new device: the next one that was not used
// before, and after the last one the lowest that is free.
func freeDevice(next int, used map[uint16]*device) (uint16, bool) {
	for range maxDevice {
		if next < 1 || next > maxDevice {
			next = 1
		}
		if _, taken := used[uint16(next)]; !taken {
			return uint16(next), true
		}
		next++
	}
	return 0, false
}
