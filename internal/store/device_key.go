// The tables of linked devices and of their keys.

package store

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	putDeviceKey = "INSERT INTO device_keys (device, kind, name, value) VALUES ($1, $2, $3, $4) " +
		"ON CONFLICT (device, kind, name) DO UPDATE SET value = excluded.value"

	addDeviceKey = "INSERT INTO device_keys (device, kind, name, value) VALUES ($1, $2, $3, $4) " +
		"ON CONFLICT (device, kind, name) DO NOTHING"

	removeDeviceKey = "DELETE FROM device_keys WHERE device = $1 AND kind = $2 AND name = $3"

	findDeviceKey = "SELECT value FROM device_keys WHERE device = $1 AND kind = $2 AND name = $3"

	// No name has a character behind the last one, so it ends every range of names.
	listDeviceKeys = "SELECT name, value FROM device_keys WHERE device = $1 AND kind = $2 AND name >= $3 AND name < $4 ORDER BY name"

	endOfNames = "\U0010FFFF"
)

// FindDevice returns the number of the device that a JID names, and reports whether there
// is one.
func (s *Store) FindDevice(ctx context.Context, jid string) (number int64, found bool, err error) {
	number, found, err = table.Find(ctx, s.db.reader(), table.ScanNumber, "SELECT number FROM devices WHERE jid = $1 AND number > 0", jid)
	if err != nil {
		return 0, false, fmt.Errorf("store: find device: %w", err)
	}
	return number, found, nil
}

// AddDevice adds a device with its first rows, whose device it sets, and returns its
// number. What there was under the same JID is removed.
func (s *Store) AddDevice(ctx context.Context, jid string, rows []gateway.DeviceKey) (number int64, err error) {
	err = s.writeOf(ctx, gateway.TenureOf(ctx).InstanceID, func(ctx context.Context, q table.Querier) error {
		if _, err := q.ExecContext(ctx, "DELETE FROM devices WHERE jid = $1 AND number > 0", jid); err != nil {
			return err
		}
		if err := q.QueryRowContext(ctx, "INSERT INTO devices (jid) VALUES ($1) RETURNING number", jid).Scan(&number); err != nil {
			return err
		}
		for _, row := range rows {
			row.Device = number
			if err := writeDeviceKey(ctx, q, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("store: add device: %w", err)
	}
	return number, nil
}

// RemoveDevice removes a device and all its rows. A device that does not exist is no
// error.
func (s *Store) RemoveDevice(ctx context.Context, jid string) error {
	if _, err := s.execHere(ctx, "DELETE FROM devices WHERE jid = $1 AND number > 0", jid); err != nil {
		return fmt.Errorf("store: remove device: %w", err)
	}
	return nil
}

// FindDeviceKey returns the value of a row of a device's keys; nil if there is no such row.
func (s *Store) FindDeviceKey(ctx context.Context, device int64, kind, name string) ([]byte, error) {
	value, _, err := table.Find(ctx, s.db.reader(), scanBytes, findDeviceKey, device, kind, name)
	if err != nil {
		return nil, fmt.Errorf("store: find key: %w", err)
	}
	return value, nil
}

// ListDeviceKeys returns the rows of one kind whose names begin with prefix, ordered by name.
func (s *Store) ListDeviceKeys(ctx context.Context, device int64, kind, prefix string) ([]gateway.DeviceKey, error) {
	rows, err := table.Collect(ctx, s.db.scanner(), func(row table.Scanner) (gateway.DeviceKey, error) {
		found := gateway.DeviceKey{Device: device, Kind: kind}
		err := row.Scan(&found.Name, &found.Value)
		return found, err
	}, listDeviceKeys, device, kind, prefix, prefix+endOfNames)
	if err != nil {
		return nil, fmt.Errorf("store: list keys: %w", err)
	}
	return rows, nil
}

// WriteDeviceKeys writes changes of the keys that an instance uses, or of those that all
// devices share if there is no instance, in order with everything
// else that is written of the instance, and returns after the commit. What was begun
// before for the same instance is committed then too.
func (s *Store) WriteDeviceKeys(ctx context.Context, instanceID string, changes gateway.DeviceKeyChanges) error {
	err := s.db.begin(ctx, instanceID, func(ctx context.Context, q table.Querier) error {
		if instanceID == nobody {
			return writeSharedKeys(ctx, q, changes)
		}
		return writeDeviceKeys(ctx, q, changes)
	}, changes.Written).Wait()
	if err != nil {
		return fmt.Errorf("store: write keys: %w", err)
	}
	return nil
}

// writeSharedKeys writes changes of the keys that all devices share.
func writeSharedKeys(ctx context.Context, q table.Querier, changes gateway.DeviceKeyChanges) error {
	for _, row := range changes.Rows() {
		if row.Device != 0 {
			return fmt.Errorf("a key of the device %d is not shared", row.Device)
		}
		if err := writeDeviceKey(ctx, q, row); err != nil {
			return err
		}
	}
	return nil
}

// writeDeviceKeys writes changes as part of a transaction.
func writeDeviceKeys(ctx context.Context, q table.Querier, changes gateway.DeviceKeyChanges) error {
	for _, row := range changes.Rows() {
		if err := writeDeviceKey(ctx, q, row); err != nil {
			return err
		}
	}
	return nil
}

func writeDeviceKey(ctx context.Context, q table.Querier, row gateway.DeviceKey) error {
	if row.Value == nil {
		_, err := q.ExecContext(ctx, removeDeviceKey, row.Device, row.Kind, row.Name)
		return err
	}
	put := putDeviceKey
	if row.IfAbsent {
		put = addDeviceKey
	}
	_, err := q.ExecContext(ctx, put, row.Device, row.Kind, row.Name, row.Value)
	return err
}

func scanBytes(row table.Scanner) ([]byte, error) {
	var value []byte
	err := row.Scan(&value)
	return table.NotNull(value), err // an empty value is not a missing one
}
