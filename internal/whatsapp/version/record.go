// What is kept of look-ups between starts.

package version

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// kindVersion and nameOfAll identify the row. It belongs to all devices.
const (
	kindVersion = "client version"
	nameOfAll   = ""
)

// record is the row's value.
type record struct {
	Found    string `json:"found,omitempty"`
	FoundAt  int64  `json:"foundAt,omitempty"` // Unix milliseconds
	Accepted string `json:"accepted,omitempty"`
}

// read reads what earlier processes have found.
func (k *Chooser) read(ctx context.Context) error {
	value, err := k.config.Store.FindDeviceKey(ctx, 0, kindVersion, nameOfAll)
	if err != nil {
		return fmt.Errorf("version: read what was found: %w", err)
	}
	if value == nil {
		return nil
	}
	var kept record
	if err := json.Unmarshal(value, &kept); err != nil {
		k.config.Logger.WarnContext(ctx, "what was found of the web client's version is of no use", slog.Any("error", err))
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if found, err := Parse(kept.Found); err == nil {
		k.found = finding{found, time.UnixMilli(kept.FoundAt)}
	}
	if accepted, err := Parse(kept.Accepted); err == nil {
		k.accepted = accepted
	}
	return nil
}

// write keeps what was found. If it fails, only the log says so: the version is claimed all
// the same, and looked up again after the next start.
func (k *Chooser) write(ctx context.Context) {
	if err := k.config.Store.WriteDeviceKeys(ctx, "", change{k}); err != nil && ctx.Err() == nil {
		k.config.Logger.WarnContext(ctx, "newest version of the web client not kept", slog.Any("error", err))
	}
}

// change is the row as it is now (gateway.DeviceKeyChanges).
type change struct{ keeper *Chooser }

// Rows returns the row.
func (c change) Rows() []gateway.DeviceKey {
	c.keeper.mu.Lock()
	defer c.keeper.mu.Unlock()
	var kept record
	if found := c.keeper.found; !found.version.IsZero() {
		kept.Found, kept.FoundAt = found.version.String(), found.at.UnixMilli()
	}
	if accepted := c.keeper.accepted; !accepted.IsZero() {
		kept.Accepted = accepted.String()
	}
	value, err := json.Marshal(kept)
	if err != nil {
		panic(err) // it has texts and a number
	}
	return []gateway.DeviceKey{{Kind: kindVersion, Name: nameOfAll, Value: value}}
}

// Written does nothing: what was written is in memory.
func (change) Written() {}
