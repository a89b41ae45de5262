// The master key: made, changed, and given up.

package data

import (
	"context"
	"errors"
	"fmt"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/seal"
)

// MasterKeyCommand works on the data itself, and on the keys that they are sealed with.
type MasterKeyCommand struct {
	New    newMasterKeyCommand    `cmd:"" help:"Print a new master key. Keep it where the data and their backups are not."`
	Status masterKeyStatusCommand `cmd:"" help:"Say whether the secrets in the database are sealed. Needs the master key."`
	Rotate rotateMasterKeyCommand `cmd:"" help:"Change the master key, or seal everything anew. Gateways may run; they need the new key at their next start."`
	Remove removeMasterKeyCommand `cmd:"" help:"Make the secrets plain again, so that no master key is needed. The gateway must be stopped."`
}

type newMasterKeyCommand struct{}

// Run prints a key.
func (newMasterKeyCommand) Run(t terminal.Terminal) error {
	key := seal.NewKey().Text()
	t.Notef("without this key nobody can use the data that are sealed with it, nor their backups: keep it safe, and elsewhere")
	return t.Print(map[string]string{"masterKey": key}, key)
}

type masterKeyStatusCommand struct {
	Flags
}

// Run prints how far the sealing is.
func (c masterKeyStatusCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	opened, err := c.openExisting(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	state, err := opened.Vault().State(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("sealed, with data key %d", state.Generation)
	switch {
	case state.Generation == 0:
		text = "plain"
	case !state.Complete:
		text = fmt.Sprintf("being sealed with data key %d; a running gateway goes on with it", state.Generation)
	}
	return t.Print(state, text)
}

type rotateMasterKeyCommand struct {
	Flags
	NewFile    string `help:"File with the new master key." name:"new-master-key-file" type:"path" placeholder:"FILE"`
	NewCommand string `help:"Command that prints the new master key." name:"new-master-key-command" placeholder:"COMMAND"`
	New        string `help:"The new master key itself. Use the variable to keep it out of the process list." name:"new-master-key" placeholder:"KEY"`
	Reseal     bool   `help:"Also seal every secret anew, with a new data key: if the old master key and a copy of the database may be in wrong hands." env:"-"`
}

// Run changes what is asked for.
func (c rotateMasterKeyCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	next, err := seal.Source{File: c.NewFile, Command: c.NewCommand, Text: c.New}.Read(ctx)
	if err != nil {
		return err
	}
	if next == nil && !c.Reseal {
		return terminal.WrongUsage("nothing is to be changed: name the new master key (--new-master-key-file, --new-master-key-command or RECADO_NEW_MASTER_KEY), or pass --reseal")
	}
	alone, release, err := c.tryTake(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if next != nil && c.Reseal && !alone {
		return fmt.Errorf("a gateway runs, and could not read what is sealed anew under another master key: "+
			"stop it, or change one thing at a time and restart it in between (%w)", movein.ErrGatewayRuns)
	}
	opened, err := c.openExisting(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	done := map[string]any{"done": "rotated"}
	if next != nil {
		if err := opened.Vault().Rewrap(ctx, next); err != nil {
			return err
		}
		t.Notef("the new master key opens the database, and the old one no more: start gateways with the new one from now on")
	}
	if !c.Reseal {
		return t.Done(done, "changed the master key")
	}
	if err := opened.Vault().Renew(ctx, alone); err != nil {
		return err
	}
	values, err := opened.Vault().Reseal(ctx)
	if err != nil {
		return fmt.Errorf("%w; the next start of the gateway goes on with it", err)
	}
	done["resealed"] = values
	return t.Done(done, "sealed %d secrets anew", values)
}

// tryTake excludes gateways until release is called, unless one runs already.
func (f Flags) tryTake(ctx context.Context, t terminal.Terminal) (alone bool, release func() error, err error) {
	if err := f.missing(); err != nil { // before the lock makes the folder
		return false, nil, err
	}
	release, err = movein.Take(ctx, f.config(t.Logger))
	if errors.Is(err, movein.ErrGatewayRuns) {
		return false, func() error { return nil }, nil
	}
	return err == nil, release, err
}

type removeMasterKeyCommand struct {
	Flags
}

// Run makes the secrets plain.
func (c removeMasterKeyCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	if err := c.missing(); err != nil {
		return err
	}
	config, err := c.store(ctx, t.Logger)
	if err != nil {
		return err
	}
	release, err := movein.Take(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	opened, err := c.openExisting(ctx, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	values, err := opened.Vault().Remove(ctx)
	return t.Unless(err).Done(map[string]any{"done": "removed", "values": values},
		"made %d secrets plain; start the gateway without a master key", values)
}
