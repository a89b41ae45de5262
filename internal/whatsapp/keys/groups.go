// The groups of an account, as they were listed last.

package keys

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/store"

	"github.com/recado-project/recado/internal/gateway"
)

const kindGroups = "groups"

// listed is the row of a list that is written at once (gateway.DeviceKeyChanges). It is never held
// in memory: it may be long, and no session reads it.
type listed struct{ row gateway.DeviceKey }

// Rows returns the row.
func (l listed) Rows() []gateway.DeviceKey { return []gateway.DeviceKey{l.row} }

// Written has nothing to note.
func (l listed) Written() {}

// KeepGroups keeps the list of the groups of a linked device in place of the one before; nil keeps
// none.
func KeepGroups(ctx context.Context, device *store.Device, list []byte) error {
	own, ok := device.EventBuffer.(*deviceKeys)
	if !ok {
		return nil // it is not linked any more
	}
	row := gateway.DeviceKey{Device: own.rows.device, Kind: kindGroups, Value: list}
	if err := own.rows.store.WriteDeviceKeys(ctx, own.rows.instanceID, listed{row}); err != nil {
		return fmt.Errorf("keys: keep groups: %w", err)
	}
	return nil
}

// Groups returns the list of groups that was kept last for a device, whether a session uses its keys
// or not; nil if there is none.
func (k *Keys) Groups(ctx context.Context, device string) ([]byte, error) {
	number, found, err := k.config.Store.FindDevice(ctx, device)
	if err != nil || !found {
		return nil, err
	}
	list, err := k.config.Store.FindDeviceKey(ctx, number, kindGroups, "")
	if err != nil {
		return nil, fmt.Errorf("keys: read groups: %w", err)
	}
	return list, nil
}
