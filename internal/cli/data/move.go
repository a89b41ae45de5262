// The data move from SQLite to PostgreSQL.

package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
)

// MoveCommand moves a gateway's data into PostgreSQL.
type MoveCommand struct {
	From  string `help:"Folder of the data with the SQLite file. Its gateway must be stopped." name:"from-data" required:"" type:"path" env:"-"`
	To    string `help:"PostgreSQL database (postgres://…), without data of a gateway." name:"to-database-url" required:"" env:"-"`
	Media string `help:"Copy fetched files and those that wait to be sent into this folder, for a gateway with another --data. Without it they stay where they are." type:"path" env:"-" placeholder:"FOLDER"`

	FromMediaURL string `help:"Where files are kept, if not in the folder of the data: what serve was started with as --media-url." name:"from-media-url" env:"-" placeholder:"URL"`
	ToMediaURL   string `help:"Copy all files to this place, for a gateway with this --media-url. Without it they stay where they are." name:"to-media-url" env:"-" placeholder:"URL"`
}

// Run moves, and prints how many rows each table has.
func (c MoveCommand) Run(ctx context.Context, t terminal.Terminal) error {
	to, copyFiles, err := c.places()
	if err != nil {
		return err
	}
	from, into := server.StoreConfig(c.From, "", t.Logger), server.StoreConfig("", c.To, t.Logger)
	if !exists(from.Path) && !exists(c.From) {
		return fmt.Errorf("there is no folder %s", c.From)
	}
	if exists(filepath.Join(c.From, server.LegacyKeysFile)) {
		return fmt.Errorf("%s still has keys in a file of an earlier version: start the gateway on it once, and stop it again", c.From)
	}
	for _, config := range []store.Config{from, into} {
		release, err := movein.Take(ctx, config)
		if err != nil {
			return err
		}
		defer func() { _ = release() }() //nolint:gocritic // both are held to the end
	}
	// Before the database, so that the whole can be repeated if a file can't be copied.
	if copyFiles != nil {
		files, err := copyFiles(ctx)
		if err == nil {
			err = c.own(ctx, to)
		}
		if err != nil {
			return fmt.Errorf("nothing is moved, because a file could not be copied; call it again: %w", err)
		}
		t.Notef("copied %d files", files)
	}
	moved, err := copying.Move(ctx, from, into)
	if err != nil {
		return err
	}
	rows := make([][]string, len(moved))
	for i, table := range moved {
		rows[i] = []string{table.Table, strconv.FormatInt(table.Rows, 10)}
	}
	where := "the same --data and --media-url as before"
	switch {
	case c.ToMediaURL != "":
		where = "--media-url for the place that the files were copied to"
	case c.Media != "":
		where = "--data " + c.Media
	}
	t.Notef("everything is in PostgreSQL, compared row by row; start the gateway with --database-url and " + where + ". " +
		"The SQLite file has the name recado.db.moved now; delete it when you are content: it has the keys of all devices")
	return t.Table(moved, []string{"TABLE", "ROWS"}, rows)
}

// own writes the name of the owner into the storage that the files were copied to, if the database
// has one. Where it has none, the next start writes one into a storage that is shared.
func (c MoveCommand) own(ctx context.Context, to filestore.Location) error {
	if !exists(server.StoreConfig(c.From, "", nil).Path) {
		return nil // it was moved already, and copying.Move says so
	}
	owner, err := Location{Data: c.From}.filesOwner(ctx)
	if err != nil || owner == "" {
		return err
	}
	return to.Claim(ctx, filestore.Config{DataDir: c.Media, Owner: owner, New: true})
}

// places returns what copies the files, and where to; nil if they stay where they are.
func (c MoveCommand) places() (to filestore.Location, copyFiles func(ctx context.Context) (int, error), err error) {
	from, err := filestore.Parse(c.FromMediaURL)
	if err != nil {
		return to, nil, terminal.WrongUsage("--from-media-url %s", err)
	}
	to, err = filestore.Parse(c.ToMediaURL)
	switch {
	case err != nil:
		return to, nil, terminal.WrongUsage("--to-media-url %s", err)
	case c.Media != "" && (c.FromMediaURL != "" || c.ToMediaURL != ""):
		return to, nil, terminal.WrongUsage("--media copies from the folder of the data into another one; --from-media-url and --to-media-url are for other places")
	case c.Media != "":
		return to, func(ctx context.Context) (int, error) { return copying.CopyFiles(ctx, c.From, c.Media) }, nil
	case c.FromMediaURL != "" && c.ToMediaURL == "":
		return to, nil, terminal.WrongUsage("--from-media-url says where files are copied from, and needs --to-media-url; without both they stay where they are")
	case c.ToMediaURL == "":
		return to, nil, nil // nothing is to be copied
	}
	return to, func(ctx context.Context) (files int, err error) {
		source, err := from.Open(ctx, filestore.Config{DataDir: c.From})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, closeFiles(&source)) }()
		if err := os.MkdirAll(os.TempDir(), 0o700); err != nil { // in the image it is the gateway that makes it
			return 0, err
		}
		target, err := to.Open(ctx, filestore.Config{})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, closeFiles(&target)) }()
		return filestore.Copy(ctx, source, target)
	}, nil
}
