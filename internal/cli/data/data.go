// Package data has the commands that work on the gateway's data itself: API keys, users,
// what moves in and out, and migrations. They need no running gateway, and those that may
// run beside one say so.
package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
)

// Flags names the place of the data.
type Flags struct {
	Data        string `help:"Folder of the data: the database, fetched files, temporary files." default:"recado-data" type:"path"`
	DatabaseURL string `help:"PostgreSQL database (postgres://…) instead of SQLite files in the folder." name:"database-url"`
}

func (f Flags) store(logger *slog.Logger) store.Config {
	return server.StoreConfig(f.Data, f.DatabaseURL, logger)
}

// AccountFlags names the account of the keys.
type AccountFlags struct {
	Flags
	Account string `help:"Account of the keys and instances. Without it: demo in a folder of dev, default in any other."`
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

// databaseFile is the file of the data; empty with PostgreSQL.
func (f AccountFlags) databaseFile() string {
	return f.store(nil).Path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// openExisting opens an existing database and finds the account in it. It creates
// neither.
func (f AccountFlags) openExisting(ctx context.Context, t terminal.Terminal) (*store.Store, gateway.Account, error) {
	if file := f.databaseFile(); file != "" && !exists(file) {
		return nil, gateway.Account{}, fmt.Errorf("there is no gateway data in %s: choose its folder with --data", f.Data)
	}
	opened, err := store.Open(ctx, f.store(t.Logger))
	if err != nil {
		return nil, gateway.Account{}, err
	}
	account, found, err := opened.FindAccount(ctx, f.AccountName())
	if err == nil && !found {
		err = fmt.Errorf("there is no account %s in this data: choose another with --account", f.AccountName())
	}
	if err != nil {
		return nil, gateway.Account{}, errors.Join(err, opened.Close())
	}
	return opened, account, nil
}
