// Keys of older versions of this program, which kept them in whatsmeow's own tables.

package keys

import (
	"context"
	"errors"
	"fmt"
)

// Import copies the keys of all devices from whatsmeow's tables, and returns how many
// devices it has copied. dialect is that of OpenForeign. A device that the store has
// already is left out: its keys have moved on since. A device is copied as a whole or not
// at all.
func Import(ctx context.Context, db Querier, dialect string, to Store) (int, error) {
	from, err := OpenForeign(ctx, db, dialect)
	if errors.Is(err, ErrNoTables) {
		return 0, nil // that version was stopped before it made them
	}
	if err != nil {
		return 0, err
	}
	devices, err := from.Devices(ctx)
	if err != nil {
		return 0, err
	}
	if err := CopyPairs(ctx, to, from.Pairs); err != nil {
		return 0, err
	}
	copied := 0
	for _, jid := range devices {
		device, err := from.Device(ctx, jid)
		if err != nil {
			return copied, err
		}
		_, known, err := to.FindDevice(ctx, device.Device)
		if err != nil {
			return copied, fmt.Errorf("keys: import: %w", err)
		}
		if known {
			continue
		}
		if _, err := to.AddDevice(ctx, device.Device, device.Rows); err != nil {
			return copied, fmt.Errorf("keys: import: %w", err)
		}
		copied++
	}
	return copied, nil
}
