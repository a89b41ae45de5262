// Keys from before they were kept in the store.

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/whatsapp"
)

// LegacyKeysFile is the file in the data folder that earlier versions kept the keys of
// linked devices in. A start moves them into the database.
const LegacyKeysFile = "sessions.db"

// importKeys moves the keys that an earlier version of this program has kept in tables of
// whatsmeow's into the store: from a file of their own, which is removed, or from the same
// PostgreSQL database, whose tables are emptied. If it is interrupted, the next start goes
// on with it.
func (s *Server) importKeys(ctx context.Context) (failed error) {
	path := filepath.Join(s.config.DataDir, LegacyKeysFile)
	if s.config.DatabaseURL == "" {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	config := s.storeConfig()
	var old *store.OldKeys
	var err error
	if config.URL == "" {
		old, err = store.OpenOldKeysFile(ctx, path)
	} else {
		old, err = store.OpenOldKeysDatabase(ctx, config.URL, s.config.Logger)
	}
	if err != nil {
		return fmt.Errorf("server: open the keys of an earlier version: %w", err)
	}
	if old == nil {
		return nil
	}
	kept := s.store
	if config.URL != "" {
		if s.config.Cluster.Advertise != "" {
			return errors.Join(errors.New("server: this database has keys that an earlier version kept: start one process alone once, without --advertise, which moves them"), old.Close())
		}
		// No instance has an owner yet: this store does not ask for tenures.
		if kept, err = store.Open(ctx, config); err != nil {
			return errors.Join(fmt.Errorf("server: %w", err), old.Close())
		}
		defer func() { failed = errors.Join(failed, kept.Close()) }()
	}
	devices, err := whatsapp.ImportKeys(ctx, old.DB, old.Dialect, kept.Devices)
	if err == nil && config.URL != "" { // a file is removed
		err = old.Empty(ctx)
	}
	if err := errors.Join(err, old.Close()); err != nil {
		return fmt.Errorf("server: import the keys of an earlier version: %w", err)
	}
	s.config.Logger.InfoContext(ctx, "keys of linked devices moved into the database", slog.Int("devices", devices))
	if config.URL != "" {
		return nil
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // the file itself last
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("server: remove the keys of an earlier version: %w", err)
		}
	}
	return nil
}
