// Package data has the commands that work on the gateway's data itself: API keys, users,
// what moves in and out, and migrations. They need no running gateway, and those that may
// run at the same time as one say so.
package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/readonly"
	"github.com/recado-project/recado/internal/store/vault"
)

// Location says where the data are.
type Location struct {
	Settings    string `help:"File of settings (YAML): the names of serve's flags without their dashes, one a line. A flag or a variable wins over it." name:"settings" type:"path" placeholder:"FILE"`
	Data        string `help:"Folder of the data: the database, fetched files, temporary files." default:"recado-data" type:"path"`
	DatabaseURL string `help:"PostgreSQL database (postgres://…) instead of SQLite files in the folder." name:"database-url" secret:""`
}

// config configures the store, without a master key.
func (p Location) config(logger *slog.Logger) store.Config {
	return server.StoreConfig(p.Data, p.DatabaseURL, logger)
}

// filesOwner returns the name of the owner of the file storage; empty if the database knows none.
func (p Location) filesOwner(ctx context.Context) (owner string, err error) {
	database, err := readonly.Open(ctx, p.config(nil).Path, p.DatabaseURL)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	return database.FilesOwner(ctx, p.DatabaseURL != "")
}

// missing is the error for a folder without data.
func (p Location) missing() error {
	if file := p.config(nil).Path; file != "" && !exists(file) {
		return fmt.Errorf("there is no gateway data in %s: choose its folder with --data", p.Data)
	}
	return nil
}

// Flags say where the data are, and what the secrets in them are sealed with.
type Flags struct {
	Location

	MasterKeyFile    string `help:"File with the master key: the secrets in the database are sealed with it. It must not be in the folder of the data." name:"master-key-file" type:"path" placeholder:"FILE"`
	MasterKeyCommand string `help:"Command that prints the master key, to have it from a key service." name:"master-key-command" placeholder:"COMMAND"`
	MasterKey        string `help:"The master key itself. Use the variable to keep it out of the process list." name:"master-key" placeholder:"KEY" secret:""`
}

// MasterSource says where the master key is.
func (f Flags) MasterSource() seal.Source {
	return seal.Source{File: f.MasterKeyFile, Command: f.MasterKeyCommand, Text: f.MasterKey}
}

// Master reads the master key; nil if there is none.
func (f Flags) Master(ctx context.Context) (*seal.Key, error) { return f.MasterSource().Read(ctx) }

// Given are the flags with which another command finds the same data, from whatever folder it is called. Secrets are
// three dots, and unless whole is set, so are all other values.
func (f Flags) Given(whole bool) []string {
	var given []string
	add := func(flag, value string) {
		if !whole {
			value = hidden
		}
		given = append(given, flag, terminal.Quoted(value))
	}
	if f.Settings != "" {
		add("--settings", f.Settings)
	}
	switch {
	case f.DatabaseURL == "":
		add("--data", f.Data)
	case f.Settings == "":
		add("--database-url", hidden)
	}
	switch {
	case f.MasterKeyFile != "":
		add("--master-key-file", f.MasterKeyFile)
	case f.MasterKeyCommand != "":
		add("--master-key-command", f.MasterKeyCommand)
	case f.MasterKey != "" && f.Settings == "":
		add("--master-key", hidden)
	}
	return given
}

// hidden stands for a value that is not shown.
const hidden = "…"

// store configures the store, with the master key.
func (f Flags) store(ctx context.Context, logger *slog.Logger) (store.Config, error) {
	config := f.config(logger)
	var err error
	config.Master, err = f.Master(ctx)
	return config, err
}

// open opens the store. Unlike a gateway it does not begin to seal plain secrets, because a gateway without a
// master key may work with them.
func (f Flags) open(ctx context.Context, logger *slog.Logger) (*store.Store, error) {
	config, err := f.store(ctx, logger)
	if err != nil {
		return nil, err
	}
	plain := config
	plain.Master = nil
	opened, err := store.Open(ctx, plain)
	if errors.Is(err, vault.ErrSealed) && config.Master != nil {
		return store.Open(ctx, config)
	}
	return opened, err
}

// openExisting opens data that are there already.
func (f Flags) openExisting(ctx context.Context, t terminal.Terminal) (*store.Store, error) {
	if err := f.missing(); err != nil {
		return nil, err
	}
	return f.open(ctx, t.Logger)
}

// AccountFlags names the account of the keys.
type AccountFlags struct {
	Flags
	Account string `help:"Account of the keys and instances. Without it: demo in a folder of dev, default in any other."`
}

// Given is that of Flags, and the account.
func (f AccountFlags) Given(whole bool) []string {
	given := f.Flags.Given(whole)
	if f.Account != "" {
		given = append(given, "--account", terminal.Quoted(f.Account))
	}
	return given
}

// AccountName is the name of the account.
func (f AccountFlags) AccountName() string {
	switch {
	case f.Account != "":
		return f.Account
	case f.DatabaseURL == "" && exists(filepath.Join(f.Data, demo.File)):
		return demo.Account
	default:
		return "default"
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// accountData is an account that a command works on, and the store that it is in.
type accountData struct {
	store   *store.Store
	account gateway.Account
}

// ProvideAccount opens an existing database and finds the account in it. It creates neither. Kong calls it for a Run
// method that takes an accountData.
func (f AccountFlags) ProvideAccount(ctx context.Context, t terminal.Terminal, closers *Closers) (accountData, error) {
	opened, err := f.openExisting(ctx, t)
	if err != nil {
		return accountData{}, err
	}
	closers.add(opened)
	account, found, err := opened.FindAccount(ctx, f.AccountName())
	if err == nil && !found {
		err = fmt.Errorf("there is no account %s in this data: choose another with --account", f.AccountName())
	}
	return accountData{opened, account}, err
}

// Closers close what a command has opened, when it is over.
type Closers struct{ all []io.Closer }

func (c *Closers) add(one io.Closer) { c.all = append(c.all, one) }

// Close closes everything.
func (c *Closers) Close() error {
	var err error
	for _, one := range c.all {
		err = errors.Join(err, one.Close())
	}
	return err
}

// itemsAtOnce is how many keys, users or instances are read at a time.
const itemsAtOnce = 100

// every yields the items of all pages of a list.
func every[T any](list func(gateway.PageRequest) (gateway.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for number := 1; ; number++ {
			page, err := list(gateway.PageRequest{Page: number, Limit: itemsAtOnce})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if number*itemsAtOnce >= page.Total {
				return
			}
		}
	}
}
