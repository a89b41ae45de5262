// An instance becomes a device of another program.

package movein

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// ExportConfig says what is exported. All fields are required but Forget.
type ExportConfig struct {
	Data       store.Config
	Store      *store.Store // open on Data
	InstanceID string
	File       string // that is made
	Now        func() time.Time
	// Forget removes the keys from the data afterwards: the instance is then unlinked, and nothing
	// that is done to it reaches the device. No gateway may run.
	Forget bool
}

// Export writes the keys of an instance into a new SQLite file, as a store of whatsmeow that only its owner
// can read, and stops the instance: two programs with the same keys break each other's conversations. While
// a gateway works with the data, Export refuses an instance that is not stopped. It returns the instance as
// it is afterwards.
func Export(ctx context.Context, config ExportConfig) (instance gateway.Instance, err error) {
	release, err := Take(ctx, config.Data)
	running := errors.Is(err, ErrGatewayRuns)
	if err != nil && !running {
		return gateway.Instance{}, err
	}
	if !running {
		defer func() { err = errors.Join(err, release()) }()
	}
	instance, err = config.Store.GetInstance(ctx, config.InstanceID)
	if err != nil {
		return instance, err
	}
	switch {
	case running && config.Forget:
		return instance, ErrGatewayRuns
	case !instance.Linked():
		return instance, fmt.Errorf("the instance %s is not linked: there is nothing to export", instance.Name)
	case running && instance.Status != gateway.StatusManuallyStopped:
		return instance, fmt.Errorf("a gateway runs on this data, and the instance %s may be in use: "+
			"stop the instance (recado instances stop) or the gateway first", instance.Name)
	}
	if err := writeFile(ctx, config, instance.Device); err != nil {
		return instance, err
	}
	if running {
		return instance, nil
	}
	device := instance.Device
	instance, err = config.Store.UpdateInstance(ctx, instance.ID, func(changed *gateway.Instance) ([]eventlog.Event, error) {
		before := changed.Status
		if config.Forget {
			changed.Device, changed.Profile = "", gateway.Profile{}
		}
		changed.Status, changed.Reason = gateway.StatusManuallyStopped, gateway.ReasonStopped
		changed.UpdatedAt = config.Now().UTC()
		if changed.Status == before {
			return nil, nil
		}
		event, err := eventlog.NewEvent(changed.ID, "", "", changed.UpdatedAt, eventlog.NewInstanceStatus(*changed, before))
		return []eventlog.Event{event}, err
	})
	if err == nil && config.Forget {
		err = config.Store.Devices.RemoveDevice(ctx, device)
	}
	return instance, err
}

// writeFile writes the file, whole or not at all.
func writeFile(ctx context.Context, config ExportConfig, device string) (err error) {
	if _, err := os.Lstat(config.File); err == nil {
		return fmt.Errorf("%s exists already: name a new file", config.File)
	}
	folder, err := os.MkdirTemp(filepath.Dir(config.File), ".recado-export-")
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	part := filepath.Join(folder, "store.db")
	db, err := sqlite.OpenPool(ctx, part, 1)
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	err = keys.Export(ctx, config.Store.Devices, device, db)
	if err == nil {
		// The other program chooses how it writes; a file without a log can be moved.
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, config.File); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}
