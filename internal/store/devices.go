// The tables of linked devices and of their keys, whose values are sealed.

package store

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

const (
	putDeviceKey = "INSERT INTO device_keys (device, kind, name, value, value_seal) VALUES ($1, $2, $3, $4, $5) " +
		"ON CONFLICT (device, kind, name) DO UPDATE SET value = excluded.value, value_seal = excluded.value_seal"

	addDeviceKey = "INSERT INTO device_keys (device, kind, name, value, value_seal) VALUES ($1, $2, $3, $4, $5) " +
		"ON CONFLICT (device, kind, name) DO NOTHING"

	removeDeviceKey = "DELETE FROM device_keys WHERE device = $1 AND kind = $2 AND name = $3"

	findDeviceKey = "SELECT value, value_seal FROM device_keys WHERE device = $1 AND kind = $2 AND name = $3"

	findDeviceKeys = "SELECT name, value, value_seal FROM device_keys WHERE device = $2 AND kind = $3 AND name IN "

	// No name has a character behind the last one, so it ends every range of names.
	listDeviceKeys = "SELECT name, value, value_seal FROM device_keys WHERE device = $1 AND kind = $2 AND name >= $3 AND name < $4 ORDER BY name"

	endOfNames = "\U0010FFFF"
)

// Devices are the tables in one database. They are safe for concurrent use.
type Devices struct {
	db    *instanceDatabase
	vault *vault.Vault
}

// FindDevice returns the number of the device that a JID names, and reports whether there
// is one.
func (d *Devices) FindDevice(ctx context.Context, jid string) (number int64, found bool, err error) {
	number, found, err = table.Find(ctx, d.db.Reader(), table.Value[int64], "SELECT number FROM devices WHERE jid = $1 AND number > 0", jid)
	table.Wrap(&err, "find device")
	return number, found, err
}

// AddDevice adds a device with its first rows, whose device it sets, and returns its
// number. What there was under the same JID is removed.
func (d *Devices) AddDevice(ctx context.Context, jid string, rows []gateway.DeviceKey) (number int64, err error) {
	err = d.db.WriteHere(ctx, func(ctx context.Context, q table.Querier) error {
		if _, err := q.ExecContext(ctx, "DELETE FROM devices WHERE jid = $1 AND number > 0", jid); err != nil {
			return err
		}
		if err := q.QueryRowContext(ctx, "INSERT INTO devices (jid) VALUES ($1) RETURNING number", jid).Scan(&number); err != nil {
			return err
		}
		for _, row := range rows {
			row.Device = number
			if err := d.writeDeviceKey(ctx, q, row); err != nil {
				return err
			}
		}
		return nil
	})
	table.Wrap(&err, "add device")
	return number, err
}

// RemoveDevice removes a device and all its rows. A device that does not exist is no
// error.
func (d *Devices) RemoveDevice(ctx context.Context, jid string) (err error) {
	defer table.Wrap(&err, "remove device")
	_, err = d.db.ExecHere(ctx, "DELETE FROM devices WHERE jid = $1 AND number > 0", jid)
	return err
}

// FindDeviceKey returns the value of a row of a device's keys; nil if there is no such row.
func (d *Devices) FindDeviceKey(ctx context.Context, device int64, kind, name string) ([]byte, error) {
	value, _, err := table.Find(ctx, d.db.Reader(), func(row table.Scanner) ([]byte, error) {
		value, err := d.vault.Scan(ctx, vault.DeviceKey(device, kind, name), row)
		return table.NotNull(value), err // an empty value is not a missing one
	}, findDeviceKey, device, kind, name)
	table.Wrap(&err, "find key")
	return value, err
}

// FindDeviceKeys returns the values of those of the named rows of a kind that there are, by name.
func (d *Devices) FindDeviceKeys(ctx context.Context, device int64, kind string, names []string) (map[string][]byte, error) {
	values := make(map[string][]byte, len(names))
	if len(names) == 0 {
		return values, nil
	}
	rows, err := table.Collect(ctx, d.db.Scanner(), d.scanKeys(ctx, device, kind), findDeviceKeys+d.db.In(1), table.Texts(names), device, kind)
	if err != nil {
		return nil, fmt.Errorf("store: find keys: %w", err)
	}
	for _, row := range rows {
		values[row.Name] = table.NotNull(row.Value)
	}
	return values, nil
}

// ListDeviceKeys returns the rows of one kind whose names begin with prefix, ordered by name.
func (d *Devices) ListDeviceKeys(ctx context.Context, device int64, kind, prefix string) (_ []gateway.DeviceKey, err error) {
	defer table.Wrap(&err, "list keys")
	return table.Collect(ctx, d.db.Scanner(), d.scanKeys(ctx, device, kind), listDeviceKeys, device, kind, prefix, prefix+endOfNames)
}

func (d *Devices) scanKeys(ctx context.Context, device int64, kind string) func(row table.Scanner) (gateway.DeviceKey, error) {
	return func(row table.Scanner) (gateway.DeviceKey, error) {
		found := gateway.DeviceKey{Device: device, Kind: kind}
		var seal int64
		err := row.Scan(&found.Name, &found.Value, &seal)
		if err == nil && seal != 0 {
			found.Value, err = d.vault.Open(ctx, vault.DeviceKey(device, kind, found.Name), found.Value, seal)
		}
		return found, err
	}
}

// WriteDeviceKeys writes changes of the keys that an instance uses, or of those that all
// devices share if there is no instance, in order with everything
// else that is written of the instance, and returns after the commit. What was begun
// before for the same instance is committed then too.
func (d *Devices) WriteDeviceKeys(ctx context.Context, instanceID string, changes gateway.DeviceKeyChanges) (err error) {
	defer table.Wrap(&err, "write keys")
	return d.db.Begin(ctx, instanceID, func(ctx context.Context, q table.Querier) error {
		return d.writeDeviceKeysIn(ctx, q, instanceID, changes)
	}, changes.Written).Wait()
}

// writeDeviceKeysIn writes changes as part of a transaction, which checks the tenure of the instance.
func (d *Devices) writeDeviceKeysIn(ctx context.Context, q table.Querier, instanceID string, changes gateway.DeviceKeyChanges) error {
	for _, row := range changes.Rows() {
		if instanceID == nobody && row.Device != 0 {
			return fmt.Errorf("a key of the device %d is not shared", row.Device)
		}
		if err := d.writeDeviceKey(ctx, q, row); err != nil {
			return err
		}
	}
	return nil
}

func (d *Devices) writeDeviceKey(ctx context.Context, q table.Querier, row gateway.DeviceKey) error {
	if row.Value == nil {
		_, err := q.ExecContext(ctx, removeDeviceKey, row.Device, row.Kind, row.Name)
		return err
	}
	put := putDeviceKey
	if row.IfAbsent {
		put = addDeviceKey
	}
	value, seal := d.vault.Seal(vault.DeviceKey(row.Device, row.Kind, row.Name), row.Value)
	_, err := q.ExecContext(ctx, put, row.Device, row.Kind, row.Name, value, seal)
	return err
}
