// The keys of linked devices, as the connector has them kept.

package gateway

import "context"

// DeviceKey is one row of a device's keys: what the platform client has to remember of the
// device and of everybody that it talks to. Kind and name identify it within the device.
type DeviceKey struct {
	Device int64 // the device's number; 0 for what all devices share
	Kind   string
	Name   string
	Value  []byte // nil removes the row
	// IfAbsent leaves the row that exists as it is.
	IfAbsent bool
}

// DeviceKeyChanges are rows that have changed in memory and are not written yet.
type DeviceKeyChanges interface {
	// Rows returns the rows to write, as they are now. It is called within the transaction
	// that writes them; if that one is repeated, it is called again.
	Rows() []DeviceKey
	// Written says that what the last call of Rows returned is committed.
	Written()
}

type deviceKeysKey struct{}

// WithDeviceKeys returns a context whose call keeps something that was received, and
// writes the keys that the decryption has changed in the same transaction: neither of
// them is ever on the disk without the other.
func WithDeviceKeys(ctx context.Context, changes DeviceKeyChanges) context.Context {
	return context.WithValue(ctx, deviceKeysKey{}, changes)
}

// DeviceKeysOf returns the changes that belong to the call; nil if there are none.
func DeviceKeysOf(ctx context.Context) DeviceKeyChanges {
	changes, _ := ctx.Value(deviceKeysKey{}).(DeviceKeyChanges)
	return changes
}
