// The data move from SQLite to PostgreSQL.

package data

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
)

// MoveCommand moves a gateway's data into PostgreSQL.
type MoveCommand struct {
	From  string `help:"Folder of the data with the SQLite file. Its gateway must be stopped." name:"from-data" required:"" type:"path" env:"-"`
	To    string `help:"PostgreSQL database (postgres://…), without data of a gateway." name:"to-database-url" required:"" env:"-"`
	Media string `help:"Copy fetched files and those that wait to be sent into this folder, for a gateway with another --data. Without it they stay where they are." type:"path" env:"-" placeholder:"FOLDER"`
}

// Run moves, and prints how many rows each table has.
func (c MoveCommand) Run(ctx context.Context, t terminal.Terminal) error {
	from, to := server.StoreConfig(c.From, "", t.Logger), server.StoreConfig("", c.To, t.Logger)
	if !exists(from.Path) && !exists(c.From) {
		return fmt.Errorf("there is no folder %s", c.From)
	}
	if exists(filepath.Join(c.From, server.EarlierKeysFile)) {
		return fmt.Errorf("%s still has keys in a file of an earlier version: start the gateway on it once, and stop it again", c.From)
	}
	for _, config := range []store.Config{from, to} {
		release, err := movein.Take(ctx, config)
		if err != nil {
			return err
		}
		defer func() { _ = release() }() //nolint:gocritic // both are held to the end
	}
	moved, err := copying.Move(ctx, from, to)
	if err != nil {
		return err
	}
	if c.Media != "" {
		files, err := copying.CopyFiles(ctx, c.From, c.Media)
		if err != nil {
			return fmt.Errorf("the database is moved, but not all files: %w", err)
		}
		t.Notef("copied %d files", files)
	}
	rows := make([][]string, len(moved))
	for i, table := range moved {
		rows[i] = []string{table.Table, strconv.FormatInt(table.Rows, 10)}
	}
	t.Notef("everything is in PostgreSQL, compared row by row; start the gateway with --database-url and the same --data. " +
		"The SQLite file has the name recado.db.moved now; delete it when you are content: it has the keys of all devices")
	return t.Table(moved, []string{"TABLE", "ROWS"}, rows)
}
