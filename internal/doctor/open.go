// What most checks need: the database, and the master key that opens its secrets.

package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/store/readonly"
	"github.com/recado-project/recado/internal/store/vault"
)

// errHangs is the error of a database that does not answer.
var errHangs = errors.New("there was no answer in time")

// opened is what was opened, or why not.
type opened struct {
	database *readonly.Database // nil if it can't be opened
	opening  error              // why not; nil as well if there are no data yet
	version  int                // of the tables; 0: there are none

	master  *seal.Key
	reading error // of the master key

	vault   *vault.Vault // nil if the secrets can't be opened
	sealing readonly.Sealing
	sealed  error // why not

	nodes []gateway.Node
}

// open opens the database and reads the master key. It abandons what hangs.
func (e *examination) open(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	ready := make(chan opened, 1)
	go func() { ready <- e.tryOpen(ctx) }()
	late := time.NewTimer(e.patience + grace)
	defer late.Stop()
	select {
	case e.opened = <-ready:
	case <-late.C:
		e.opened = opened{opening: errHangs, reading: errHangs}
	}
}

func (e *examination) tryOpen(ctx context.Context) (o opened) {
	var reading sync.WaitGroup
	reading.Go(func() { o.master, o.reading = e.config.Master.Read(ctx) })
	database, version, err := e.openDatabase(ctx)
	reading.Wait()
	o.database, o.version, o.opening = database, version, err
	if database == nil || version == 0 {
		return o
	}
	if o.reading == nil {
		o.vault, o.sealing, o.sealed = database.Vault(ctx, o.master, e.config.Now)
	}
	if e.isPostgres() {
		o.nodes, _ = database.Nodes(ctx) // an earlier version has none
	}
	return o
}

func (e *examination) openDatabase(ctx context.Context) (*readonly.Database, int, error) {
	path := server.StoreConfig(e.config.Server.DataDir, "", nil).Path
	if !e.isPostgres() {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, 0, nil
		}
	} else if err := claim.CheckDirect(ctx, e.config.Server.DatabaseURL); err != nil {
		return nil, 0, err
	}
	database, err := readonly.Open(ctx, path, e.config.Server.DatabaseURL)
	if err != nil {
		return nil, 0, err
	}
	version, err := database.Version(ctx, e.isPostgres())
	if err != nil {
		return nil, 0, errors.Join(err, database.Close())
	}
	return database, version, nil
}

func (e *examination) isPostgres() bool { return e.config.Server.DatabaseURL != "" }

// masterKey says whether the secrets can be opened.
func (e *examination) masterKey(context.Context) []Finding {
	const name = "master key"
	if e.reading != nil {
		return []Finding{wrong(name, "name the file, the variable or the command that has the key; the gateway does not start without it", "it can't be read: %s", e.reading)}
	}
	findings := e.keyFile()
	switch {
	case errors.Is(e.sealed, vault.ErrSealed):
		return append(findings, wrong(name, "give the master key by --master-key-file, --master-key-command or RECADO_MASTER_KEY",
			"the secrets in the database are sealed, and there is no master key"))
	case errors.Is(e.sealed, vault.ErrWrongKey):
		return append(findings, wrong(name, "give the key that they were sealed with; after `recado master-key rotate` that is the new one",
			"the secrets in the database are sealed with another master key"))
	case e.sealed != nil && e.version < sealedSince:
		return append(findings, ok(name, "the tables are those of an earlier version, which sealed nothing"))
	case e.sealed != nil:
		return append(findings, wrong(name, "look at the database", "the data keys can't be read: %s", e.sealed))
	case e.vault == nil && e.master == nil:
		return append(findings, ok(name, "there is none"))
	case e.vault == nil:
		return append(findings, ok(name, "there is one; whether it fits can't be seen without the database"))
	case e.sealing.Generation == 0 && e.master == nil:
		return append(findings, ok(name, "there is none: the secrets in the database are plain, and whoever has a copy of it has the keys of all devices"))
	case e.sealing.Generation == 0:
		return append(findings, warning(name, "start the gateway with it: it seals them while it works", "there is one, but the secrets in the database are still plain"))
	case !e.sealing.Complete:
		return append(findings, warning(name, "let the gateway run until `recado master-key status` says that it is done",
			"it fits, but not everything is sealed with the newest data key yet"))
	}
	return append(findings, ok(name, "it fits"))
}

// sealedSince is the version of the tables that has data keys.
const sealedSince = 12

// othersMay are the permissions of other users of the machine.
const othersMay = 0o077

// keyFile checks where the file of the master key is, and who may read it.
func (e *examination) keyFile() []Finding {
	const name = "master key file"
	file := e.config.Master.File
	if file == "" {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil // it was read, and is gone
	}
	var findings []Finding
	if info.Mode().Perm()&othersMay != 0 && info.Mode().IsRegular() {
		findings = append(findings, warning(name, "chmod 600 "+file, "other users of this machine may use %s: its mode is %04o", file, info.Mode().Perm()))
	}
	if isBelow(file, e.config.Server.DataDir) {
		findings = append(findings, warning(name, "move it elsewhere, to a disk that is in no backup of the data",
			"%s is in the data folder: whoever copies that has the key as well", file))
	}
	return findings
}

// isBelow reports whether a path leads into a folder.
func isBelow(path, folder string) bool {
	whole := func(path string) string {
		if led, err := filepath.EvalSymlinks(path); err == nil {
			path = led
		}
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute
		}
		return path
	}
	below, err := filepath.Rel(whole(folder), whole(path))
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
}
