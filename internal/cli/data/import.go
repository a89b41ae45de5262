// Moving in from another gateway, and out again.

package data

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/movein"
)

// ImportCommand has a command for each kind of store that devices are taken over from.
type ImportCommand struct {
	Whatsmeow importWhatsmeowCommand `cmd:"" help:"Take over the devices of a program on whatsmeow: wuzapi, GOWA, evolution-go, mautrix-whatsapp and others. The gateway and that program must be stopped."`
	Evolution importEvolutionCommand `cmd:"" help:"Take over the devices of Evolution API, version 2 with PostgreSQL. The gateway and Evolution API must be stopped."`
	Baileys   importBaileysCommand   `cmd:"" help:"Take over the devices of a program on Baileys that keeps them in files. The gateway and that program must be stopped."`
}

type importWhatsmeowCommand struct {
	importFlags
	From string `arg:"" help:"The program's SQLite file, or its PostgreSQL database (postgres://…). It is read and never changed."`
}

// Run imports, and prints what became of each device.
func (c importWhatsmeowCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.move(ctx, t, movein.FromWhatsmeow, movein.Config{From: c.From})
}

type importBaileysCommand struct {
	importFlags
	From string `arg:"" help:"The folder with the program's creds.json, or a folder of such folders. It is read and never changed." type:"path"`
}

// Run imports, and prints what became of each device.
func (c importBaileysCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.move(ctx, t, movein.FromBaileys, movein.Config{From: c.From})
}

type importEvolutionCommand struct {
	importFlags
	From  string `arg:"" help:"Evolution API's PostgreSQL database: its DATABASE_CONNECTION_URI. It is read and never changed."`
	Keys  string `help:"Its folder instances, if it keeps keys in files." placeholder:"FOLDER" type:"path" required:"" xor:"keys" env:"-"`
	Redis string `help:"Its Redis server (redis://…), if it keeps keys there: its CACHE_REDIS_URI." placeholder:"URL" required:"" xor:"keys"`
}

// Run imports, and prints what became of each device.
func (c importEvolutionCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.move(ctx, t, movein.FromEvolution, movein.Config{From: c.From, Keys: c.Keys, Redis: c.Redis})
}

// importFlags are those of all imports.
type importFlags struct {
	AccountFlags
	DryRun        bool `help:"Only say what would come; nothing is written." env:"-"`
	SourceStopped bool `help:"The other program is stopped, whatever it looks like." name:"source-is-stopped" env:"-"`
}

// move imports what config says, and prints what became of each device.
func (f importFlags) move(ctx context.Context, t terminal.Terminal, from func(context.Context, movein.Config, func(movein.Result)) error, config movein.Config) error {
	all := []movein.Result{} // never null
	var rows [][]string
	left, head := 0, "INSTANCE"
	if f.DryRun {
		head = "STATE"
	}
	config.Stopped, config.DryRun = f.SourceStopped, f.DryRun
	data, err := f.store(ctx, t.Logger)
	if err != nil {
		return err
	}
	config.Data, config.Account, config.Logger, config.Now = data, f.AccountName(), t.Logger, t.Now
	err = from(ctx, config, func(result movein.Result) {
		if result.Problem != "" {
			left++
		}
		all = append(all, result)
		rows = append(rows, []string{result.Number, result.Name, strconv.Itoa(result.Sessions), strconv.Itoa(result.SenderKeys), result.State()})
	})
	if inUse, ok := errors.AsType[*movein.InUseError](err); ok {
		return fmt.Errorf("the other program seems to run: %s; stop it, or say --source-is-stopped if this is something else", inUse.Why)
	}
	if len(all) > 0 {
		err = errors.Join(err, t.Table(all, []string{"NUMBER", "NAME", "SESSIONS", "GROUP KEYS", head}, rows))
	}
	if err == nil && left > 0 {
		err = fmt.Errorf("%d of %d devices did not come: the list says why", left, len(all))
	}
	return err
}

// ExportCommand writes an instance as a store of whatsmeow.
type ExportCommand struct {
	AccountFlags
	Instance string `arg:"" help:"Name or id of the instance. It must be stopped, or the gateway."`
	File     string `arg:"" help:"SQLite file to make." type:"path"`
	Forget   bool   `help:"Remove the keys from the gateway's data afterwards. The gateway must be stopped." env:"-"`
}

// Run exports the instance, and says that it is stopped from now on.
func (c ExportCommand) Run(ctx context.Context, t terminal.Terminal, on accountData) error {
	id, err := ownInstance(ctx, on.store, on.account, c.Instance)
	if err != nil {
		return err
	}
	data, err := c.store(ctx, t.Logger)
	if err != nil {
		return err
	}
	instance, err := movein.Export(ctx, movein.ExportConfig{
		Data: data, Store: on.store, InstanceID: id, File: c.File, Forget: c.Forget, Now: t.Now,
	})
	if err != nil {
		return err
	}
	t.Notef("whoever has this file is linked to the account")
	if instance.Linked() {
		t.Notef("the instance is stopped: do not restart, log out or delete it, that breaks or ends the link of the program with this file; --forget makes it safe")
	}
	return t.Done(map[string]any{"instanceId": id, "file": c.File, "done": "exported"}, "exported %s to %s", id, c.File)
}
